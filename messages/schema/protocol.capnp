@0xd4d6b3e4c35628b6;
# The protocol of Convoy: who says what to whom, when, and what follows from it.
#
# A run trains one model on machines of different speed that come and go. Three roles take part.
#
# - The **Master** knows who is there, decides *views*, hands out sample positions (*leases*) and never sees a
#   gradient.
# - A **W-slave** computes. It carries a whole replica of the model, or one segment of it; the first W-slave
#   of a replica is its *head* and speaks for it. As the protocol sees it, a replica is a *member*: an id and
#   an incarnation, the number of the life that it lives now.
# - A **P-slave** owns some *chunks* of the parameters (contiguous runs of one tensor) with their optimiser
#   state, applies gradients to them, and holds back members that would run too far ahead.
#
# W-slaves dial the Master and the P-slaves; P-slaves dial the Master and each other. Nothing dials a W-slave,
# so one behind NAT works.
#
# ## A clock
#
# Members count their committed updates; the count is the member's *clock*, and also names the update that it
# works on now. c_min is the least clock of the members of the view. The run's delay bound s says how far
# ahead of c_min anybody may be: 0 (bulk synchronous), a number, a range, or none. Clock c of a member goes
# like this.
#
#     Master            member                            P-slave, one a shard           backup
#       | LeaseGrant ---->|  positions for c                       |                       |
#       |                 | Pull{c, after n, committed} ---------->|  parked until         |
#       |                 |                                        |  c - c_min <= s       |
#       |                 |<--------------- PullReply{c, c_min} ---|  and own commits >= n |
#       |                 |  forward, backward                     |                       |
#       |                 | Push{c, lease, chunks} --------------->| ----(as it came)----->|
#       |                 |<-------------------- PushAck{c, lease}-|<--- held -------------|
#       |                 |  all shards have acknowledged          |                       |
#       |                 | Commit{c + 1}, in the next Pull ------>| --------------------->|
#       |                 |<--- CommitAck{c + 1}, or a PullReply --|  applied <------------|
#
# 1. The member holds a lease that says which samples it trains at c. Leases are given ahead, so nobody waits
#    for the Master.
# 2. It pulls from every shard. A P-slave answers when c - c_min <= s, and when at least `after` of the
#    member's own commits are in (c normally; c - 1 when it pulls ahead, which hides the wire behind the
#    arithmetic). Until then the pull is parked. The latest pull replaces an earlier one.
# 3. It pushes gradients layer by layer as the backward pass makes them. A push *replaces* what is held for
#    that chunk and clock; nothing is added up before its commit, and parts are kept byte for byte. When all
#    of the member's chunks of the shard are held, at the owner and at its backup, the owner acknowledges.
# 4. With the acknowledgements of *all* shards, given in the present view, the head commits: clocks below
#    `committed` count. The backup has the commit before the owner applies it, and only what is applied shows
#    in c_min, in answers and in CommitAck. A member's pushes go one clock at a time.
#
# So an update is applied on all shards or on none, whoever dies in between. In bulk synchronous runs a clock
# is applied when every member has committed it, summed in the order of member ids, and `committed` counts
# such *closed* clocks.
#
# The set of committed positions, the *ledger*, is part of every shard and changes with the same commit. What
# is left to train is its complement; a lost lease loses no sample.
#
# ## View change: the one mechanism
#
# A join, a leave, a crash, an evaluation, a checkpoint: each is a new view, made by cutting the run at one
# agreed point. An attempt starts from the last *active* view, the base; a new event starts a higher attempt.
#
#     Master                                      P-slaves of base / of the new view          members
#       | Prepare{next, base} ----------------------->|  serve nothing from here              |
#       |<------- Report{commits per member, ledger} -|                                       |
#       |  V = max over reports, for every member     |                                       |
#       | Cut{record, V, ledger} -------------------->|  apply up to V on every copy          |
#       |<------------------------------------- Done -|                                       |
#       |  journal: the view is active                |                                       |
#       | Go{record} -------------------------------->|  permission to forget                 |
#       | Go{record, leases} ---------------------------------------------------------------->|  stand at n
#
# A member that stands at n after Go goes on with the work whose (clock, lease) Go names: it pushes again to
# the owners of the new view and sends its pulls again. Everything else that it began is void. Until Go nobody
# frees a chunk, forgets a leaver or drops a push. Who crashed is left out of the new view; who joins loads
# data, compiles and measures itself *before* it asks, and repeats Join until Go, so a slow joiner blocks
# nobody. When a cut's ledger is full, training ends at that cut.
#
# ## Copies
#
# A chunk outlives its owner in a backup. In each view the owner of a shard that has one numbers what it accepts,
# pushes and commits, from 1 on, and streams it there (Replicate); the backup takes the entries in order and does
# with each what the owner does. What the owner tells a member waits for ReplicateAck: PushAck until the pushes are
# there, the apply until the commit is. After the end of the stream both are equal. Chunks change hands at a cut:
# Cut names who has each, and who is given a chunk that it lacks fetches its whole state (FetchChunks, ChunkStates)
# before its Done.
#
# ## What may be repeated
#
# Every request, any number of times, and it is: until answered. Counts and clocks are absolute, never "one
# more", so that a repeat, a duplicate or a late arrival means what the first meant. Both ends take only
# messages of their present view, except those that make the next one. Messages may be lost, doubled and
# reordered on the way.
#
# | request | answered by | repeated means |
# | --- | --- | --- |
# | Hello | Welcome or Refuse | the same id and incarnation; from another peer of that name, a new life |
# | Join | Go | the same wish |
# | Leave | Farewell | the same wish |
# | Heartbeat | HeartbeatReply | newer totals replace older ones |
# | LeaseRequest | LeaseGrant | the same leases again, unless the view changed |
# | Pull | PullReply | replaces the parked one |
# | Push | PushAck | replaces what is held for the chunk and clock |
# | Commit | CommitAck | committed = max |
# | Prepare | Report | the same report |
# | Cut | Done | the cut is made once |
# | Go | first message of the view | permission once given stays given |
# | CommitLog | CommitLogAck | entries are numbered |
# | Evaluate | EvaluateResult | the same task |
# | Replicate | ReplicateAck | entries are numbered |
# | FetchChunks | ChunkStates | the same bytes |
# | SnapshotPull | SnapshotReply | the same bytes |
# | StatusRequest | StatusReply | a newer answer |
# | AllowedKeys | its version in a Heartbeat | the same list |
# | Inject | Injected | the same fault |
#
# ## On the wire
#
# A message is one header frame, which holds a `Header` in Cap'n Proto's standard stream framing, followed by
# tensor frames. How many, and of which sizes, the header says (`ChunkBytes`). Frames of unknown origin are
# taken to be hostile: the codec bounds every count and size before it uses it (codec/limits.h), and refuses
# whatever breaks a rule stated here. Text is UTF-8 without control characters (long text may hold line ends
# and tabs), since it ends on somebody's terminal and in JSON. A bad message changes nothing at its receiver;
# its sender is told (`Refuse`) and counted.
#
# ## Changing this file
#
# Fields and messages may be added at the end; an older receiver does not see a new field, and refuses a new
# message as unknown. Whoever changes what an existing field means, or adds a field that a receiver must not
# overlook, raises `kProtocolVersion` (messages.h), and nodes of different versions refuse each other in
# words.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("convoy::wire");

