// All invariant checkers, hung on one engine.
#pragma once

#include <memory>
#include <vector>

#include "master/sim/engine.h"

namespace convoy::sim {

// Runs the scenario with every checker watching.
Outcome run_checked(const Scenario& scenario);

}  // namespace convoy::sim
