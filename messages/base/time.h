// Time as roles see it: handed in, never read. The node counts from its own start, the simulator from zero.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <ostream>

namespace convoy {

using Duration = std::chrono::nanoseconds;
using namespace std::chrono_literals;

constexpr double seconds(Duration d) {
  return std::chrono::duration<double>(d).count();
}
constexpr Duration from_seconds(double s) {
  return Duration(static_cast<std::int64_t>(s * 1e9));
}

// A point on one node's monotonic clock. Times of two nodes are never compared.
struct Time {
  Duration since_start{};

  static constexpr Time never() { return Time{Duration::max()}; }
  friend constexpr auto operator<=>(Time, Time) = default;
  friend constexpr Time operator+(Time t, Duration d) { return Time{t.since_start + d}; }
  friend constexpr Time operator-(Time t, Duration d) { return Time{t.since_start - d}; }
  friend constexpr Duration operator-(Time a, Time b) { return a.since_start - b.since_start; }
  friend std::ostream& operator<<(std::ostream& out, Time t) { return out << seconds(t.since_start) << "s"; }
};

}  // namespace convoy
