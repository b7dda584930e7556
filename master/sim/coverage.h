// What a set of simulated runs has met: each kind of fault against what its victim was doing, and each
// network trouble. A kind that was never met is a hole in the scenarios, not a proof.
//
// A Watcher for one run at a time; counts add up over runs.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>

#include "master/sim/engine.h"

namespace convoy::sim {

class Coverage : public Watcher {
 public:
  // What a W-slave is doing when the fault strikes. View change and evaluation are counted beside it.
  enum class Doing { kAway, kIdle, kPulling, kComputing, kPushing, kViewChange, kEvaluating, kClosing };
  static constexpr std::size_t kDoings = 8;
  static constexpr std::size_t kKinds = 5;

  void on_begin(const Engine& engine) override;
  void on_effect(Time now, PeerId peer, const Effect& effect) override;
  void on_fault(Time now, const Fault& fault) override;

  void add(const Coverage& other);
  std::uint64_t count(FaultKind kind, Doing doing) const;
  // Runs with a network or size of that name, as the table prints them.
  std::uint64_t runs_with(const std::string& shape) const;
  std::string table() const;

 private:
  std::array<std::array<std::uint64_t, kDoings>, kKinds> counts_{};
  std::map<std::string, std::uint64_t> shapes_;  // runs by their kind of network and size

  // Of the run that goes on.
  const Engine* engine_ = nullptr;
  std::map<PeerId, Doing> doing_;
  std::set<PeerId> evaluating_;
  bool view_change_ = false;
  bool closing_ = false;
};

}  // namespace convoy::sim
