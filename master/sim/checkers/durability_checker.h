// Invariant 9: what was shown to anybody is still there in the next active view, whichever P-slave died
// meanwhile.
//   - Parameters in a PullReply show every update that its owner has applied, a CommitAck those of its
//   member:
//     the ledger of every later view includes their positions.
//   - A PushAck shows that a push is held wherever it must be: when the first cut of the next view goes out,
//   the
//     copy of the shard that the cut goes by holds it, or has applied it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "master/sim/engine.h"

namespace convoy::sim {

class DurabilityChecker : public Watcher {
 public:
  explicit DurabilityChecker(const Engine& engine) : engine_(engine) {}
  const char* name() const override { return "durability"; }

  void on_effect(Time now, PeerId peer, const Effect& effect) override;

 private:
  using Owned = std::pair<PeerId, ShardId>;
  using Acknowledged = std::tuple<MemberKey, Clock, LeaseId>;
  struct Applied {
    MemberKey member;
    Clock clock;
    IntervalSet trained;
  };
  void on_message(PeerId from, PeerId to, const Envelope& envelope);
  void on_trace(PeerId peer, const Trace& trace);
  void on_cut(const Cut& cut);
  // Nothing that was not shown yet will be: a cut decides about it.
  void freeze(PeerId peer);
  // The member of the P-slave's view that is this peer.
  std::optional<MemberKey> member_at(PeerId server, PeerId member) const;

  const Engine& engine_;
  std::map<Owned, std::vector<Applied>> unshown_;  // since the last cut
  IntervalSet shown_;
  std::map<std::pair<View, ShardId>, std::set<Acknowledged>> acknowledged_;
  View checked_;  // the base whose first cut was looked at
};

}  // namespace convoy::sim
