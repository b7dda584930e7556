// Invariants 1, 2 and 6 at every P-slave: no grant beyond the bound; c_min as shown never falls; nobody
// within the bound is held, so the slowest member never is. dynamic: beyond its lower bound each member is
// let through once per value of c_min, and only the owner of chunk 0 holds back there. bsp: a clock closes
// with every member of the view, in member order. Keeps its own account of clocks from what is applied.
#pragma once

#include <map>

#include "master/sim/engine.h"

namespace convoy::sim {

class GateChecker : public Watcher {
 public:
  explicit GateChecker(const Engine& engine) : engine_(engine) {}
  const char* name() const override { return "gate"; }

  void on_event(Time now, PeerId peer, const Event& event) override;
  void on_effect(Time now, PeerId peer, const Effect& effect) override;
  void after_step(Time now, PeerId peer) override;

 private:
  struct Account {
    std::map<MemberKey, Clock> clocks;  // of the view's members
    Clock floor;
    Clock shown;  // highest c_min shown here
    bool decides = true;
    bool cutting = false;              // between a Cut and its making, which apply what the cut says
    std::map<MemberKey, Clock> extra;  // c_min at the last grant beyond the lower bound
  };
  void on_apply(PeerId peer, const Apply& apply);
  static Clock c_min(const Account& account);

  const Engine& engine_;
  std::map<PeerId, Account> servers_;
  Clock shown_;  // highest c_min shown by anybody
};

}  // namespace convoy::sim
