// What all roles must agree on about synchronisation: part of the run, handed to every node in Welcome.
#pragma once

#include <cstdint>
#include <limits>

#include "messages/base/time.h"

namespace convoy {

// When a P-slave applies and how far a member may run ahead (design: bsp and its relaxations; the bounded
// modes are stale synchronous parallel, Ho et al. 2013).
enum class SyncMode : std::uint8_t { kBsp, kDsp, kDynamic, kAsp };

inline constexpr std::int64_t kNoBound = std::numeric_limits<std::int64_t>::max();

struct SyncOptions {
  SyncMode mode = SyncMode::kDsp;
  std::int64_t bound = 4;         // clocks a member may be ahead of c_min; 0 for bsp, kNoBound for asp
  std::int64_t bound_low = 4;     // dynamic: granted without asking up to here; else equal to `bound`
  bool pull_ahead = true;         // pull for c+1 while c is computed; REQUIRES bound >= 1
  bool pull_ahead_alone = false;  // ... but only in a view of one member, where it costs no freshness
  std::int64_t batch = 64;        // samples a clock of all members together, > 0
  Duration failure_timeout = std::chrono::seconds(5);
  std::int64_t sample_count = 1;  // N of the data set; a node whose data differ refuses to take part
  std::int64_t end_position = 1;  // training ends when [0, end) is committed

  friend bool operator==(const SyncOptions&, const SyncOptions&) = default;
};

}  // namespace convoy
