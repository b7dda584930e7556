// Shortens a scenario that goes wrong to what is needed for it, and writes it down as a test.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "master/sim/scenario.h"

namespace convoy::sim {

// What was wrong with a run, as Outcome has it; empty when nothing was.
using Judge = std::function<std::string(const Scenario&)>;

struct Minimised {
  Scenario scenario;
  std::string problem;
  std::uint64_t runs = 0;
};

// Takes away faults, W-slaves, P-slaves, samples and network trouble one by one, for as long as the same
// checker objects. REQUIRES: `judge` objects to `scenario`.
Minimised minimise(const Scenario& scenario, const Judge& judge);

// The scenario as C++, for a test by its name.
std::string as_code(const Scenario& scenario);

}  // namespace convoy::sim
