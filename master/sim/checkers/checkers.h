// All invariant checkers, hung on one engine.
#pragma once

#include <memory>
#include <vector>

#include "master/sim/engine.h"

namespace convoy::sim {

// Runs the scenario with every checker watching, and `also`.
Outcome run_checked(const Scenario& scenario, const std::vector<Watcher*>& also = {});

}  // namespace convoy::sim
