#include "kernels/reference/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "messages/base/check.h"

namespace convoy {
namespace {

constexpr const char* kNames[] = {"constant", "step", "cosine", "linear", "one_cycle"};

// From `start` to `end` along half a cosine as t goes from 0 to 1.
double half_cosine(double start, double end, double t) {
  return end + (start - end) * 0.5 * (1 + std::cos(std::numbers::pi * t));
}

double straight(double start, double end, double t) {
  return start + (end - start) * t;
}

}  // namespace

Schedule make_schedule(ScheduleKind kind, double lr) {
  Schedule schedule{.kind = kind, .lr = lr};
  if (kind == ScheduleKind::kOneCycle) {
    schedule.warmup_fraction = 0.3;
    schedule.start_factor = 1.0 / 25;
    schedule.final_factor = 1.0 / 25 / 1e4;
  }
  return schedule;
}

double learning_rate(const Schedule& s, std::int64_t samples_seen, std::int64_t total_samples) {
  CONVOY_CHECK(total_samples > 0 && samples_seen >= 0, samples_seen, " of ", total_samples);
  CONVOY_CHECK(s.warmup_fraction >= 0 && s.warmup_fraction < 1, s.warmup_fraction);
  const double done = std::min(1.0, static_cast<double>(samples_seen) / static_cast<double>(total_samples));
  const bool one_cycle = s.kind == ScheduleKind::kOneCycle;
  if (done < s.warmup_fraction) {
    const double t = done / s.warmup_fraction, start = s.lr * s.start_factor;
    return one_cycle ? half_cosine(start, s.lr, t) : straight(start, s.lr, t);
  }
  const double t = (done - s.warmup_fraction) / (1 - s.warmup_fraction);
  switch (s.kind) {
    case ScheduleKind::kConstant:
      return s.lr;
    case ScheduleKind::kStep:
      CONVOY_CHECK(s.step_fraction > 0, s.step_fraction);
      // The small addend keeps a border that rounding put just below itself on its own side.
      return s.lr * std::pow(s.step_factor, std::floor(t / s.step_fraction + 1e-9));
    case ScheduleKind::kLinear:
      return straight(s.lr, s.lr * s.final_factor, t);
    case ScheduleKind::kCosine:
    case ScheduleKind::kOneCycle:
      return half_cosine(s.lr, s.lr * s.final_factor, t);
  }
  CONVOY_CHECK(false, static_cast<int>(s.kind));
  return 0;
}

const char* to_string(ScheduleKind kind) {
  return kNames[static_cast<int>(kind)];
}

std::vector<std::string> schedule_names() {
  return {std::begin(kNames), std::end(kNames)};
}

Result<ScheduleKind> schedule_by_name(std::string_view name) {
  std::string known;
  for (int i = 0; i < static_cast<int>(std::size(kNames)); ++i) {
    if (name == kNames[i]) return static_cast<ScheduleKind>(i);
    known += (i ? ", " : "") + std::string(kNames[i]);
  }
  return Error{ErrorCode::kUsage,
               "there is no learning-rate schedule named \"" + std::string(name) + "\"; there are " + known};
}

}  // namespace convoy
