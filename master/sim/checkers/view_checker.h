// The order of a view change, and invariant 2 through it:
//   - from its Report to the Cut a P-slave applies nothing, answers nothing, acknowledges nothing;
//   - a view becomes active when every P-slave has answered Done and the journal has it, not before;
//   - views come to rest: without anybody coming, going or failing there is at most one for each member that
//     runs dry and for each evaluation;
//   - views only rise; no member starts below the c_min that anybody was shown; a member that stays does not
//     fall back behind what was applied of it.
#pragma once

#include <map>
#include <set>

#include "master/sim/engine.h"

namespace convoy::sim {

class ViewChecker : public Watcher {
 public:
  explicit ViewChecker(const Engine& engine) : engine_(engine) {}
  const char* name() const override { return "view"; }

  void on_event(Time now, PeerId peer, const Event& event) override;
  void on_effect(Time now, PeerId peer, const Effect& effect) override;
  void on_fault(Time, const Fault&, std::optional<PeerId>) override { views_at_rest_ = 0; }

 private:
  void on_active(const ViewRecord& record);

  const Engine& engine_;
  std::set<PeerId> frozen_;  // P-slaves between Report and Cut
  std::map<View, std::set<PeerId>> done_;
  std::set<View> journaled_;
  View active_;
  std::size_t views_at_rest_ = 0;       // since anything happened from outside
  std::map<MemberKey, Clock> applied_;  // most that any P-slave has applied of a member
  Clock shown_;                         // highest c_min shown
};

}  // namespace convoy::sim
