// The failure detector: who has been silent for too long.
//
// Two signs. A peer that was not heard for `timeout` is dead. A peer whose connection broke is dead sooner,
// when it does not come back within `grace`: processes that are killed close their sockets at once, so this
// is what finds them fast, while a frozen process or a pulled cable takes the whole time-out. Slow is not
// dead: life signs come from the actor that never computes, so nothing here depends on how long a step takes.
//
// A pure value driven by `now`. The Master's role watches all nodes with it; the others the P-slaves of their
// view, to tell the Master whom they cannot reach.
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
  // These and nobody else; who is watched already keeps its last sign.
  void watch_only(const std::vector<PeerId>& peers, Time now);
  void forget(PeerId peer) { peers_.erase(peer); }
  // Any message is a life sign. Unwatched peers are ignored.
  void heard(PeerId peer, Time now);
  void disconnected(PeerId peer, Time now);
  // The caller slept (SIGSTOP, a suspended machine): it has heard nobody, and nobody is to blame.
  void slept(Time now);
  bool alive(PeerId peer, Time now) const;
  // Watched, and its connection did not break since it was last heard.
  bool connected(PeerId peer) const;

  // Connections stand, and nobody behind them was heard for `silence`: it is rather the caller who is cut
  // off.
  bool hears_nobody(Duration silence, Time now) const;

  // Those that are dead by `now`, by peer. They stay watched until forgotten.
  std::vector<Suspect> suspects(Time now) const;
  // Only who they are.
  std::vector<PeerId> silent(Time now) const;
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
