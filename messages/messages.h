// Every message of the protocol, as plain structs. messages/schema/*.capnp says the same on the wire, and
// codec.h translates; roles see only these.
//
// Values; tensor bytes are Frames (shared, immutable). A request may be sent any number of times: all counts
// and clocks are absolute, so a repeat means the same as the first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "messages/base/fault_kind.h"
#include "messages/base/ids.h"
#include "messages/base/interval_set.h"
#include "messages/base/time.h"
#include "messages/frame.h"
#include "messages/sync_options.h"
#include "messages/view_record.h"

namespace convoy {

inline constexpr std::uint16_t kProtocolVersion = 2;

enum class RoleKind : std::uint8_t { kMaster, kWorker, kServer, kObserver };

// How the bytes of a tensor frame are to be read. Parties agree by the run file; a frame of another encoding
// is refused.
enum class Encoding : std::uint8_t { kF32, kF64, kF16, kThreshold, kTopK };

struct ChunkData {
  ChunkId chunk;
  Frame bytes;

  friend bool operator==(const ChunkData&, const ChunkData&) = default;
};

// Sample positions that one member is to train at one clock.
struct Lease {
  LeaseId id;
  Clock clock;
  IntervalSet positions;

  friend bool operator==(const Lease&, const Lease&) = default;
};

// ---- Becoming part of a run

// Node -> Master, first message, repeated until answered: who I am. Answered by Welcome or Refuse.
struct Hello {
  RoleKind role = RoleKind::kWorker;
  std::string name;  // stable over restarts; the Master keeps the member id of a name
  std::string host;
  std::string device;   // of a W-slave: "cpu", "reference", "cuda:0", ...
  std::string address;  // of a P-slave: where W-slaves can dial it
  std::string build_id;
  std::string public_key;  // of a P-slave: what W-slaves need to dial it; empty without encryption
  Incarnation previous;    // my last life under this Master, when I was refused and start afresh; 0 = none

  friend bool operator==(const Hello&, const Hello&) = default;
};

// Master -> node: you are `id` in its `incarnation`; here is the run. The node loads data, compiles and
// measures itself, then sends Join.
struct Welcome {
  RunId run;
  std::uint32_t id = 0;  // MemberId of a W-slave, ServerId of a P-slave
  Incarnation incarnation;
  SyncOptions sync;                       // what the roles need of the run
  std::string run_text;                   // the run file in canonical form, for the node
  std::vector<std::string> allowed_keys;  // to a P-slave: who may dial it

  friend bool operator==(const Welcome&, const Welcome&) = default;
};

// Node -> Master, repeated until Go: I am ready to work.
struct Join {
  double samples_per_s = 0;  // W-slave: measured on itself, at the batch it expects; 0 = not measured

  friend bool operator==(const Join&, const Join&) = default;
};

// Node -> Master, repeated until Farewell: I am going; take me out of the view. A W-slave sends it after its
// last CommitAck; a P-slave's chunks move to others in the view change.
struct Leave {
  friend bool operator==(const Leave&, const Leave&) = default;
};

// Master -> node: you are out, as you asked; nothing of yours is outstanding.
struct Farewell {
  friend bool operator==(const Farewell&, const Farewell&) = default;
};

enum class RefuseReason : std::uint8_t {
  kOtherRun,      // header names another run
  kOtherVersion,  // header names another protocol version
  kStale,         // incarnation is not the current one: say Hello again
  kUnknown,       // peer never said Hello to this Master: say Hello again
  kBadMessage,    // content breaks the schema or the protocol; counted, changes nothing
  kEnded,         // the run is over
  kNameTaken,     // a live node has this name: ask again later, or take another name
};

// Anyone -> sender of something that cannot be served.
struct Refuse {
  RefuseReason reason = RefuseReason::kUnknown;
  Incarnation refused;  // the incarnation that was refused; a refusal of an earlier life is ignored
  std::string text;     // for a person

  friend bool operator==(const Refuse&, const Refuse&) = default;
};

// Master -> all: the run is over; end the process.
struct Stop {
  bool failed = false;
  std::string text;

