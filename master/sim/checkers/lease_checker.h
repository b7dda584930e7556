// Leases: within a view each position is leased once, none that the view's ledger holds already; a member
// computes only what it holds a lease for in the view it stands in, and each clock of a view once.
#pragma once

#include <map>
#include <set>

#include "master/sim/engine.h"

namespace convoy::sim {

class LeaseChecker : public Watcher {
 public:
  explicit LeaseChecker(const Engine& engine) : engine_(engine) {}
  const char* name() const override { return "lease"; }

  void on_event(Time now, PeerId peer, const Event& event) override;
  void on_effect(Time now, PeerId peer, const Effect& effect) override;

 private:
  struct Given {
    PeerId to;
    Lease lease;
  };
  void give(PeerId to, const Lease& lease);

  const Engine& engine_;
  View view_;                       // of the Master
  IntervalSet leased_;              // in that view, and committed before it
  std::map<LeaseId, Given> given_;  // in that view
  struct Holder {
    View view;
    std::map<LeaseId, Lease> leases;
    std::set<Clock> computed;
  };
  std::map<PeerId, Holder> holders_;
};

}  // namespace convoy::sim
