// The delay gate: how far a member may run ahead of the slowest.
//
// bsp, dsp(s), asp: a pull for clock c is let through when c - c_min <= s, s = 0, s, infinity (stale
// synchronous parallel, Ho et al. 2013). dynamic(low, high): up to `low` at once; above it and up to `high`
// only the P-slave that decides (the owner of chunk 0) holds back, and lets each member through once per
// value of c_min, so that a fast member may use the whole bound while the slow one moves, yet never runs to
// the bound and then sleeps for long.
//
// A value; one per P-slave, used by its role only. Clocks are those that count in c_min: replicated commits,
// or closed clocks in bsp.
#pragma once

#include <map>

#include "messages/base/ids.h"
#include "messages/sync_options.h"

namespace convoy {

class DelayGate {
 public:
  // `decides`: this P-slave owns chunk 0.
  void configure(const SyncOptions& options, bool decides);

  // Membership of a view; `floor` is what c_min is when there are no members. Forgets extra grants.
  void reset(Clock floor);
  void set(MemberId member, Clock clock);

  Clock c_min() const { return c_min_; }

  // May `member` start `clock` now? Pure; a clock that was granted before stays granted (the caller
  // remembers).
  bool open(MemberId member, Clock clock) const;
  // Tells the gate that it was let through, so that `dynamic` counts it.
  void granted(MemberId member, Clock clock);

 private:
  SyncOptions options_;
  bool decides_ = true;
  Clock floor_;
  Clock c_min_;
  std::map<MemberId, Clock> clocks_;
  std::map<MemberId, Clock> extra_at_;  // dynamic: c_min at which the member had its extra grant
};

}  // namespace convoy
