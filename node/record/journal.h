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

#include "messages/base/ids.h"
#include "messages/base/interval_set.h"
#include "messages/base/result.h"
#include "messages/view_record.h"

namespace convoy::record {

class Database;

class Journal {
 public:
  struct Active {
    ViewRecord record;
    IntervalSet ledger;
  };

  // Makes the file, with a run id drawn at random, when there is none.
  static Result<Journal> open(const std::string& path);
  ~Journal();
  Journal(Journal&&) noexcept;
  Journal& operator=(Journal&&) noexcept;

  RunId run() const { return run_; }
  // The highest term so far + 1, durable: to be called before the first message of a Master.
  Result<std::uint32_t> begin_term();
  // Durable when it returns: answer Journaled then. REQUIRES: a later view than the last one recorded.
  Result<void> record_active(const ViewRecord& record, const IntervalSet& ledger);
  Result<std::optional<Active>> last_active();
  Result<std::int64_t> active_count();

 private:
  Journal(std::unique_ptr<Database> database, RunId run);
  std::unique_ptr<Database> database_;
  RunId run_;
};

}  // namespace convoy::record
