// What a set of simulated runs has met: each kind of fault against what its victim was doing, and each
// network trouble. A kind that was never met is a hole in the scenarios, not a proof.
//
// A Watcher for one run at a time; counts add up over runs.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "master/sim/engine.h"

namespace convoy::sim {

class Coverage : public Watcher {
 public:
  void on_begin(const Engine& engine) override;
  void on_event(Time now, PeerId peer, const Event& event) override;
  void on_effect(Time now, PeerId peer, const Effect& effect) override;
  void on_fault(Time now, const Fault& fault, std::optional<PeerId> victim) override;

  void add(const Coverage& other);
  std::string table() const;
  // Cells of the table that were never met, and cells that cannot be met and were. Means something after many
  // runs only.
  std::vector<std::string> holes() const;
  // Cells met fewer times than that, without those that cannot be met.
  std::vector<std::string> below(std::uint64_t hits) const;

 private:
  enum class Role { kWorker, kServer, kMaster };
  // What the victim is doing, in words; the table has a column for each. View change and evaluation are
  // counted beside it.
  using Doing = const char*;
  struct Part;
  static const std::vector<Part>& parts();
  std::uint64_t count_of(Role role, FaultKind kind, Doing doing) const;
  static const char* why_never(Role role, FaultKind kind, Doing doing);
  void worker_effect(PeerId peer, const Effect& effect);
  void server_effect(PeerId peer, const Effect& effect);
  void master_effect(const Effect& effect);

  std::map<std::tuple<Role, FaultKind, std::string>, std::uint64_t> counts_;
  std::map<std::string, std::uint64_t> shapes_;  // runs by their kind of network and size

  // Of the run that goes on.
  const Engine* engine_ = nullptr;
  std::map<PeerId, Doing> doing_;
  std::set<PeerId> evaluating_;
  bool view_change_ = false;
  bool evaluation_ = false;
  bool closing_ = false;
};

}  // namespace convoy::sim
