#include "node/record/slow_steps.h"

#include <utility>

#include "node/record/text.h"

namespace convoy::record {

std::vector<std::string> SlowSteps::see(const MasterStatus& status) {
  std::vector<std::string> lines;
  std::set<MemberKey> before = std::exchange(told_, {});
  for (const MasterStatus::Member& m : status.members) {
    const bool was_told = before.contains(m.key);
    if (was_told) told_.insert(m.key);
    if (was_told || !m.in_view || m.batch <= 0 || m.samples_per_s <= 0) continue;
    const double step_s = static_cast<double>(m.batch) / m.samples_per_s;
    const double timeout_s = seconds(failure_timeout_);
    if (step_s <= timeout_s / 2) continue;
    told_.insert(m.key);
    lines.push_back(
        m.name + ": a step takes " + fixed(step_s, 1) + " s (a batch of " + std::to_string(m.batch) +
        "), which is " + (step_s > timeout_s ? "longer than" : "near") +
        " cluster.failure_timeout_s = " + fixed(timeout_s, 1) +
        ". Nobody is taken for dead because of that, but peers that wait for it repeat themselves; "
        "set the time-out to " +
        fixed(2 * step_s, 1) + " or more, or lower train.batch.");
  }
  return lines;
}

}  // namespace convoy::record
