#include "node/record/database.h"

#include <sqlite3.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <utility>

#include "messages/base/check.h"

namespace convoy::record {
namespace {

constexpr int kBusyTimeout_ms = 5000;

Error failure(const std::string& path, std::string_view what, sqlite3* handle) {
  const int code = handle != nullptr ? sqlite3_errcode(handle) : SQLITE_NOMEM;
  const bool corrupt = code == SQLITE_NOTADB || code == SQLITE_CORRUPT;
  return {corrupt ? ErrorCode::kCorrupt : ErrorCode::kIo,
          path + ": cannot " + std::string(what) + ": " +
              (handle != nullptr ? sqlite3_errmsg(handle) : "out of memory")};
}

}  // namespace

// ---- Statement

Statement::Statement(Statement&& other) noexcept
    : statement_(std::exchange(other.statement_, nullptr)),
      path_(other.path_),
      what_(std::move(other.what_)) {}

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(statement_, other.statement_);
  std::swap(path_, other.path_);
  std::swap(what_, other.what_);
  return *this;
}

Statement::~Statement() {
  sqlite3_finalize(statement_);
}

Statement& Statement::bind(int parameter, std::int64_t value) {
  CONVOY_CHECK(sqlite3_bind_int64(statement_, parameter, value) == SQLITE_OK, what_, parameter);
  return *this;
}

Statement& Statement::bind(int parameter, double value) {
  CONVOY_CHECK(sqlite3_bind_double(statement_, parameter, value) == SQLITE_OK, what_, parameter);
  return *this;
}

Statement& Statement::bind(int parameter, std::string_view text) {
  CONVOY_CHECK(sqlite3_bind_text64(statement_, parameter, text.data(), text.size(), SQLITE_TRANSIENT,
                                   SQLITE_UTF8) == SQLITE_OK,
               what_, parameter);
  return *this;
}

Statement& Statement::bind(int parameter, std::span<const std::byte> blob) {
  CONVOY_CHECK(
      sqlite3_bind_blob64(statement_, parameter, blob.data(), blob.size(), SQLITE_TRANSIENT) == SQLITE_OK,
      what_, parameter);
  return *this;
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    sqlite3_reset(statement_);
    return false;
  }
  Error error = failure(*path_, what_, sqlite3_db_handle(statement_));
  sqlite3_reset(statement_);
  return error;
}

Result<void> Statement::run() {
  auto stepped = step();
  if (!stepped) return stepped.error();
  CONVOY_CHECK(!*stepped, "a row where none is expected: ", what_);
  return {};
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

double Statement::real(int column) const {
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::numeric_limits<double>::quiet_NaN();
  return sqlite3_column_double(statement_, column);
}

std::string Statement::text(int column) const {
  const unsigned char* data = sqlite3_column_text(statement_, column);
  if (data == nullptr) return {};
  return {reinterpret_cast<const char*>(data),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::vector<std::byte> Statement::blob(int column) const {
  const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(statement_, column));
  if (data == nullptr) return {};
  return {data, data + sqlite3_column_bytes(statement_, column)};
}

// ---- Database

Result<std::unique_ptr<Database>> Database::open(const std::string& path, Durability durability,
                                                 std::int32_t kind, std::string_view schema) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  std::unique_ptr<Database> database(new Database(path, handle));
  if (code != SQLITE_OK) return failure(path, "open the database", handle);
  sqlite3_busy_timeout(handle, kBusyTimeout_ms);
  auto tables = database->number("SELECT count(*) FROM sqlite_master", "read the database");
  if (!tables) return tables.error();
  if (*tables > 0) {
    if (auto checked = database->check_kind(kind); !checked) return checked.error();
  }
  const std::string level = durability == Durability::kPowerCut ? "FULL" : "NORMAL";
  // Rows are written once and in order; what SQLite sorts by at the end of a long run need not be in memory.
  auto set =
      database->run("PRAGMA journal_mode = WAL; PRAGMA cache_size = -256; PRAGMA synchronous = " + level,
                    "set up the database");
  if (!set) return set.error();
  if (*tables == 0) {
    Transaction transaction(*database);
    if (auto begun = transaction.begin(); !begun) return begun.error();
    auto made = database->run("PRAGMA application_id = " + std::to_string(kind) + "; " + std::string(schema),
                              "set up the database");
    if (!made) return made.error();
    if (auto committed = transaction.commit(); !committed) return committed.error();
  }
  return database;
}

Result<std::unique_ptr<Database>> Database::open_existing(const std::string& path, std::int32_t kind) {
  if (::access(path.c_str(), F_OK) != 0) return Error{ErrorCode::kIo, path + ": there is no such file"};
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
  std::unique_ptr<Database> database(new Database(path, handle));
  if (code != SQLITE_OK) return failure(path, "open the database", handle);
  sqlite3_busy_timeout(handle, kBusyTimeout_ms);
  if (auto checked = database->check_kind(kind); !checked) return checked.error();
  return database;
}

Database::~Database() {
  sqlite3_close_v2(handle_);
}

Result<void> Database::run(const std::string& sql, std::string_view what) {
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return failure(path_, what, handle_);
  return {};
}

Result<Statement> Database::prepare(const std::string& sql, std::string_view what) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(handle_, sql.c_str(), static_cast<int>(sql.size()), &statement, nullptr) !=
      SQLITE_OK) {
    return failure(path_, what, handle_);
  }
  return Statement(statement, &path_, std::string(what));
}

Error Database::corrupt(const std::string& what) const {
  return {ErrorCode::kCorrupt, path_ + ": " + what};
}

Result<std::int64_t> Database::number(const std::string& sql, std::string_view what) {
  auto statement = prepare(sql, what);
  if (!statement) return statement.error();
  auto row = statement->step();
  if (!row) return row.error();
  CONVOY_CHECK(*row, sql);
  return statement->integer(0);
}

Result<void> Database::check_kind(std::int32_t kind) {
  auto found = number("PRAGMA application_id", "read the database");
  if (!found) return found.error();
  if (*found != kind) return corrupt("is a database, but not one that Convoy wrote here");
  return {};
}

Database::Transaction::~Transaction() {
  if (open_) sqlite3_exec(database_.handle_, "ROLLBACK", nullptr, nullptr, nullptr);
}

Result<void> Database::Transaction::begin() {
  auto begun = database_.run("BEGIN IMMEDIATE", "begin a transaction");
  open_ = begun.ok();
  return begun;
}

Result<void> Database::Transaction::commit() {
  auto committed = database_.run("COMMIT", "commit");
  if (committed) open_ = false;
  return committed;
}

}  // namespace convoy::record
