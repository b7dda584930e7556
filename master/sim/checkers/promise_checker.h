// What one role says to another must be true at that moment:
//   - a PushAck: every chunk of the shard has come for that clock and lease, in this view;
//   - a Commit, alone or in a Pull: every shard has acknowledged, in this view;
//   - a CommitAck, alone or in a PullReply: so much is applied here;
//   - a request for stand-by, or to leave: everything of this member is applied at every P-slave;
//   - parameters: they hold the member's own commits that its pull asked for;
//   - an Evaluate: no P-slave that has a part of the picture is known to be lost;
//   - none of this goes to somebody who is no member of the view.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>

#include "master/sim/engine.h"

namespace convoy::sim {

class PromiseChecker : public Watcher {
 public:
  explicit PromiseChecker(const Engine& engine) : engine_(engine) {}
  const char* name() const override { return "promise"; }

  void on_event(Time now, PeerId peer, const Event& event) override;
  void on_effect(Time now, PeerId peer, const Effect& effect) override;

 private:
  struct Server {
    ViewRecord record;
    ServerId id;
    std::map<MemberKey, Clock> applied;                                    // of members of the record
    std::map<std::tuple<PeerId, Clock, LeaseId>, std::set<ChunkId>> held;  // since the cut
    std::map<PeerId, Clock> after;                                         // asked by the latest pull
    // What came by an owner's stream in this view.
    std::map<std::tuple<MemberKey, Clock, LeaseId>, std::set<ChunkId>> copied;
    std::map<MemberKey, Clock> copied_commits;
  };
  struct Member {
    View view;
    MemberKey key;
    Clock committed;          // may be said to be committed
    std::set<ShardId> acked;  // of clock `committed`
  };
  void from_server(PeerId peer, const Envelope& envelope, PeerId to);
  // Empty when the shard's backup has what the owner shows; else what it lacks.
  std::string lacking(const Server& owner, ShardId shard, MemberKey member, const PushAck* ack,
                      Clock committed);
  void from_worker(PeerId peer, const Envelope& envelope);
  void check_picture(const Evaluate& task);
  void check_commit(PeerId peer, Clock committed);
  void check_all_applied(PeerId peer, const char* what);

  const Engine& engine_;
  std::map<PeerId, Server> servers_;
  std::map<PeerId, Member> members_;
  std::set<ServerKey> lost_;  // to this Master
};

}  // namespace convoy::sim
