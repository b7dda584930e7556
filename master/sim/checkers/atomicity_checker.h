// Invariant 3: every (member, incarnation, clock) is applied at most once on each shard, in order, and at
// every Go on all shards or none: the copies then know the same updates, and the integers amount to exactly
// the ledger.
#pragma once

#include <map>

#include "master/sim/engine.h"

namespace convoy::sim {

class AtomicityChecker : public Watcher {
 public:
  explicit AtomicityChecker(const Engine& engine) : engine_(engine) {}
  const char* name() const override { return "atomicity"; }

  void on_effect(Time now, PeerId peer, const Effect& effect) override;

 private:
  void compare_all(const ViewRecord& record);

  const Engine& engine_;
  // Next clock of each member at the P-slave's copies, owned (true) and backup, since the last active view.
  std::map<std::pair<PeerId, bool>, std::map<MemberKey, Clock>> applied_;
};

}  // namespace convoy::sim
