// CommitLogStore: the P-slaves' logs of what was trained, as they sent them; `convoy verify` holds them
// against the data set.
//
// One SQLite file (commits.sqlite, table `entries`, readable with the sqlite3 tool). Each append is one
// transaction and survives the end of the process; only a power cut can take the last of them. Owns its
// database; one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "messages/base/result.h"
#include "messages/messages.h"

namespace convoy::record {

class Database;

using CommitLogs = std::map<ServerId, std::vector<CommitLogEntry>>;

// Index = value, content = number of updates; each update counts once, with the largest value that any
// P-slave logged for it.
struct CommitHistograms {
  std::vector<std::int64_t> staleness;
  std::vector<std::int64_t> delay;
};

class CommitLogStore {
 public:
  static Result<CommitLogStore> open(const std::string& path);
  // For reading only: an error when there is no such file.
  static Result<CommitLogStore> open_existing(const std::string& path);
  ~CommitLogStore();
  CommitLogStore(CommitLogStore&&) noexcept;
  CommitLogStore& operator=(CommitLogStore&&) noexcept;

  // The next entries of this P-slave's log, in order.
  Result<void> append(ServerId server, std::span<const CommitLogEntry> entries);

  Result<CommitLogs> read_all();
  Result<CommitHistograms> histograms();

 private:
  explicit CommitLogStore(std::unique_ptr<Database> database);
  std::unique_ptr<Database> database_;
};

}  // namespace convoy::record
