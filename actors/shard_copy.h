// One copy of one shard in one view, at its owner or at its backup: the members' clocks, the pushes that are
// held until they are committed everywhere, the ledger, and at the owner the delay gate and the pulls that
// wait at it.
//
// The owner streams what it accepts (pushes and commits, in its order) to the backup. A push is acknowledged
// and a commit counts when the backup has it, and both apply in the stream's order; so the copies are equal
// at the end of the stream, and nothing was shown to anybody that the backup lacks (design, "P-slave loss").
// Without a backup the owner's own word is enough.
//
// Used by the P-slave's role only; not thread-safe.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/delay_gate.h"
#include "actors/role.h"

namespace convoy {

// What a step may do on behalf of the P-slave.
struct ServerPost {
  PeerId self;
  Incarnation incarnation;
  View view;  // that messages are sent in
  Time now;
  Effects& out;
  std::uint64_t& bad_messages;
  std::vector<CommitLogEntry>* log = nullptr;  // of the copy that keeps the P-slave's log

  void send(PeerId to, Message message) const {
    out.push_back(Send{to, Envelope{view, self, incarnation, std::move(message)}});
  }
  void refuse(PeerId to, Incarnation refused, const std::string& why) const {
    ++bad_messages;
    send(to, Refuse{RefuseReason::kBadMessage, refused, why});
  }
};

class ShardCopy {
 public:
  struct Peer {
    PeerId peer;
    Incarnation incarnation;
  };
  // For a member whose pull waits at the gate.
  struct Parked {
    MemberKey member;
    Clock clock;
    Clock after;
    Clock own;  // commits of its own that count
  };

  // The copy of `record`'s shard at its owner, or at its backup, as a cut leaves it. `ledger` is the cut's.
  ShardCopy(const ViewRecord& record, ShardId shard, bool owned, const SyncOptions& sync,
            const IntervalSet& ledger, Duration retry);

  // Statistics and grants of members that go on, from any copy of the view before.
  void inherit(const ShardCopy& before);

  bool owned() const { return owned_; }
  ShardId shard() const { return shard_; }
  const std::vector<ChunkId>& chunks() const { return chunks_; }
  Clock c_min() const { return gate_.c_min(); }
  const IntervalSet& ledger() const { return ledger_; }
  std::int64_t samples_applied() const { return ledger_.size(); }
  const std::optional<Peer>& other() const { return other_; }
  std::vector<Parked> parked() const;
  // Every chunk of the push is held here, or was applied.
  bool has(MemberKey key, Clock clock, LeaseId lease) const;

  // ---- At the owner, from members

  void on_pull(ServerPost& post, MemberKey key, const Pull& message);
  void on_push(ServerPost& post, MemberKey key, const Push& message);
  void on_commit(ServerPost& post, MemberKey key, const Commit& message);

  // ---- Owner and backup

  void on_acknowledged(ServerPost& post, const ReplicateAck& message);
  // At the backup: takes the entry when its turn comes and it may be taken, acknowledges what is taken.
  void on_replicate(ServerPost& post, const Replicate& message, bool may_take);
  // Takes what came before it might be taken.
  void take_early(ServerPost& post);
  bool stream_ended() const { return stream_ended_; }
  // Repeats what the backup has not acknowledged.
  void repeat(ServerPost& post);
  Time repeat_at() const { return repeat_.at(); }

  // ---- View change

  // Forgets waiting pulls: nothing is answered in this view any more.
  void freeze();
  // Adds what this copy knows: commits received, and the positions that they train.
  void report(std::map<MemberKey, ReportedMember>& members, IntervalSet& ledger) const;
  // Empty when the cut can be made from what is held; else why not.
  std::string why_not(const std::vector<CutMember>& members) const;
  // Applies exactly up to the cut. At the owner the stream then ends. Again: changes nothing.
  // REQUIRES: why_not() is empty; at a backup whose owner goes on, the stream has ended.
  void make_cut(ServerPost& post, const std::vector<CutMember>& members);

