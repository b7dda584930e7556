// UpdateCount: which updates and positions the P-slaves' logs have told of so far, as they come in. Every
// P-slave logs every update while it serves, so each counts once, whoever tells of it first.
//
// It keeps intervals of clocks and positions, not the updates: small however long a run is. Whether all who
// tell of an update say the same is `convoy verify`'s to find. One thread at a time. Internal to node/record.
#pragma once

#include <cstdint>
#include <map>

#include "messages/base/ids.h"
#include "messages/base/interval_set.h"
#include "messages/messages.h"

namespace convoy::record {

class UpdateCount {
 public:
  // True: nobody told of this update before.
  bool add(ServerKey by, const CommitLogEntry& entry);

  // The run goes on from here: what was told beyond is void.
  void go_back(const IntervalSet& ledger) { positions_ = ledger; }

  std::int64_t lost(std::int64_t end_position) const;
  // Positions that came again: with another update, or with the same twice in one log.
  std::int64_t duplicated() const;

 private:
  using Told = std::map<MemberKey, IntervalSet>;  // clocks
  struct Log {
    Told told;
    std::int64_t repeated = 0;  // positions
  };
  std::map<ServerKey, Log> logs_;
  Told told_;
  IntervalSet positions_;
  std::int64_t again_ = 0;
};

}  // namespace convoy::record
