#include "node/record/update_count.h"

#include <algorithm>

namespace convoy::record {
namespace {

// False when it was there before.
bool note(IntervalSet& clocks, Clock clock) {
  const std::int64_t before = clocks.size();
  clocks.insert(Interval{clock.value, clock.value + 1});
  return clocks.size() > before;
}

}  // namespace

bool UpdateCount::add(ServerKey by, const CommitLogEntry& entry) {
  Log& log = logs_[by];
  if (!note(log.told[entry.member], entry.clock)) log.repeated += entry.trained.size();
  if (!note(told_[entry.member], entry.clock)) return false;
  const std::int64_t before = positions_.size();
  positions_.insert(entry.trained);
  again_ += entry.trained.size() - (positions_.size() - before);
  return true;
}

std::int64_t UpdateCount::lost(std::int64_t end_position) const {
  return positions_.complement({0, end_position}).size();
}

std::int64_t UpdateCount::duplicated() const {
  std::int64_t repeated = 0;
  for (const auto& [server, log] : logs_) repeated = std::max(repeated, log.repeated);
  return again_ + repeated;
}

}  // namespace convoy::record