 private:
  // One clock of one member, as it came.
  struct Held {
    LeaseId lease;
    IntervalSet trained;
    std::uint64_t digest = 0;
    double loss_sum = 0;
    std::int64_t correct = 0;
    Encoding encoding = Encoding::kF32;
    std::vector<std::optional<Frame>> chunks;  // by place in the shard
    std::size_t missing = 0;
    std::uint64_t sequence = 0;  // of the last part in the stream
    bool complete() const { return missing == 0; }
  };

  // What was true when a clock was granted, for the statistics of its commit.
  struct Granted {
    std::int64_t staleness = 0;
    std::int64_t applied_by_others = 0;
    std::int64_t samples_applied = 0;
    View view;
  };

  struct Member {
    MemberKey key;
    PeerId peer;
    Clock received;      // commits accepted here
    Clock committed;     // of these, what the backup has too: they count
    Clock applied;       // bsp: closed
    Clock granted_end;   // first clock never granted, in any view
    Clock answered_end;  // first clock not answered in this view; a pull below the last one is late
    std::map<Clock, Held> held;
    std::map<Clock, Granted> granted;
    std::optional<Pull> parked;
    bool wants_ack = false;  // a Commit awaits its CommitAck
    std::int64_t own_applied = 0;
    double delay = 0;  // batches committed by anybody between its pull and its apply, on average
  };

  // Waits until the backup has the stream up to `sequence`.
  struct Pending {
    std::uint64_t sequence;
    MemberKey member;
    Clock clock;                   // of the push, or commits
    std::optional<LeaseId> lease;  // of a push
  };

  // False when it was refused.
  bool accept_commit(ServerPost& post, Member& member, Clock committed, bool wants_ack);
  bool hold(Member& member, const Push& message);
  void stream(ServerPost& post, MemberKey key, std::variant<Push, Commit, StreamEnd> entry);
  void settle(ServerPost& post);
  void take(ServerPost& post, const Replicate& next);
  void count(ServerPost& post, Member& member, Clock committed);
  void apply_ready(ServerPost& post);
  void close_clock(ServerPost& post, const std::vector<Member*>& members);
  void log(ServerPost& post, const Member& member, Clock clock, const Held& held) const;
  void answer(ServerPost& post, Member& member);
  void acknowledge_commit(ServerPost& post, Member& member) const;
  Contribution contribution(const Member& member, const Held& held) const;
  double undisturbed_delay() const;
  bool bsp() const { return sync_.mode == SyncMode::kBsp; }
  Clock counted(const Member& m) const { return bsp() ? m.applied : m.committed; }
  // Commits received that a cut would apply: bsp knows closed clocks only.
  Clock reported(const Member& m) const;
  void refuse(ServerPost& post, const Member& m, const std::string& why) const {
    post.refuse(m.peer, m.key.incarnation, why);
  }

  ShardId shard_;
  std::vector<ChunkId> chunks_;
  bool owned_;
  SyncOptions sync_;
  View view_;                  // also the stream's name
  std::optional<Peer> other_;  // an owner's backup, a backup's owner
  std::map<MemberKey, Member> members_;
  DelayGate gate_;
  IntervalSet ledger_;
  std::int64_t applied_total_ = 0;  // updates, for the statistics

  std::uint64_t sent_ = 0;   // owner: entries of the stream so far
  std::uint64_t acked_ = 0;  // owner: of these, what the backup has; backup: entries taken
  bool stream_ended_ = false;
  std::uint64_t resent_ = ~std::uint64_t{0};  // owner: acked_ when the next entry was sent again early
  std::deque<Replicate> unacked_;
  std::map<std::uint64_t, Replicate> early_;  // backup: came before its turn, or while nothing may be taken
  std::deque<Pending> pending_;
  Duration retry_;
  Backoff repeat_;
};

}  // namespace convoy