  friend bool operator==(const Stop&, const Stop&) = default;
};

// ---- Life signs

// Node -> Master, every heartbeat interval, by the actor that never computes. The numbers are totals since
// Welcome. Also W-slave or P-slave -> P-slaves of its view, with the sequence alone.
struct Heartbeat {
  std::uint64_t sequence = 0;
  Clock committed;                 // acknowledged by every shard
  std::int64_t samples = 0;        // computed
  Duration busy{};                 // computing
  Duration waiting{};              // for leases, pulls and acks, with nothing to compute
  std::uint64_t keys_version = 0;  // P-slave: of the AllowedKeys that it holds; 0: those of Welcome
  // P-slaves of my view that have not answered me for failure_timeout: the Master decides who of us goes.
  std::vector<PeerId> silent;

  friend bool operator==(const Heartbeat&, const Heartbeat&) = default;
};

// Who got a Heartbeat -> its sender: heard.
struct HeartbeatReply {
  std::uint64_t sequence = 0;

  friend bool operator==(const HeartbeatReply&, const HeartbeatReply&) = default;
};

// Master -> P-slave, when the list has changed, repeated until a Heartbeat shows its version: who may dial it
// now.
struct AllowedKeys {
  std::uint64_t version = 0;  // grows with every change, over the Master's terms
  std::vector<std::string> keys;

  friend bool operator==(const AllowedKeys&, const AllowedKeys&) = default;
};

// ---- Samples

// Member -> Master, repeated until answered: my leases run out at `next`. With `idle` everything that I
// computed is acknowledged and I have nothing left; if nothing is left for me either, I go to stand-by.
struct LeaseRequest {
  Clock next;       // first clock that I hold no lease for
  Clock committed;  // acknowledged by every shard
  bool idle = false;

  friend bool operator==(const LeaseRequest&, const LeaseRequest&) = default;
};

// Master -> member: all leases from `LeaseRequest::next` on, ascending by clock. Good for the view of the
// envelope.
struct LeaseGrant {
  std::vector<Lease> leases;

  friend bool operator==(const LeaseGrant&, const LeaseGrant&) = default;
};

// ---- A clock

// Member -> owner of `shard`: the parameters for `clock`, please. Answered when clock - c_min <= bound and
// when at least `after` of my own commits are in; parked until then. A later pull replaces this one. Carries
// Commit{committed}.
struct Pull {
  ShardId shard;
  Clock clock;
  Clock after;
  Clock committed;

  friend bool operator==(const Pull&, const Pull&) = default;
};

// Owner -> member: the chunks of the shard. Counts as CommitAck{committed}.
struct PullReply {
  ShardId shard;
  Clock clock;
  Clock committed;
  Clock c_min;  // as it was when the pull was granted
  // Learning rate x the batches that will be committed before the member's answer is applied. The member
  // steps ahead by this much along its own last mean gradient, which stands for the gradients that are on
  // their way. 0: it does not.
  double ahead_rate = 0;
  Encoding encoding = Encoding::kF32;
  std::vector<ChunkData> chunks;

  friend bool operator==(const PullReply&, const PullReply&) = default;
};

// Member -> owner of `shard`: part of my gradient for `clock`, summed over the samples. Replaces what is held
// for that chunk and clock. Kept as it came until committed; acknowledged when every chunk of the shard is
// held.
struct Push {
  ShardId shard;
  Clock clock;
  LeaseId lease;
  IntervalSet trained;       // positions that the data loader handed to the arithmetic
  std::uint64_t digest = 0;  // sum of sample_digest over the samples loaded
  double loss_sum = 0;
  std::int64_t correct = 0;
  Encoding encoding = Encoding::kF32;
  std::vector<ChunkData> chunks;

  friend bool operator==(const Push&, const Push&) = default;
};

// Owner -> head: every chunk of (shard, clock) is held, here and at the backup.
struct PushAck {
  ShardId shard;
  Clock clock;
  LeaseId lease;

  friend bool operator==(const PushAck&, const PushAck&) = default;
};

// Head -> owner, when every shard has acknowledged: clocks below `committed` count now. Usually rides in the
// next Pull.
struct Commit {
  ShardId shard;
  Clock committed;

  friend bool operator==(const Commit&, const Commit&) = default;
};

// Owner -> head: clocks below `committed` are applied (bsp: closed).
struct CommitAck {
  ShardId shard;
  Clock committed;

  friend bool operator==(const CommitAck&, const CommitAck&) = default;
};

// ---- View change

// Master -> P-slaves of the last active view `base`: an attempt begins. Serve nothing until a Cut. Answer
// Report.
struct Prepare {
  View next;
  View base;

