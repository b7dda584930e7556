#include "actors/delay_gate.h"

#include <algorithm>

namespace convoy {

void DelayGate::configure(const SyncOptions& options, bool decides) {
  options_ = options;
  decides_ = decides;
}

void DelayGate::reset(Clock floor) {
  floor_ = c_min_ = floor;
  clocks_.clear();
  extra_at_.clear();
}

void DelayGate::set(MemberId member, Clock clock) {
  const auto [at, is_new] = clocks_.try_emplace(member, clock);
  const bool was_least = !is_new && at->second == c_min_;
  at->second = clock;
  if (is_new) {
    c_min_ = clocks_.size() == 1 ? clock : std::min(c_min_, clock);
  } else if (was_least) {
    // The only way for c_min to rise; the rest of the time there is nothing to look for.
    c_min_ = std::min_element(clocks_.begin(), clocks_.end(), [](const auto& a, const auto& b) {
               return a.second < b.second;
             })->second;
  }
}

bool DelayGate::open(MemberId member, Clock clock) const {
  const std::int64_t ahead = clock - c_min_;
  if (ahead > options_.bound) return false;
  if (options_.mode != SyncMode::kDynamic || !decides_ || ahead <= options_.bound_low) return true;
  const auto extra = extra_at_.find(member);
  return extra == extra_at_.end() || extra->second < c_min_;
}

void DelayGate::granted(MemberId member, Clock clock) {
  if (options_.mode == SyncMode::kDynamic && clock - c_min_ > options_.bound_low) extra_at_[member] = c_min_;
}

}  // namespace convoy