using N = import "node.capnp";
using V = import "view.capnp";

struct Header {
  # First frame of every message.

  # The fields before the union keep their place and meaning in *every* version of the protocol, so that a
  # node can always tell who speaks, and in which version.

  protocolVersion @0 :UInt16;
  # The sender's. Never 0. The receiver looks at this before anything else; of another version it reads only
  # the fields before the union, and a Refuse.

  runId @1 :UInt64;
  # The run that the sender belongs to; 0 in a Hello or StatusRequest of one that does not know yet. The
  # receiver answers another run's messages with Refuse.

  sender @2 :UInt64;
  # The running instance that speaks, drawn at random by itself when it started. A restarted process is
  # another sender.

  senderIncarnation @3 :UInt32;
  # As given in Welcome; 0 before that, and from the Master. Of a life that is over the receiver takes nothing
  # but a Hello: a frozen node that wakes up is refused and joins afresh.

  view :group {
    # The view that the sender stands in; {0, 0} before its first. Requests and answers of a clock count only
    # when this is also the receiver's view; so a stray of an earlier view can do no harm.

    term @4 :UInt32;
    attempt @5 :UInt32;
  }

  union {
    # Becoming part of a run
    hello @6 :N.Hello;
    welcome @7 :N.Welcome;
    join @8 :N.Join;
    leave @9 :N.Leave;
    farewell @10 :N.Farewell;
    refuse @11 :N.Refuse;
    stop @12 :N.Stop;

