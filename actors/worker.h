// The W-slave's role: one member of the run, carrying a whole replica (one segment).
//
// Life: Hello -> Welcome -> warm up -> Join -> Go -> clocks -> Farewell or Stop. Refused as stale (it was
// frozen, or the Master lost it), it says Hello again and starts a new life by itself.
//
// A clock on this side: pull every shard, compute, push every shard, wait for all acknowledgements of the
// current view, commit. With pull-ahead the pull for c+1 runs while c is computed, so at most two clocks are
// in flight and a push, its acknowledgement and the next pull hide behind arithmetic.
//
// Not thread-safe; one owner calls step. See role.h for the contract of events and effects.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/failure_detector.h"
#include "actors/role.h"

namespace convoy {

struct WorkerOptions {
  PeerId self;
  std::string name;  // stable over restarts
  std::string host;
  std::string device;
  std::string build_id;
  Duration failure_timeout = std::chrono::seconds(5);  // until Welcome brings the run's own
};

class Worker {
 public:
  enum class Phase { kGreeting, kWarmingUp, kJoining, kActive, kStandBy, kLeaving, kDone };

  explicit Worker(WorkerOptions options);

  void step(Time now, const Event& event, Effects& out);

  Phase phase() const { return phase_; }
  Clock committed() const { return n_; }
  const ViewRecord& record() const { return record_; }
  std::uint64_t bad_messages() const { return bad_messages_; }

 private:
  enum class Stage { kPulling, kPulled, kComputing, kComputed, kPushing };

  // One clock on its way. `flights_[i].clock == n_ + i`.
  struct Flight {
    Clock clock;
    Lease lease;
    Stage stage = Stage::kPulling;
    std::vector<bool> answered;  // by shard: pull answered (kPulling) or push acknowledged (kPushing)
    Encoding encoding = Encoding::kF32;
    std::vector<double> ahead_rates;  // by chunk, of the parameters
    std::vector<ChunkData> chunks;    // parameters while pulling, gradients from kComputed on; ascending
    IntervalSet trained;
    std::uint64_t digest = 0;
    double loss_sum = 0;
    std::int64_t correct = 0;
    Backoff repeat;
  };

  struct Evaluation {
    Evaluate task;
    std::vector<bool> answered;
    std::vector<ChunkData> chunks;
    bool running = false;
    std::optional<EvaluateResult> result;
    Backoff repeat;
  };

  void on(Time, const Saved&, Effects&) {}
  void on(Time, const KeysChanged&, Effects&) {}
  void on(Time now, const Started&, Effects& out);
  void on(Time now, const Tick&, Effects& out);
  void on(Time now, const PeerLost& event, Effects& out);
  void on(Time now, const PeerBack& event, Effects& out);
  void on(Time now, const LeaveRequested&, Effects& out);
  void on(Time now, const WarmedUp& event, Effects& out);
  void on(Time now, const Gradients& event, Effects& out);
  void on(Time now, const Evaluated& event, Effects& out);
  void on(Time, const Journaled&, Effects&) {}
  void on(Time now, const Envelope& envelope, Effects& out);

  void on_welcome(Time now, const Welcome& message, Effects& out);
  void on_refuse(Time now, const Envelope& envelope, const Refuse& message, Effects& out);
  void on_go(Time now, const Go& message, Effects& out);
  void on_lease_grant(Time now, const LeaseGrant& message, Effects& out);
  void on_pull_reply(Time now, const PullReply& message, Effects& out);
  void on_push_ack(Time now, const PushAck& message, Effects& out);
  void on_commit_ack(Time now, const CommitAck& message, Effects& out);
  void on_evaluate(Time now, const Evaluate& message, Effects& out);
  void on_snapshot_reply(Time now, const SnapshotReply& message, Effects& out);

  // Starts whatever can start: pull, compute, push, lease request, leave.
  void advance(Time now, Effects& out);
  bool start_pull(Time now, Effects& out);
  bool start_compute(Time now, Effects& out);
  bool start_push(Time now, Effects& out);
  void ask_for_leases(Time now, Effects& out);
  void send_pulls(const Flight& flight, Effects& out);
  void send_pushes(const Flight& flight, Effects& out);
  void send_commits(Effects& out);
  void repeat_all(Time now, Effects& out, bool even_if_early);
  void greet(Time now, Effects& out);
  void start_afresh(Time now, Effects& out);
  // When asked to leave: goes without Farewell if the Master, which would have to say it, has died.
  void leave_the_dead(Time now, Effects& out);
  void heartbeat(Time now, Effects& out);
  // Which P-slaves of the view must answer, from now on.
  void watch_servers(Time now);
  void note_idle(Time now);

  const Lease* lease_for(Clock clock) const;
  Clock acknowledged() const;  // by every shard
  Flight* flight_at(Clock clock);
  bool pulls_ahead() const {
    return sync_.pull_ahead && (!sync_.pull_ahead_alone || record_.members.size() == 1);
  }
  bool in_view() const { return phase_ == Phase::kActive || phase_ == Phase::kLeaving; }
  void send(PeerId to, Message message, Effects& out) const;
  PeerId owner(ShardId shard) const { return record_.owner_of(shard).peer; }
  void schedule(Effects& out);

  WorkerOptions options_;
  Timing timing_;
  Phase phase_ = Phase::kGreeting;
  SyncOptions sync_;
  MemberKey key_;
  std::string welcomed_run_;  // warmed up for this run text: a second life of the same run need not again
  bool warm_ = false;
  double samples_per_s_ = 0;

  ViewRecord record_;
  Clock n_;                          // commit sent
  std::vector<Clock> commit_acked_;  // by shard
  std::deque<Flight> flights_;
  std::deque<Lease> leases_;    // ascending by clock, >= n_
  std::size_t last_grant_ = 0;  // leases held after the last grant: refilled at half of it
  bool dry_ = false;            // the Master had nothing more
  bool leave_requested_ = false;
  std::optional<Evaluation> evaluation_;

  Backoff ask_;  // Hello, Join, Leave, whichever the phase repeats
  Backoff lease_ask_;
  bool lease_ask_idle_ = false;
  Backoff commit_repeat_;
  Time heartbeat_at_ = Time::never();
  Time heard_{};  // from the Master, last
  Time wake_at_ = Time::never();
  Time step_now_{};
  FailureDetector servers_;  // of the view

  std::uint64_t heartbeats_ = 0;
  std::int64_t samples_ = 0;
  Duration busy_{};
  Duration waiting_{};
  Time idle_since_ = Time::never();
  std::uint64_t bad_messages_ = 0;
};

}  // namespace convoy
