// The P-slave's role: owner of one shard of the parameters in a view.
//
// It holds every member's pushes until all of them are committed everywhere, applies them (on commit, or in
// bsp when the clock closes), lets pulls through the delay gate, and stands still between a Prepare and the
// Cut that follows. The ledger of committed positions is part of its state and changes by the same commit.
//
// This version keeps one copy, the owned one; a backup's copy and the moving of chunks between P-slaves are
// laid out in the view record and come with their own part of the protocol.
//
// Not thread-safe; one owner calls step. See role.h for the contract of events and effects.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/delay_gate.h"
#include "actors/role.h"

namespace convoy {

struct ParameterServerOptions {
  PeerId self;
  std::string name;
  std::string host;
  std::string address;     // where W-slaves dial us
  std::string public_key;  // with encryption: what they need for it
  std::string build_id;
  Duration failure_timeout = std::chrono::seconds(5);
};

class ParameterServer {
 public:
  explicit ParameterServer(ParameterServerOptions options);

  void step(Time now, const Event& event, Effects& out);

  const ViewRecord& record() const { return record_; }
  const IntervalSet& ledger() const { return ledger_; }
  Clock c_min() const { return gate_.c_min(); }
  std::uint64_t bad_messages() const { return bad_messages_; }

  // For the checkers: a member whose pull waits at the gate.
  struct Parked {
    MemberKey member;
    Clock clock;
    Clock after;
    Clock own;  // commits of its own that count
  };
  std::vector<Parked> parked() const;
  bool serving() const { return record_.view != View{} && prepared_ == record_.view; }

 private:
  enum class Phase { kGreeting, kJoining, kInRun, kDone };

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
    bool in_view = false;  // of record_; else a leaver, remembered until the view is active
    Clock committed;       // received
    Clock applied;         // bsp: closed
    Clock granted_end;     // first clock never granted, in any view
    Clock answered_end;    // first clock not answered in this view; a pull below the last one is late
    std::map<Clock, Held> held;
    std::map<Clock, Granted> granted;
    std::optional<Pull> parked;
    bool wants_ack = false;  // a Commit awaits its CommitAck
    std::int64_t own_applied = 0;
    double delay =
        -1;  // batches committed by anybody between its pull and its apply, on average; < 0: not seen
  };

  void on(Time, const Saved&, Effects&) {}
  void on(Time, const KeysChanged&, Effects&) {}
  void on(Time now, const Started&, Effects& out);
  void on(Time now, const Tick&, Effects& out);
  void on(Time, const PeerLost&, Effects&) {}
  void on(Time now, const PeerBack& event, Effects& out);
  void on(Time now, const LeaveRequested&, Effects& out);
  void on(Time, const WarmedUp&, Effects&) {}
  void on(Time, const Gradients&, Effects&) {}
  void on(Time, const Evaluated&, Effects&) {}
  void on(Time, const Journaled&, Effects&) {}
  void on(Time now, const Envelope& envelope, Effects& out);

  void on_welcome(Time now, const Welcome& message, Effects& out);
  void on_refuse(Time now, const Refuse& message, Effects& out);
  void on_prepare(Time now, const Prepare& message, Effects& out);
  void on_cut(Time now, const Cut& message, Effects& out);
  void on_go(const Go& message, Effects& out);
  void on_allowed_keys(const AllowedKeys& message, Effects& out);
  void on_pull(Member& member, const Pull& message, Effects& out);
  void on_push(Member& member, const Push& message, Effects& out);
  // False when it was refused.
  bool on_commit(Member& member, Clock committed, bool wants_ack, Effects& out);
  void on_snapshot_pull(const Envelope& envelope, const SnapshotPull& message, Effects& out);
  void on_log_ack(Time now, const CommitLogAck& message, Effects& out);

  // True when a member's message may be served; makes a new view active on its first one.
  Member* serve(const Envelope& envelope, ShardId shard, Effects& out);
  void activate(Effects& out);
  void apply_ready(Effects& out);
  void apply_one(Member& member, Effects& out);
  void close_clock(const std::vector<Member*>& members, Effects& out);
  void log(const Member& member, Clock clock, const Held& held);
  void answer(Member& member, Effects& out);
  void answer_all(Effects& out);
  double undisturbed_delay() const;
  void acknowledge_commit(Member& member, Effects& out);
  void rebuild_gate();
  // Empty when the cut can be made from what is held; else why not.
  std::string why_not(const Cut& cut) const;
  void make_cut(const Cut& cut, Effects& out);

  void greet(Time now, Effects& out);
  void heartbeat(Time now, Effects& out);
  void send_log(Time now, Effects& out);
  void refuse(PeerId peer, Incarnation incarnation, const std::string& why, Effects& out);
  void refuse(const Member& m, const std::string& why, Effects& out) {
    refuse(m.peer, m.key.incarnation, why, out);
  }
  Contribution contribution(const Member& member, const Held& held) const;
  const std::vector<ChunkId>& chunks() const { return record_.shards[shard_.value].chunks; }
  bool bsp() const { return sync_.mode == SyncMode::kBsp; }
  Clock counted(const Member& m) const { return bsp() ? m.applied : m.committed; }
  void send(PeerId to, Message message, Effects& out) const;
  Envelope envelope(Message message) const;
  void schedule(Effects& out);

  ParameterServerOptions options_;
  Timing timing_;
  Phase phase_ = Phase::kGreeting;
  SyncOptions sync_;
  ServerId id_;
  Incarnation incarnation_;
  std::uint64_t keys_version_ = 0;

  ViewRecord record_;             // of the last Cut
  View prepared_;                 // highest attempt that froze us; == record_.view while serving
  bool active_ = false;           // record_ is known to be active
  ViewRecord active_record_;      // the last one known to be active
  std::optional<Report> report_;  // to repeat while frozen
  bool initialised_ = false;
  ShardId shard_;

  std::map<MemberKey, Member> members_;  // of record_, and leavers until it is active; in member order
  std::map<PeerId, MemberKey> by_peer_;  // those of record_
  DelayGate gate_;
  IntervalSet ledger_;
  std::int64_t samples_applied_ = 0;
  std::int64_t applied_total_ = 0;
  std::optional<SnapshotId> snapshot_;
  ViewRecord snapshot_record_;

  std::deque<CommitLogEntry> log_;  // unacknowledged
  std::uint64_t log_first_ = 0;
  Backoff log_repeat_;
  Time log_due_ = Time::never();
  std::uint64_t log_sent_end_ = 0;

  Backoff ask_;
  Time heartbeat_at_ = Time::never();
  Time wake_at_ = Time::never();
  Time now_{};
  std::uint64_t heartbeats_ = 0;
  std::uint64_t bad_messages_ = 0;
};

}  // namespace convoy
