// What a role is: a state machine `step(now, event, effects)` without IO, threads, clocks or randomness of
// its own.
//
// The shell around it (the CAF adapter in node/, the engine in master/sim) feeds events one at a time and
// carries out the effects *in the order given*. The contract:
//   - An effect list is complete: nothing else leaves a role.
//   - Compute, Apply, SendChunks, InstallChunks, KeepChunks, TakeSnapshot and EvaluateSlice go to the
//   executor, which
//     works through them in order;
//     so a reply shows exactly the applies that were listed before it.
//   - WakeAt replaces the previous one; the shell answers it with a Tick. Early or repeated Ticks are
//   harmless.
//   - A message that breaks the protocol leaves the role as it was and is answered by Refuse.
//   - PeerLost is a hint; roles decide by it only together with time.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "messages/messages.h"

namespace convoy {

// The Master is always dialled as this peer; which Master it is, its term tells.
inline constexpr PeerId kMasterPeerId{1};

// ---- Events

struct Started {};
struct Tick {};
struct PeerLost {
  PeerId peer;  // a connection broke, or was refused
};
struct PeerBack {
  PeerId peer;  // the connection stands again: unanswered requests are worth repeating now
};
struct LeaveRequested {};  // the operator wants this node out, gracefully

// W-slave: data is loaded, kernels are compiled, speed is measured.
struct WarmedUp {
  double samples_per_s = 0;
};

// W-slave: the gradient of (clock, lease), summed over its samples; one chunk list for the whole model or a
// part of it. `last` closes the clock.
struct Gradients {
  Clock clock;
  LeaseId lease;
  IntervalSet trained;
  std::uint64_t digest = 0;
  double loss_sum = 0;
  std::int64_t correct = 0;
  Encoding encoding = Encoding::kF32;
  std::vector<ChunkData> chunks;
  bool last = true;
  Duration busy{};  // compute time of the whole clock, with `last`
};

struct Evaluated {
  SnapshotId snapshot;
  std::uint32_t task = 0;
  std::int64_t correct = 0;
  double loss_sum = 0;
  std::int64_t count = 0;
};

// Master: the record is on disk.
struct Journaled {
  View view;
};

// Master: the trained model is on disk.
struct Saved {};

// Master: the public keys that may join, and dial P-slaves, are these now.
struct KeysChanged {
  std::vector<std::string> keys;
};

using Event = std::variant<Started, Tick, PeerLost, PeerBack, LeaveRequested, Envelope, WarmedUp, Gradients,
                           Evaluated, Journaled, Saved, KeysChanged>;

// ---- Effects

struct Send {
  PeerId to;
  Envelope envelope;
};

struct Connect {
  PeerId peer;
  std::string address;
  std::string public_key;
};

// Nothing more is to be said to that peer: stop dialling it.
struct Disconnect {
  PeerId peer;
};

struct WakeAt {
  Time at;
};

// W-slave: prepare for the run (load data, compile, measure); answered by WarmedUp.
struct WarmUp {
  std::string run_text;
  SyncOptions sync;
};

// W-slave: these positions will be computed next; have them ready.
struct Prefetch {
  Lease lease;
};

// W-slave: forward and backward over the lease's positions with these parameters; answered by Gradients.
struct Compute {
  Clock clock;
  Lease lease;
  Encoding encoding = Encoding::kF32;
  std::vector<ChunkData> parameters;  // every chunk of the model, ascending
  // By chunk: PullReply::ahead_rate of the shard that it came from.
  std::vector<double> ahead_rates;
};

// W-slave: whatever was begun for this and later clocks is void; results of it are ignored anyway.
struct Abandon {
  Clock from;
};

struct EvaluateSlice {
  Evaluate task;
  std::vector<ChunkData> parameters;
};

// P-slave: take this role's part in the run: parse it, allocate.
struct Prepared {
  std::string run_text;
  SyncOptions sync;
};

// P-slave: let these public keys in, and no other.
struct AllowKeys {
  std::vector<std::string> keys;
};

// P-slave: fill these chunks with the run's initial values.
struct InitialiseChunks {
  std::vector<ChunkId> chunks;
};

struct Contribution {
  MemberKey member;
  std::int64_t samples = 0;
  Encoding encoding = Encoding::kF32;
  std::vector<ChunkData> chunks;  // of the shard, ascending
};

// P-slave: one optimiser step from the sum of the contributions, in the order given.
struct Apply {
  Clock clock;  // of the (first) contribution, for traces
  std::vector<Contribution> contributions;
  std::int64_t samples = 0;         // the sum is divided by this
  double weight = 1;                // p: part of a whole step, samples / batch; 1 for a closed bsp clock
  std::int64_t samples_before = 0;  // applied before this one: the position in the schedule
};

// P-slave: fill `envelope`'s PullReply or SnapshotReply with the chunks as they are now (or in the snapshot),
// or its ChunkStates with their whole state, and send.
struct SendChunks {
  PeerId to;
  Envelope envelope;
  std::vector<ChunkId> chunks;
  std::optional<SnapshotId> snapshot;
  // Batches that will be committed before the gradient computed on these chunks is applied. The executor may
  // send the parameters as momentum alone will have moved them by then (docs/asynchrony.md).
  double expected_delay = 0;
};

// P-slave: these chunks came from their source; their whole state, as it was sent by SendChunks there.
struct InstallChunks {
  Encoding encoding = Encoding::kF32;
  std::vector<ChunkData> chunks;
};

// P-slave: every other chunk may be forgotten (its snapshot may not).
struct KeepChunks {
  std::vector<ChunkId> chunks;  // ascending
};

struct TakeSnapshot {
  SnapshotId snapshot;  // replaces an earlier one
  std::vector<ChunkId> chunks;
};

// What a Master knows of a node of its view, for the Master that may come after it.
struct KnownNode {
  PeerId peer;
  RoleKind role = RoleKind::kWorker;
  std::string name, host, device, address, public_key;
  std::uint32_t id = 0;
  Incarnation incarnation;
  double samples_per_s = 0;