  friend bool operator==(const Prepare&, const Prepare&) = default;
};

struct ReportedMember {
  MemberKey key;
  Clock committed;    // max over this P-slave's copies (bsp: closed clocks)
  Clock granted_end;  // first clock never granted here: what lies below may have been begun

  friend bool operator==(const ReportedMember&, const ReportedMember&) = default;
};

// P-slave -> Master: what I know of base's members, joiners of later attempts left out.
struct Report {
  View next;
  View base;
  std::vector<ReportedMember> members;
  IntervalSet ledger;               // positions of all commits received here
  std::optional<ViewRecord> newer;  // I know this active view, later than `base`: start from it

  friend bool operator==(const Report&, const Report&) = default;
};

struct CutMember {
  MemberKey key;
  Clock committed;  // V: apply up to here

  friend bool operator==(const CutMember&, const CutMember&) = default;
};

// Who has chunks of the base view at the cut: their owner, or its backup when the owner is lost.
struct ChunkSource {
  ServerRecord server;          // may be leaving: not part of the new record
  std::vector<ChunkId> chunks;  // ascending

  friend bool operator==(const ChunkSource&, const ChunkSource&) = default;
};

// Master -> P-slaves of the new view, and those that leave with it: bring every copy to exactly these
// commits, fetch the copies that the record gives you and you lack, then answer Done.
struct Cut {
  ViewRecord record;
  View base;
  std::vector<CutMember> members;  // of base, leavers included
  IntervalSet ledger;              // what the cut amounts to; checked against the copies' own
  // freeze the parameters of the cut under this id, dropping an earlier one
  std::optional<SnapshotId> snapshot;
  std::vector<ChunkSource>
      sources;  // every chunk once; none: the run begins, chunks have their initial values

  friend bool operator==(const Cut&, const Cut&) = default;
};

// P-slave -> Master: the cut is made.
struct Done {
  View view;
  std::uint64_t ledger_digest = 0;
  std::uint64_t log_end = 0;  // sequence number after my last commit-log entry

  friend bool operator==(const Done&, const Done&) = default;
};

// Master -> members, those on stand-by, and P-slaves: the view is active. To a member: stand at record's n;
// these are the leases that you keep or get; whatever else you began is void.
struct Go {
  ViewRecord record;
  std::vector<Lease> leases;

  friend bool operator==(const Go&, const Go&) = default;
};

// ---- Copies: owner and backup

// Nothing follows in this stream.
struct StreamEnd {
  friend bool operator==(const StreamEnd&, const StreamEnd&) = default;
};

// Owner -> backup of `shard`, repeated until acknowledged: entry `sequence`, from 1, of what the owner
// accepted in view `stream`, in its order. The backup takes entries in order and does with each what the
// owner does, so that both copies see the same pushes, commits and applies; after the end of the stream they
// are equal at the cut.
struct Replicate {
  ShardId shard;
  View stream;
  std::uint64_t sequence = 0;
  MemberKey member;  // whose push or commit; of no meaning at the end
  std::variant<Push, Commit, StreamEnd> entry;

  friend bool operator==(const Replicate&, const Replicate&) = default;
};

// Backup -> owner: every entry up to `upto` is here.
struct ReplicateAck {
  ShardId shard;
  View stream;
  std::uint64_t upto = 0;

  friend bool operator==(const ReplicateAck&, const ReplicateAck&) = default;
};

// P-slave -> source of a Cut, repeated until answered: these chunks as they are at the cut of `next`.
struct FetchChunks {
  View next;
  std::vector<ChunkId> chunks;  // ascending, not empty

  friend bool operator==(const FetchChunks&, const FetchChunks&) = default;
};

// Source -> P-slave, when its own cut is made: each chunk's whole state (parameters, then optimiser state,
// then weight average, as far as the run has them), as one frame that the executors pack and unpack.
struct ChunkStates {
  View next;
  Encoding encoding = Encoding::kF32;
  std::vector<ChunkData> chunks;

