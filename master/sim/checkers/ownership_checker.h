// Invariant 8: in every active view each chunk has exactly one owner, the bytes of any two P-slaves differ by
// at most one chunk, and with backups each shard has one at another P-slave as soon as there are two. An
// unchanged set of P-slaves keeps its shards: nothing moves without need.
#pragma once

#include <optional>

#include "master/sim/engine.h"

namespace convoy::sim {

class OwnershipChecker : public Watcher {
 public:
  explicit OwnershipChecker(const Engine& engine) : engine_(engine) {}
  const char* name() const override { return "ownership"; }

  void on_effect(Time now, PeerId peer, const Effect& effect) override;

 private:
  void check_owners(const ViewRecord& record);
  void check_backups(const ViewRecord& record);
  void check_balance(const ViewRecord& record);
  void check_stability(const ViewRecord& record);

  const Engine& engine_;
  std::optional<ViewRecord> before_;
};

}  // namespace convoy::sim
