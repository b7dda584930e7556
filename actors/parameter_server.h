// The P-slave's role: keeps copies of shards, as their owner or as another owner's backup.
//
// What a copy does with pushes, commits and pulls stands in shard_copy.h. This is the rest: becoming part of
// the run, the view change on the P-slave's side (parameter_server_view.cpp), pictures for evaluation, the
// log of what was committed.
//
// A view change here: Prepare freezes every copy and is answered by Report; Cut brings every copy to exactly
// the cut (a backup first takes its owner's stream to the end), fetches the chunks that the new record gives
// and no copy here has, builds the new view's copies beside the old, and is answered by Done. On Go, or a
// member's first message of the new view, the new copies take the place of the old.
//
// Not thread-safe; one owner calls step. See role.h for the contract of events and effects.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/failure_detector.h"
#include "actors/role.h"
#include "actors/shard_copy.h"

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

  // The last cut that was made here, and what it amounts to.
  const ViewRecord& record() const { return record_; }
  const IntervalSet& ledger() const;
  std::uint64_t bad_messages() const { return bad_messages_; }
  // The copies of record(), whether or not it is known to be active.
  const std::map<ShardId, ShardCopy>& copies() const { return active_ ? copies_ : next_; }
  // Pulls that wait at the gate.
  std::vector<ShardCopy::Parked> parked() const;
  bool serving() const { return record_.view != View{} && prepared_ == record_.view && !cut_; }

 private:
  enum class Phase { kGreeting, kJoining, kInRun, kDone };

  // A cut on its way to being made.
  struct CutWork {
    Cut cut;
    std::set<ShardId> unfinished;                     // copies of the active view that are not at the cut yet
    std::map<PeerId, std::vector<ChunkId>> fetching;  // not here yet, by source
    Backoff repeat;
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

  void from_master(Time now, const Envelope& envelope, Effects& out);
  void on_welcome(Time now, const Welcome& message, Effects& out);
  void on_refuse(Time now, const Refuse& message, Effects& out);
  void on_allowed_keys(const AllowedKeys& message, Effects& out);
  void on_snapshot_pull(const Envelope& envelope, const SnapshotPull& message, Effects& out);
  void on_log_ack(Time now, const CommitLogAck& message, Effects& out);

  // parameter_server_view.cpp
  void on_prepare(Time now, const Prepare& message, Effects& out);
  void on_cut(Time now, const Cut& message, Effects& out);
  void on_go(const Go& message, Effects& out);
  void on_fetch(const Envelope& envelope, const FetchChunks& message, Effects& out);
  void on_states(const Envelope& envelope, const ChunkStates& message, Effects& out);
  void finish_copies(Effects& out);
  // Whose word on the copy's chunks the cut takes.
  const ChunkSource* source_of(ChunkId chunk) const;
  bool at_cut(const std::vector<ChunkId>& chunks) const;
  void answer_fetches(Effects& out);
  void plan_fetches(Effects& out);
  void send_fetches(Effects& out);
  void complete_cut(Effects& out);
  void send_done(Effects& out);
  void activate(Effects& out);
  std::vector<ChunkId> chunks_of(const std::map<ShardId, ShardCopy>& copies, bool owned_only) const;

  // The copy that a member's message is for, when it may be served; makes a new view active on its first one.
  ShardCopy* serve(const Envelope& envelope, ShardId shard, Effects& out);
  // The copy of the active view whose stream with the sender this is.
  ShardCopy* streamed(const Envelope& envelope, ShardId shard, View stream, bool owned, Effects& out);
  void start_afresh(Time now, const std::string& why, Effects& out);
  void greet(Time now, Effects& out);
  void ask(Time now, Effects& out);
  void heartbeat(Time now, Effects& out);
  // P-slaves that have to answer: of the view, of the one that is to come, and those that have its chunks.
  std::vector<PeerId> partners() const;
  void send_log(Time now, Effects& out);
  // The copy whose commits are logged: one speaks for all, since every shard commits the same.
  const ShardCopy* logging() const;
  ServerPost post(const ShardCopy& copy, Effects& out);
  void refuse(PeerId peer, Incarnation incarnation, const std::string& why, Effects& out);
  void send(PeerId to, Message message, Effects& out) const;
  Envelope envelope(Message message) const;
  void schedule(Effects& out);

  ParameterServerOptions options_;
  Timing timing_;
  Phase phase_ = Phase::kGreeting;
  bool leaving_ = false;
  SyncOptions sync_;
  ServerId id_;
  Incarnation incarnation_;
  std::uint64_t keys_version_ = 0;

  ViewRecord active_record_;             // the last one known to be active
  std::map<ShardId, ShardCopy> copies_;  // of it
  ViewRecord record_;                    // of the last cut that was made
  std::map<ShardId, ShardCopy> next_;    // of it, until it is active
  bool active_ = false;                  // record_ is active_record_
  View prepared_;                        // highest attempt that froze us; == record_.view while serving
  std::optional<Report> report_;         // to repeat while frozen
  std::optional<CutWork> cut_;
  IntervalSet cut_ledger_;                 // of record_
  std::map<PeerId, FetchChunks> waiting_;  // until our part of their cut is made
  std::map<PeerId, MemberKey> by_peer_;    // members of record_

  FailureDetector partners_;

  std::optional<SnapshotId> snapshot_;
  ViewRecord snapshot_record_;

  std::vector<CommitLogEntry> fresh_log_;
  std::deque<CommitLogEntry> log_;  // unacknowledged
  std::uint64_t log_first_ = 0;
  Backoff log_repeat_;
  Time log_due_ = Time::never();
  std::uint64_t log_sent_end_ = 0;

  Backoff ask_;  // Hello, Join, Leave
  Time heartbeat_at_ = Time::never();
  Time wake_at_ = Time::never();
  Time now_{};
  std::uint64_t heartbeats_ = 0;
  std::uint64_t bad_messages_ = 0;
};

}  // namespace convoy
