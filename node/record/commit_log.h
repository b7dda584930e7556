// CommitLogStore: the P-slaves' logs of what was trained, as they sent them, and how each life of a P-slave
// ended; `convoy verify` holds them against the data set.
//
// One SQLite file (commits.sqlite, tables `entries` and `ends`, readable with the sqlite3 tool). Each write
// is one transaction and survives the end of the process; only a power cut can take the last of them. Owns
// its database; one thread at a time.
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

// A P-slave that comes back is empty and logs from then on: each life has a log of its own.
using CommitLogs = std::map<ServerKey, std::vector<CommitLogEntry>>;

enum class ServerEnd {
  kLeft,  // gracefully
  kLost,
};
using ServerEnds = std::map<ServerKey, ServerEnd>;

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

  // The next entries of this life's log, in order.
  Result<void> append(ServerKey server, std::span<const CommitLogEntry> entries);
  Result<void> record_end(ServerKey server, ServerEnd end);

  Result<CommitLogs> read_all();
  // How many entries of each log are written down: where a Master that comes back takes it up.
  Result<std::map<ServerKey, std::uint64_t>> counts();
  Result<ServerEnds> read_ends();
  Result<CommitHistograms> histograms();

 private:
  explicit CommitLogStore(std::unique_ptr<Database> database);
  std::unique_ptr<Database> database_;
};

}  // namespace convoy::record
