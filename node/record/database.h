// A thin owner of one SQLite database, its statements and its error texts. Internal to node/record.
//
// One thread at a time. A Statement must not outlive its Database. Errors are kIo (kCorrupt when the file is
// no database of ours) and read "<path>: cannot <what>: <text of SQLite>".
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "messages/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace convoy::record {

class Statement {
 public:
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) noexcept;
  ~Statement();

  // Parameters count from 1, columns from 0, as SQLite has it.
  Statement& bind(int parameter, std::int64_t value);
  Statement& bind(int parameter, double value);
  Statement& bind(int parameter, std::string_view text);
  Statement& bind(int parameter, std::span<const std::byte> blob);

  // True: there is a row. After false or an error the statement can be bound and stepped again.
  Result<bool> step();
  // For statements without rows.
  Result<void> run();

  std::int64_t integer(int column) const;
  double real(int column) const;  // NULL, which is how SQLite keeps NaN, gives NaN
  std::string text(int column) const;
  std::vector<std::byte> blob(int column) const;

 private:
  friend class Database;
  Statement(sqlite3_stmt* statement, const std::string* path, std::string what)
      : statement_(statement), path_(path), what_(std::move(what)) {}
  sqlite3_stmt* statement_ = nullptr;
  const std::string* path_;  // the database's
  std::string what_;
};

class Database {
 public:
  enum class Durability {
    kPowerCut,  // a transaction is on the disk when it returns
    kProcess,   // survives the end of the process
  };

  // Makes the file when there is none; `schema` runs on an empty one. `kind` marks the file, so that another
  // program's database, or another file of ours, is refused.
  static Result<std::unique_ptr<Database>> open(const std::string& path, Durability durability,
                                                std::int32_t kind, std::string_view schema);
  // For reading only.
  static Result<std::unique_ptr<Database>> open_existing(const std::string& path, std::int32_t kind);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // `what` finishes "cannot ..." in errors.
  Result<void> run(const std::string& sql, std::string_view what);
  Result<Statement> prepare(const std::string& sql, std::string_view what);

  // All or nothing; rolled back unless commit() returned ok.
  class Transaction {
   public:
    explicit Transaction(Database& database) : database_(database) {}
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    Result<void> begin();
    Result<void> commit();

   private:
    Database& database_;
    bool open_ = false;
  };

  const std::string& path() const { return path_; }
  Error corrupt(const std::string& what) const;

 private:
  Database(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}
  Result<std::int64_t> number(const std::string& sql, std::string_view what);
  Result<void> check_kind(std::int32_t kind);

  const std::string path_;
  sqlite3* handle_;
};

}  // namespace convoy::record
