// The failure detector: who has been silent for too long.
//
// Two signs. A peer that was not heard for `timeout` is dead. A peer whose connection broke is dead sooner,
// when it does not come back within `grace`: processes that are killed close their sockets at once, so this
// is what finds them fast, while a frozen process or a pulled cable takes the whole time-out. Slow is not
// dead: life signs come from the actor that never computes, so nothing here depends on how long a step takes.
//
// A pure value driven by `now`; used by the Master's role only.
#pragma once

#include <map>
#include <vector>

#include "messages/base/ids.h"
#include "messages/base/time.h"

namespace convoy {

class FailureDetector {
 public:
  struct Suspect {
    PeerId peer;
    bool disconnected = false;  // else silent
    Duration silent_for{};
  };

  FailureDetector(Duration timeout, Duration grace) : timeout_(timeout), grace_(grace) {}

  void watch(PeerId peer, Time now);
  void forget(PeerId peer) { peers_.erase(peer); }
  // Any message is a life sign. Unwatched peers are ignored.
  void heard(PeerId peer, Time now);
  void disconnected(PeerId peer, Time now);
  bool alive(PeerId peer, Time now) const;
  // Watched, and its connection did not break since it was last heard.
  bool connected(PeerId peer) const;

  // Those that are dead by `now`, by peer. They stay watched until forgotten.
  std::vector<Suspect> suspects(Time now) const;
  // When `suspects` may next have something new.
  Time next_deadline() const;

 private:
  struct State {
    Time heard;
    Time disconnected = Time::never();
  };
  Time deadline(const State& state) const;

  Duration timeout_;
  Duration grace_;
  std::map<PeerId, State> peers_;
};

}  // namespace convoy