    # Life signs
    heartbeat @13 :N.Heartbeat;
    heartbeatReply @14 :N.HeartbeatReply;

    # Samples
    leaseRequest @15 :LeaseRequest;
    leaseGrant @16 :LeaseGrant;

    # A clock
    pull @17 :Pull;
    pullReply @18 :PullReply;
    push @19 :Push;
    pushAck @20 :PushAck;
    commit @21 :Commit;
    commitAck @22 :CommitAck;

    # View change
    prepare @23 :Prepare;
    report @24 :Report;
    cut @25 :Cut;
    done @26 :Done;
    go @27 :Go;

    # Proof of what was trained
    commitLog @28 :CommitLog;
    commitLogAck @29 :CommitLogAck;

    # Evaluation
    evaluate @30 :Evaluate;
    snapshotPull @31 :SnapshotPull;
    snapshotReply @32 :SnapshotReply;
    evaluateResult @33 :EvaluateResult;

    # Watching
    statusRequest @34 :StatusRequest;
    statusReply @35 :StatusReply;

    # Copies
    replicate @36 :Replicate;
    replicateAck @37 :ReplicateAck;
    fetchChunks @38 :FetchChunks;
    chunkStates @39 :ChunkStates;

    # Keys that come and go
    allowedKeys @40 :N.AllowedKeys;

    # Faults
    inject @41 :Inject;
    injected @42 :Injected;
  }
}

enum Encoding {
  # How the bytes of a tensor frame are to be read. Parties agree by the run file; the receiver refuses a
  # frame of another encoding. Numbers are little-endian.

  f32 @0;
  f64 @1;        # reference back end in double precision
  f16 @2;        # IEEE half precision
  threshold @3;  # sparse: see kernels/reference for the layout
  topK @4;       # sparse: see kernels/reference for the layout
}

# ========================================================================================
# Samples

struct Lease {
  # Sample positions that one member is to train at one clock. Good for the view in which it was given, and
  # for the next if its Go names it again.

  id @0 :UInt64;
  # Never used twice within a term. Pushes and acks carry it, so that work under a lease that ended is told
  # apart from work under its successor of the same clock.

  clock @1 :Int64;
  positions @2 :List(V.Interval);
}

struct LeaseRequest {
  # Member -> Master, repeated until answered: my leases run out.

  next @0 :Int64;
  # First clock that I hold no lease for.

  committed @1 :Int64;
  # Acknowledged by every shard.

  idle @2 :Bool;
  # Everything that I computed is acknowledged, and I have nothing left to do. If the Master has nothing left
  # for me either, it puts me on stand-by by a view change, so that I do not hold back c_min. Sent only after
  # the last CommitAck.
}

struct LeaseGrant {
  # Master -> member, for the view in the header.

  leases @0 :List(Lease);
  # All that the member holds from LeaseRequest.next on, ascending by clock, one a clock. The member replaces
  # what it held from there on.
}

# ========================================================================================
# A clock

struct Pull {
  # Member -> owner of `shard`: the parameters for `clock`, please. The owner parks it until the delay bound
  # and `after` allow, then answers PullReply. A later pull replaces this one. Carries Commit{committed}.

  shard @0 :UInt32;
  clock @1 :Int64;

  after @2 :Int64;
  # The answer must contain this many of my own commits: `clock`, or one less when I pull ahead.

  committed @3 :Int64;
}

