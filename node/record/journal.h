// Journal: what a Master must know again after a restart - its run, its terms, the active views. One SQLite
// file; whatever a call returned ok for survives a power cut (WAL, synchronous = FULL).
//
// Owns its database; one thread at a time, and not one that answers heartbeats: every write waits for the
// disk.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/role.h"
#include "messages/base/ids.h"
#include "messages/base/result.h"

namespace convoy::record {

class Database;

class Journal {
 public:
  // A view with its ledger and its nodes.
  using Active = convoy::Journal;

  // Makes the file, with a run id drawn at random, when there is none.
  static Result<Journal> open(const std::string& path);
  // For reading only: an error when there is no such file.
  static Result<Journal> open_existing(const std::string& path);
  ~Journal();
  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;

  RunId run() const { return run_; }
  // The highest term so far + 1, durable: to be called before the first message of a Master.
  Result<std::uint32_t> begin_term();
  // Durable when it returns: answer Journaled then. REQUIRES: a later view than the last one recorded.
  Result<void> record_active(const Active& active);
  Result<std::optional<Active>> last_active();
  // Every view that was ever active, in order.
  Result<std::vector<Active>> all_active();
  Result<std::int64_t> active_count();

 private:
  static Result<Journal> read_run(std::unique_ptr<Database> database);
  Journal(std::unique_ptr<Database> database, RunId run);
  std::unique_ptr<Database> database_;
  RunId run_;
};

}  // namespace convoy::record
