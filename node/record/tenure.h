// Tenure: the time that one life of a P-slave served in a run, and what its log must hold of it.
//
// Of every view in which it has a copy of a shard, as owner or as backup, a P-slave logs every update, since
// all shards commit the same. What was committed in a view is what the ledger grew by from its cut to the
// next one's; both stand in the Master's journal, written before anybody went on. So the journal alone says
// what each log must tell: exactly that, or, when the P-slave died and the end of its log with it, the
// beginning of that.
//
// Values and pure functions; any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "messages/base/ids.h"
#include "messages/base/interval_set.h"
#include "node/record/evidence.h"

namespace convoy::record {

struct Tenure {
  enum class End {
    kStayed,    // served until everything was trained
    kLeft,      // gracefully: its log was complete
    kLost,      // died: the end of its log may be missing
    kCutShort,  // the run itself ended, or was rolled back, before: the same
    kNever,     // was in no view
  };

  End end = End::kNever;
  std::uint32_t history = 0;  // nobody outlives a roll-back
  View from;                  // that took it in
  std::optional<View> until;  // the first that is without it
  // A view in which it had a copy.
  struct Stretch {
    // In the last view of a history, when nothing tells: whatever was free.
    IntervalSet committed;
    std::map<MemberKey, Clock> members;  // where they began
  };
  std::vector<Stretch> stretches;

  bool must_be_complete() const { return end == End::kStayed || end == End::kLeft; }
};

// Positions of the run are [0, end_position).
std::map<ServerKey, Tenure> tenures(const Evidence& evidence, std::int64_t end_position);

struct LogGap {
  IntervalSet missing;  // committed while it served, and not in its log
  IntervalSet foreign;  // in its log, and not committed while it served
};
LogGap hold_against(const Tenure& tenure, const IntervalSet& logged);
// Also a log that breaks off is whole before: in its last view it tells of each member's updates from the
// first on. One that it leaves out, if any.
std::optional<std::pair<MemberKey, Clock>> left_out(const Tenure& tenure,
                                                    const std::vector<CommitLogEntry>& log);

// "from v1.1 until it was lost, before v1.4".
std::string describe(const Tenure& tenure);
// For JSON: "stayed", "left", "lost", "cut short", "never".
std::string to_string(Tenure::End end);

}  // namespace convoy::record
