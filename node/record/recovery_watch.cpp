#include "node/record/recovery_watch.h"

#include <algorithm>
#include <utility>

namespace convoy::record {

namespace {

// A node that was alive when it was injected with something was last heard a few life signs before.
constexpr Duration kBetweenSigns = std::chrono::seconds(2);

}  // namespace

void RecoveryWatch::lost(Time now, Duration silent_for, const std::string& name, std::string what) {
  Open open{{std::move(what), seconds(silent_for), 0}, false};
  const auto injected = injections_.find(name);
  if (injected != injections_.end()) {
    if (now - injected->second <= silent_for + kBetweenSigns)
      open.recovery.detect_s = seconds(now - injected->second);
    injections_.erase(injected);
  }
  // The others may have stood still for a while already.
  for (std::size_t i = 1; i < commits_.size(); ++i) {
    if (commits_[i] < now - silent_for) continue;
    open.recovery.stall_s = std::max(open.recovery.stall_s, seconds(commits_[i] - commits_[i - 1]));
  }
  open_.push_back(std::move(open));
}

void RecoveryWatch::view_changed() {
  for (Open& r : open_) r.view_changed = true;
}

void RecoveryWatch::committed(Time now) {
  close(now, false);
  // However fast they come: two gaps that nobody would call a stall count as one.
  constexpr Duration kNoStall = std::chrono::milliseconds(10);
  if (commits_.size() >= 2 && now - commits_[commits_.size() - 2] < kNoStall)
    commits_.back() = now;
  else
    commits_.push_back(now);
  while (commits_.size() > 2 && now - commits_.front() > std::chrono::minutes(2)) commits_.pop_front();
}

void RecoveryWatch::close(Time now, bool at_end) {
  if (open_.empty()) return;
  const double gap = commits_.empty() ? 0 : seconds(now - commits_.back());
  for (Open& r : open_) r.recovery.stall_s = std::max(r.recovery.stall_s, gap);
  std::erase_if(open_, [&](Open& r) {
    if (r.view_changed || at_end) recoveries_.push_back(std::move(r.recovery));
    return r.view_changed || at_end;
  });
}

}  // namespace convoy::record
