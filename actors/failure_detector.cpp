#include "actors/failure_detector.h"

#include <algorithm>

namespace convoy {

void FailureDetector::watch(PeerId peer, Time now) {
  peers_[peer] = State{now};
}

void FailureDetector::watch_only(const std::vector<PeerId>& peers, Time now) {
  std::map<PeerId, State> watched;
  for (PeerId peer : peers) {
    const auto known = peers_.find(peer);
    watched[peer] = known != peers_.end() ? known->second : State{now};
  }
  peers_ = std::move(watched);
}

void FailureDetector::slept(Time now) {
  for (auto& [peer, state] : peers_) state = State{now};
}

void FailureDetector::heard(PeerId peer, Time now) {
  const auto state = peers_.find(peer);
  if (state != peers_.end()) state->second = State{now};
}

void FailureDetector::disconnected(PeerId peer, Time now) {
  const auto state = peers_.find(peer);
  if (state != peers_.end() && state->second.disconnected == Time::never()) state->second.disconnected = now;
}

Time FailureDetector::deadline(const State& state) const {
  const Time silent = state.heard + timeout_;
  if (state.disconnected == Time::never()) return silent;
  return std::min(silent, state.disconnected + grace_);
}

bool FailureDetector::alive(PeerId peer, Time now) const {
  const auto state = peers_.find(peer);
  return state != peers_.end() && now < deadline(state->second);
}

bool FailureDetector::connected(PeerId peer) const {
  const auto state = peers_.find(peer);
  return state != peers_.end() && state->second.disconnected == Time::never();
}

bool FailureDetector::hears_nobody(Duration silence, Time now) const {
  std::size_t silent = 0;
  for (const auto& [peer, state] : peers_) {
    if (state.disconnected != Time::never()) continue;
    if (now - state.heard <= silence) return false;
    ++silent;
  }
  return silent > 0;
}

std::vector<FailureDetector::Suspect> FailureDetector::suspects(Time now) const {
  std::vector<Suspect> dead;
  for (const auto& [peer, state] : peers_) {
    if (now < deadline(state)) continue;
    dead.push_back({peer, state.disconnected != Time::never(), now - state.heard});
  }
  return dead;
}

std::vector<PeerId> FailureDetector::silent(Time now) const {
  std::vector<PeerId> peers;
  for (const Suspect& s : suspects(now)) peers.push_back(s.peer);
  return peers;
}

Time FailureDetector::next_deadline() const {
  Time next = Time::never();
  for (const auto& [peer, state] : peers_) next = std::min(next, deadline(state));
  return next;
}

}  // namespace convoy