  friend bool operator==(const KnownNode&, const KnownNode&) = default;
};

// Master: make the record durable as active, then answer Journaled.
struct Journal {
  ViewRecord record;
  IntervalSet ledger;
  std::vector<KnownNode> nodes;  // of the record: members, those on stand-by, P-slaves
};

// Master: write the trained model, every chunk of it, then answer Saved.
struct SaveModel {
  SnapshotId snapshot;
  Clock clock;
  Encoding encoding = Encoding::kF32;
  std::vector<ChunkData> chunks;  // ascending
};

// This role is at its end; the node closes it. `failed` makes the exit status 1.
struct Quit {
  bool failed = false;
  std::string text;
};

// ---- What happened, for checkers, counters and people

struct TraceGrant {
  ShardId shard;
  MemberKey member;
  Clock clock;
  Clock c_min;
};
struct TraceApply {
  ShardId shard;
  bool owned = true;  // or the backup's copy
  MemberKey member;
  Clock clock;
  IntervalSet trained;
};
struct TraceCut {
  ViewRecord record;
  std::vector<CutMember> members;
  IntervalSet ledger;
};
struct TraceActive {
  ViewRecord record;
  IntervalSet ledger;  // of its cut; the Master's only
};
struct TraceNote {
  std::string text;  // one line for the log
};
struct TraceViolation {
  std::string text;  // an invariant or a peer's promise is broken; counted, shown, fails a simulation
};
// Master only.
struct TraceJoined {
  MemberKey member;
  std::string name;
};
struct TraceLost {
  std::string name;
  std::string why;
  Duration after{};                   // since it was last heard
  std::optional<ServerKey> server{};  // a P-slave, and which life of it
};
struct TraceLog {
  ServerId server;
  Incarnation incarnation;  // a P-slave that came back logs from the cut on that took it in
  std::vector<CommitLogEntry> entries;
};
struct TraceEvaluation {
  SnapshotId snapshot;
  std::int64_t samples = 0;  // committed at the cut
  std::int64_t correct = 0;
  std::int64_t count = 0;
  double loss_sum = 0;
  bool final = false;
};
struct TraceTrained {
  IntervalSet ledger;  // full
};

using Trace = std::variant<TraceGrant, TraceApply, TraceCut, TraceActive, TraceNote, TraceViolation,
                           TraceJoined, TraceLost, TraceLog, TraceEvaluation, TraceTrained>;

using Effect = std::variant<Send, Connect, Disconnect, WakeAt, WarmUp, Compute, Abandon, EvaluateSlice,
                            Prepared, InitialiseChunks, Apply, SendChunks, InstallChunks, KeepChunks,
                            TakeSnapshot, Journal, SaveModel, Quit, Trace, Prefetch, AllowKeys>;
using Effects = std::vector<Effect>;

// One line each, for transcripts.
std::string describe(const Effect& effect);

// ---- Shared by the roles

// Times derived from the one setting `failure_timeout`.
struct Timing {
  Duration heartbeat;  // between life signs
  Duration retry;      // before a request is repeated the first time; doubles up to 8x while nothing moves
  Duration grace;      // a broken connection may come back within this

  static Timing from(Duration failure_timeout) {
    return {failure_timeout / 5, failure_timeout / 5, failure_timeout / 10};
  }
};

// When to repeat an unanswered request: doubling from `first` to 8 times it.
class Backoff {
 public:
  void start(Time now, Duration first) {
    interval_ = first_ = first;
    due_ = now + first;
  }
  void stop() { due_ = Time::never(); }
  bool due(Time now) const { return now >= due_; }
  void again(Time now) {
    interval_ = interval_ * 2 > first_ * 8 ? first_ * 8 : interval_ * 2;
    due_ = now + interval_;
  }
  bool running() const { return due_ != Time::never(); }
  Time at() const { return due_; }

 private:
  Time due_ = Time::never();
  Duration first_{};
  Duration interval_{};
};

}  // namespace convoy
