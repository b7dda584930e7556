// Small set-ups shared by the simulated scenarios.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "master/sim/checkers/checkers.h"

namespace convoy::sim {

// A way of synchronising with its name, for messages.
struct Mode {
  std::string name;
  SyncOptions sync;
};
// bsp, dsp(2) with and without pull-ahead, dynamic(0..2), asp.
std::vector<Mode> all_modes();

// `workers` equal W-slaves, `servers` P-slaves, `positions` samples once through, a quiet network, no faults,
// batch = one sample a W-slave.
Scenario small_scenario(const SyncOptions& sync, std::size_t workers, std::size_t servers,
                        std::int64_t positions);

// Each grant of each P-slave, in order.
using Grants = std::vector<std::pair<MemberKey, Clock>>;
class GrantRecorder : public Watcher {
 public:
  void on_effect(Time now, PeerId peer, const Effect& effect) override;
  const std::map<PeerId, Grants>& grants() const { return grants_; }

 private:
  std::map<PeerId, Grants> grants_;
};

}  // namespace convoy::sim
