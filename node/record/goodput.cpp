#include "node/record/goodput.h"

namespace convoy::record {

void Goodput::add(std::int64_t members, std::int64_t samples, double duration_s) {
  if (members == 0 || duration_s <= 0) return;
  Sum& sum = by_members_[members];
  sum.samples += samples;
  sum.duration_s += duration_s;
}

std::optional<double> Goodput::full_rate() const {
  if (by_members_.empty()) return std::nullopt;
  const Sum& full = by_members_.rbegin()->second;
  return static_cast<double>(full.samples) / full.duration_s;
}

std::optional<double> Goodput::share(std::int64_t samples, double wall_s) const {
  const std::optional<double> rate = full_rate();
  if (!rate || *rate <= 0 || wall_s <= 0) return std::nullopt;
  return static_cast<double>(samples) / (wall_s * *rate);
}

}  // namespace convoy::record