struct PullReply {
  # Owner -> member: the chunks of the shard. Counts as CommitAck{committed}. The member starts a layer's
  # forward pass when the layer's chunks are there.

  shard @0 :UInt32;
  clock @1 :Int64;

  committed @2 :Int64;
  # Of the member, here.

  cMin @3 :Int64;
  # As it was when the pull was granted. clock - cMin is the staleness that the run reports; it never exceeds
  # the bound.

  encoding @4 :Encoding;

  chunks @5 :List(V.ChunkBytes);
  # In the order of the forward pass.

  aheadRate @6 :Float64;
  # Learning rate x the batches that will have been committed, by anybody, between this answer and the apply of what is
  # computed from it. The member steps ahead by so much along its own last mean gradient, which stands for the gradients
  # that are on their way; the owner has moved the chunks ahead along the momentum already. With one member that
  # pulls ahead this is its own missing update exactly. 0: no step ahead. Finite, not negative.
}

struct Push {
  # Member -> owner of `shard`: part of my gradient for `clock`, summed over the samples. The owner keeps the
  # bytes as they are, in place of what it held for the same chunk and clock, until they are committed; it
  # acknowledges when it and the backup hold every chunk of the shard.

  shard @0 :UInt32;
  clock @1 :Int64;

  lease @2 :UInt64;
  # The lease that I trained under. The owner drops parts of the same clock that came under another.

  trained @3 :List(V.Interval);
  # Positions that the data loader handed to the arithmetic. They go into the ledger and the log with the
  # commit; so samples are counted by what was trained, not by what was handed out.

  digest @4 :UInt64;
  # Sum of a hash of (epoch, sample) over the samples that were loaded, modulo 2^64. `convoy verify` holds it
  # against the data set.

  lossSum @5 :Float64;
  # Over the samples. Positive infinity says that the training diverged; never NaN or negative infinity.

  correct @6 :Int64;
  # Samples that the model classified correctly, before the update.

  encoding @7 :Encoding;

  chunks @8 :List(V.ChunkBytes);
  # Any part of the shard's chunks, in any order.
}

struct PushAck {
  # Owner -> head: every chunk of (shard, clock, lease) is held, here and at the backup. It counts in the view
  # of its header only: after a view change the parts are pushed and acknowledged again.

  shard @0 :UInt32;
  clock @1 :Int64;
  lease @2 :UInt64;
}

struct Commit {
  # Head -> owner, when every shard has acknowledged. Usually rides in the next Pull; sent by itself when
  # there is none to come.

  shard @0 :UInt32;

  committed @1 :Int64;
  # My clocks below this count now. The owner passes it to the backup and, when that has it, applies.
}

struct CommitAck {
  # Owner -> head.

  shard @0 :UInt32;

  committed @1 :Int64;
  # Your clocks below this are applied (bulk synchronous: closed).
}

# ========================================================================================
# View change

struct Prepare {
  # Master -> P-slaves of the last active view: an attempt begins. The P-slave serves nothing until a Cut, and
  # answers Report. It ignores an attempt that is not higher than the highest it knows.

  next @0 :V.View;
  # Higher than base.

  base @1 :V.View;
}

struct Report {
  # P-slave -> Master: what I know of base's members. Frozen: until the Cut nothing of it changes.

  next @0 :V.View;
  base @1 :V.View;

  struct Member {
    id @0 :UInt32;
    incarnation @1 :UInt32;

    committed @2 :Int64;
    # The most over my copies, owned and backup (bulk synchronous: closed clocks).

    grantedEnd @3 :Int64;
    # First clock that I never granted: what lies below may have been begun. The Master lets Go confirm leases
    # of such clocks.
  }
  members @2 :List(Member);
  # Base's members only, ascending by id; joiners of attempts that failed are left out.

  ledger @3 :List(V.Interval);
  # Positions of all commits received here.

  newer @4 :V.ViewRecord;
  # Null, or: I know that this view, later than `base`, was active. The Master starts again from it.
}

