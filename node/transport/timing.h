// Every time-out of the transport, derived from the one setting that users have: failure_timeout. All of them
// fit into it, so that a loss is told within failure_timeout of the moment it happened.
#pragma once

#include <algorithm>

#include "messages/base/time.h"

namespace convoy {

struct TransportTiming {
  int keepalive_idle_s;     // idle connections are probed after this, once a second,
  int keepalive_count;      // and given up after so many probes without an answer
  Duration attempt;         // patience with one attempt to dial: connect, handshake, hello
  Duration unacknowledged;  // sent bytes may stay unacknowledged by the other side's system this long
  Duration retry_first;     // pause before the second attempt; doubles
  Duration retry_most;

  static TransportTiming from(Duration failure_timeout) {
    const Duration t = std::max<Duration>(failure_timeout, 200ms);
    const int half_s = std::max(1, static_cast<int>(seconds(t) / 2));
    return TransportTiming{.keepalive_idle_s = half_s,
                           .keepalive_count = half_s,
                           .attempt = std::clamp<Duration>(t, 1s, 5s),
                           .unacknowledged = t,
                           .retry_first = std::clamp<Duration>(t / 100, 10ms, 50ms),
                           .retry_most = std::clamp<Duration>(t / 5, 100ms, 1s)};
  }
};

inline int whole_ms(Duration d) {
  return static_cast<int>(std::max<std::int64_t>(
      1, std::chrono::duration_cast<std::chrono::milliseconds>(d + Duration(999'999)).count()));
}

}  // namespace convoy
