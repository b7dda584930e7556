// Learning-rate schedules as values, counted in samples so that batch sizes and members do not matter.
//
// Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "messages/base/result.h"

namespace convoy {

enum class ScheduleKind {
  kConstant,
  kStep,      // times step_factor after every step_fraction of the run
  kCosine,    // half a cosine from lr to lr * final_factor
  kLinear,    // straight from lr to lr * final_factor
  kOneCycle,  // half a cosine up from lr * start_factor, half a cosine down to lr * final_factor
};

// Fractions are of the whole run (total_samples). During the first warmup_fraction the rate rises from
// lr * start_factor to lr: in a straight line, for one_cycle along a cosine (there it is the rising part).
// The rest of the schedule runs over what remains.
struct Schedule {
  ScheduleKind kind = ScheduleKind::kConstant;
  double lr = 0.01;
  double warmup_fraction = 0;  // in [0, 1)
  double start_factor = 0.1;
  double final_factor = 0;
  double step_fraction = 1.0 / 3;  // of what remains after the warm-up
  double step_factor = 0.1;
};

// A schedule with the defaults of its kind: one_cycle has PyTorch's (warm-up 0.3, start 1/25, end 1/250,000).
Schedule make_schedule(ScheduleKind kind, double lr);

// The rate for a step that begins when `samples_seen` of `total_samples` have been trained; beyond the end it
// stays at its last value. REQUIRES: total_samples > 0, samples_seen >= 0.
double learning_rate(const Schedule& schedule, std::int64_t samples_seen, std::int64_t total_samples);

const char* to_string(ScheduleKind kind);
std::vector<std::string> schedule_names();  // "constant", "step", "cosine", "linear", "one_cycle"
Result<ScheduleKind> schedule_by_name(std::string_view name);

}  // namespace convoy