  friend bool operator==(const ChunkStates&, const ChunkStates&) = default;
};

// ---- Proof: the log of what was trained

struct CommitLogEntry {
  MemberKey member;
  Clock clock;
  IntervalSet trained;
  std::uint64_t digest = 0;
  double loss_sum = 0;
  std::int64_t correct = 0;
  std::int64_t staleness = 0;  // clock - c_min when its pull was granted
  std::int64_t delay = 0;      // updates by others between its pull and its apply

  friend bool operator==(const CommitLogEntry&, const CommitLogEntry&) = default;
};

// P-slave -> Master, repeated until acknowledged: entries [first, first + size) of my log.
struct CommitLog {
  std::uint64_t first = 0;
  std::vector<CommitLogEntry> entries;

  friend bool operator==(const CommitLog&, const CommitLog&) = default;
};

// Master -> P-slave: everything before `next` is written down.
struct CommitLogAck {
  std::uint64_t next = 0;

  friend bool operator==(const CommitLogAck&, const CommitLogAck&) = default;
};

// ---- Evaluation on a frozen picture

// Master -> W-slave, repeated until answered: run test samples [first, last) through snapshot `snapshot`.
struct Evaluate {
  SnapshotId snapshot;
  std::uint32_t task = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
  ViewRecord record;  // where the chunks of the snapshot are

  friend bool operator==(const Evaluate&, const Evaluate&) = default;
};

struct SnapshotPull {
  SnapshotId snapshot;
  ShardId shard;

  friend bool operator==(const SnapshotPull&, const SnapshotPull&) = default;
};

struct SnapshotReply {
  SnapshotId snapshot;
  ShardId shard;
  Encoding encoding = Encoding::kF32;
  std::vector<ChunkData> chunks;

  friend bool operator==(const SnapshotReply&, const SnapshotReply&) = default;
};

struct EvaluateResult {
  SnapshotId snapshot;
  std::uint32_t task = 0;
  std::int64_t correct = 0;
  double loss_sum = 0;
  std::int64_t count = 0;

  friend bool operator==(const EvaluateResult&, const EvaluateResult&) = default;
};

// ---- Watching

// `convoy status` -> Master. Needs no Hello.
struct StatusRequest {
  friend bool operator==(const StatusRequest&, const StatusRequest&) = default;
};

struct StatusReply {
  std::string json;  // as docs and `convoy status --json` print it

  friend bool operator==(const StatusReply&, const StatusReply&) = default;
};

// ---- Faults, injected on purpose

// Somebody who watches -> Master, which writes it down, and Master -> the node that is to suffer it.
struct Inject {
  std::uint64_t id = 0;  // drawn by who asks: a repeat is the same fault
  FaultKind kind = FaultKind::kKill;
  std::string target;  // a node's name, "master", "any-w-slave", "any-p-slave"
  std::string to;      // of a link: the node at its other end; empty: all
  PeerId peer;         // the same, from the Master to the node; 0: all
  double for_s = 0;    // 0: to the end
  double factor = 1;
  double probability = 1;
  double delay_ms = 0;
  std::uint64_t seed = 0;
  bool done = false;  // it has happened; to be written down only

  friend bool operator==(const Inject&, const Inject&) = default;
};

// Master -> who asked: it is written down, and on its way.
struct Injected {
  std::uint64_t id = 0;
  std::string text;  // for a person

  friend bool operator==(const Injected&, const Injected&) = default;
};

using Message = std::variant<Hello, Welcome, Join, Leave, Farewell, Refuse, Stop, Heartbeat, HeartbeatReply,
                             LeaseRequest, LeaseGrant, Pull, PullReply, Push, PushAck, Commit, CommitAck,
                             Prepare, Report, Cut, Done, Go, CommitLog, CommitLogAck, Evaluate, SnapshotPull,
                             SnapshotReply, EvaluateResult, StatusRequest, StatusReply, Replicate,
                             ReplicateAck, FetchChunks, ChunkStates, AllowedKeys, Inject, Injected>;

// What a role sends and receives. Run id and protocol version are the node's to add and to check; they never
// reach a role.
struct Envelope {
  View view;  // that the sender stands in; {0,0} before its first
  PeerId from;
  Incarnation incarnation;  // of the sender; 0 before Welcome, and for the Master
  Message message;

  friend bool operator==(const Envelope&, const Envelope&) = default;
};

const char* name_of(const Message& message);

// One line for people and transcripts: name and the fields that matter, tensors as sizes.
std::string describe(const Message& message);

}  // namespace convoy