struct Cut {
  # Master -> P-slaves of the new view, and those that leave with it: bring every copy to exactly these commits,
  # fetch the copies that the record gives you and you lack, then answer Done. Serve nothing before Go, or before a
  # member's first message of the view, which is Go's proof.

  record @0 :V.ViewRecord;

  base @1 :V.View;

  struct Member {
    id @0 :UInt32;
    incarnation @1 :UInt32;

    committed @2 :Int64;
    # The greatest of the reports: apply up to here. All pushes below are held, since a commit follows the
    # acks of all shards.
  }
  members @2 :List(Member);
  # Of base, leavers included, ascending by id.

  ledger @3 :List(V.Interval);
  # What the cut amounts to. The P-slave holds it against its copies' own.

  snapshot :union {
    # Freeze the parameters of the cut under this id, dropping an earlier picture.

    none @4 :Void;
    id @5 :UInt32;
  }

  struct Source {
    # Who has chunks of the base view at the cut: their owner, or its backup when the owner is lost.

    server @0 :V.ServerRecord;
    # Where to ask. It may be leaving, and so be missing in the record.

    chunks @1 :List(UInt32);
    # Ascending.
  }
  sources @6 :List(Source);
  # Every chunk once, no server twice. Whoever is given a chunk that it lacks asks here (FetchChunks). Empty: the run
  # begins, and chunks have the initial values that every node derives from the run file. Must not be overlooked:
  # since version 2.
}

struct Done {
  # P-slave -> Master: the cut is made. With every Done the Master journals the view as active and sends Go.

  view @0 :V.View;

  ledgerDigest @1 :UInt64;
  # All shards must agree on it.

  logEnd @2 :UInt64;
  # Sequence number after my last commit-log entry: the Master waits for the log up to here before it calls
  # the run finished.
}

struct Go {
  # Master -> members, those on stand-by, and P-slaves: the view is active. A P-slave may now forget what the
  # record does not name. A member stands at its n.

  record @0 :V.ViewRecord;

  leases @1 :List(Lease);
  # To a member: the leases that you keep or get, ascending by clock. Whatever else you began is void. On a
  # rebalance only those of clocks already begun, so that new batch sizes count at once; after a Master
  # restart or a roll-back none.
}

# ========================================================================================
# Copies: owner and backup

struct Replicate {
  # Owner -> backup of `shard`, repeated until acknowledged: an entry of the stream of what the owner accepted. The
  # backup takes the next entry and no other, answers what it has, and does with each what the owner does: so both
  # copies see the same pushes, commits and applies.

  shard @0 :UInt32;
  # In the record of `stream`.

  stream @1 :V.View;
  # The view in which the owner accepted it. Each view has a stream of its own. Who has no copy of that shard in that
  # view ignores the entry.

  sequence @2 :UInt64;
  # Place in the stream: 1, 2, ... Never 0.

  member @3 :UInt32;
  incarnation @4 :UInt32;
  # Whose push or commit: a member of that view. Of no meaning at the end.

  entry :union {
    push @5 :Push;
    # As it came, tensor frames and all. Its shard is that of the stream.

    commit @6 :Commit;
    # As it came, or as a Pull carried it. Its shard is that of the stream.

    end @7 :Void;
    # Nothing follows in this stream: the owner serves no more in that view. With this entry the backup is equal to the
    # owner as it stands at the cut.
  }
}

struct ReplicateAck {
  # Backup -> owner: every entry up to `upto` is here. The owner repeats those above, and lets what waited for those
  # below go on.

  shard @0 :UInt32;
  stream @1 :V.View;

  upto @2 :UInt64;
  # 0: none yet.
}

struct FetchChunks {
  # P-slave -> source that a Cut names, repeated until answered: these chunks as they are at the cut. The source
  # answers when its own cut of that view is made.

  next @0 :V.View;
  # View of the Cut's record.

  chunks @1 :List(UInt32);
  # Ascending, at least one: all that the sender wants of this source. A later request replaces an earlier one.
}

struct ChunkStates {
  # Source -> P-slave: exactly the chunks that it asked for, in any order. The P-slave puts them in place of what it may
  # hold of them, and answers Done when it lacks none and its own copies are at the cut.

  next @0 :V.View;
  # As asked. An answer of another cut than the receiver's is dropped.

  encoding @1 :Encoding;

  chunks @2 :List(V.ChunkBytes);
  # Each chunk's whole state in one frame: parameters, then optimiser state, then weight average, as far as the run has
  # them. The executors of both ends pack and unpack it by the run file; the receiver refuses a frame of another size
  # than its run has.
}

# ========================================================================================
# Proof: the log of what was trained

struct CommitLogEntry {
  # One committed clock of one member, as its P-slave saw it.

  member @0 :UInt32;
  incarnation @1 :UInt32;
  clock @2 :Int64;
  trained @3 :List(V.Interval);
  digest @4 :UInt64;
  lossSum @5 :Float64;  # as in Push
  correct @6 :Int64;

  staleness @7 :Int64;
  # clock - c_min when its pull was granted.

  delay @8 :Int64;
  # Updates by others between its pull and its apply.
}

struct CommitLog {
  # P-slave -> Master, repeated until acknowledged: entries first, first + 1, ... of my log. The Master writes
  # what it does not have yet.

  first @0 :UInt64;
  entries @1 :List(CommitLogEntry);
}

struct CommitLogAck {
  # Master -> P-slave: everything before `next` is written down. The P-slave may forget it.

  next @0 :UInt64;
}

# ========================================================================================
# Evaluation on a frozen picture

struct Evaluate {
  # Master -> W-slave, repeated until answered: run test samples [first, last) through the snapshot.

  snapshot @0 :UInt32;

  task @1 :UInt32;
  # Which of the snapshot's slices; the result carries it back.

  first @2 :Int64;
  last @3 :Int64;

  record @4 :V.ViewRecord;
  # Where the chunks of the snapshot are.
}

struct SnapshotPull {
  # W-slave -> owner of `shard`: the frozen chunks, please. Answered whatever the view, as long as the
  # snapshot is kept.

  snapshot @0 :UInt32;
  shard @1 :UInt32;
}

struct SnapshotReply {
  # Owner -> W-slave.

  snapshot @0 :UInt32;
  shard @1 :UInt32;
  encoding @2 :Encoding;
  chunks @3 :List(V.ChunkBytes);
}

struct EvaluateResult {
  # W-slave -> Master. The first result of a task counts.

  snapshot @0 :UInt32;
  task @1 :UInt32;

  correct @2 :Int64;
  # At most count.

  lossSum @3 :Float64;
  # As in Push.

  count @4 :Int64;
  # Samples evaluated.
}

# ========================================================================================
# Watching

struct StatusRequest {
  # `convoy status` -> Master. Needs no Hello, and changes nothing.
}

struct StatusReply {
  # Master -> whoever asked.

  json @0 :Text;
  # As `convoy status --json` prints it.
}

# ========================================================================================
# Faults, injected on purpose

enum FaultKind {
  # What happens to the target; docs/faults.md says how.

  kill @0;
  freeze @1;
  slow @2;
  leave @3;
  join @4;
  partition @5;
  drop @6;
  delay @7;
  duplicate @8;
  reorder @9;
  corrupt @10;
  diskFull @11;
}

struct Inject {
  # Whoever watches -> Master, which writes it down; Master -> the node that is to suffer it. Nodes take it
  # from nobody else.

  id @0 :UInt64;
  # Drawn by who asks: a repeat is the same fault.

  kind @1 :FaultKind;

  target @2 :Text;
  # A node's name, "master", "any-w-slave" or "any-p-slave".

  to @3 :Text;
  # Of a link: the node at its other end; empty: all.

  peer @4 :UInt64;
  # The same, from the Master to the node; 0: all.

  forS @5 :Float64;
  # 0: to the end. This and the following numbers are finite and not negative.

  factor @6 :Float64;
  probability @7 :Float64;
  delayMs @8 :Float64;
  seed @9 :UInt64;

  done @10 :Bool;
  # It has happened already, and is to be written down only.
}

struct Injected {
  # Master -> who asked: it is written down, and on its way.

  id @0 :UInt64;
  text @1 :Text;
}
