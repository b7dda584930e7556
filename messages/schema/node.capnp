@0x8d3c3638884682be;
# How a node becomes part of a run, shows that it lives, and goes. The protocol itself is told in protocol.capnp.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("convoy::wire");

# ========================================================================================
# Becoming part of a run

enum RoleKind {
  master @0;
  worker @1;    # W-slave
  server @2;    # P-slave
  observer @3;  # watches, takes no part
}

struct Hello {
  # Node -> Master, the first message, repeated until answered: who I am. The Master answers Welcome, or
  # Refuse with the reason in words.

  role @0 :RoleKind;

  name @1 :Text;
  # From the node file; stable over restarts. The Master gives a name that it has seen the same id again, in a
  # new incarnation. While it takes the holder of the name for alive it refuses (nameTaken), unless `previous`
  # proves that this is the holder.

  host @2 :Text;
  # For people: status, summary.

  device @3 :Text;
  # Of a W-slave, for people and the planner: "cpu", "reference", "reference64", "cuda:0", ...

  address @4 :Text;
  # Of a P-slave: "host:port" where W-slaves and other P-slaves can dial it. The Master puts it into view records.

  buildId @5 :Text;
  # The Master logs a difference; only another protocol version is refused.

  previous @6 :UInt32;
  # My last incarnation under this Master, when I was refused and start afresh in the same process; 0 = none.
  # So the Master knows that the holder of the name is me, not a second node of the same name.

  publicKey @7 :Text;
  # Of a P-slave: its CURVE key (Z85), which the Master passes on in view records. Empty without encryption.
}

struct Welcome {
  # Master -> node: you are `id` in its `incarnation`, and this is the run. The node then loads data, compiles
  # its kernels and measures itself, and sends Join when it is ready to work.

  run @0 :UInt64;
  # The node puts it into every header from now on.

  id @1 :UInt32;
  # Member id of a W-slave, server id of a P-slave.

  incarnation @2 :UInt32;
  # The node puts it into every header from now on.

  runText @3 :Text;
  # The run file in canonical form, with the model's definition: all that a node needs to know of the run. The
  # node parses it as it would a file, and leaves with words when it cannot.

  sync @4 :SyncOptions;
  # The part of it that the roles need.

  allowedKeys @5 :List(Text);
  # To a P-slave of an encrypted run: the public keys that may dial it. It refuses all others. Later ones come
  # with AllowedKeys.
}

enum SyncMode {
  # What the delay bound is, and when a P-slave applies.

  bsp @0;      # bound 0; a clock is applied when every member has committed it
  dsp @1;      # a fixed bound; applied on commit, as in the modes below
  dynamic @2;  # a bound that the owner of chunk 0 moves between boundLow and bound
  asp @3;      # no bound
}

struct SyncOptions {
  # What all roles must agree on about synchronisation.

  mode @0 :SyncMode;

  bound @1 :Int64;
  # Clocks that a member may be ahead of c_min; the greatest Int64 says "any number".

  boundLow @2 :Int64;
  # Dynamic: granted without asking up to here. Else equal to bound; never above it.

  pullAhead @3 :Bool;
  # Members pull for c + 1 while they compute c. Never with bound 0, where nothing would answer.

  batch @4 :Int64;
  # Samples a clock of all members together. At least 1; stays when members come and go.

  failureTimeoutNs @5 :Int64;
  # The one time-out that all others are derived from. At least 1.

  sampleCount @6 :Int64;
  # Samples of the data set, at least 1. A node whose data set has another size leaves with words.

  endPosition @7 :Int64;
  # Training ends when the positions below are committed; schedules count up to it.

  pullAheadAlone @8 :Bool;
  # Of pullAhead: only in a view of one member. Its parameters then lack nothing but its own update, which it adds
  # itself; with more members every pull ahead makes gradients older.
}

struct Join {
  # Node -> Master, repeated until Go: I am ready to work. The Master starts a view change that takes it in.

  samplesPerS @0 :Float64;
  # W-slave: measured on itself, at the batch that it expects; 0 = not measured. Finite, not negative. The
  # Master cuts the first leases by it.
}

struct Leave {
  # W-slave -> Master, after its last CommitAck, repeated until Farewell: I am going, take me out of the view.
}

struct Farewell {
  # Master -> node: you are out, as you asked, and nothing of yours is outstanding. The node ends.
}

struct Refuse {
  # Anyone -> the sender of something that cannot be served. Never an answer to a Refuse. It keeps its number,
  # its place and the meaning of its fields in every version of the protocol, and is taken from any run.

  reason @0 :Reason;
  enum Reason {
    otherRun @0;      # the header names another run: end, with the text
    otherVersion @1;  # the header names another protocol version: end, with the text
    stale @2;         # the incarnation is not the current one: say Hello again, and start afresh
    unknown @3;       # this peer never said Hello here (the Master restarted): say Hello again
    badMessage @4;    # content breaks the schema or the protocol. It was counted and changed nothing
    ended @5;         # the run is over: end
    nameTaken @6;     # a live node has this name: ask again later, or take another name
  }

  text @1 :Text;
  # A sentence for a person. The receiver shows it.

  refused @2 :UInt32;
  # The incarnation that was refused. The receiver ignores what is about an earlier life of its own.
}

struct Stop {
  # Master -> all: the run is over. The receiver ends its process.

  failed @0 :Bool;
  # The run did not get to its end; exit status 1.

  text @1 :Text;
  # Why, for a person.
}

# ========================================================================================
# Life signs

struct Heartbeat {
  # Node -> Master, every heartbeat interval, by the actor that never computes: slow is not dead. The Master
  # takes a node for dead that was silent for failure_timeout_s. The numbers are totals since Welcome, so a
  # lost heartbeat loses nothing; the planner takes differences.
  #
  # W-slave or P-slave -> P-slaves of its view, with `sequence` alone: they answer, so each knows whom it
  # reaches.

  sequence @0 :UInt64;

  committed @1 :Int64;
  # Clocks acknowledged by every shard.

  samples @2 :Int64;
  # Computed, whether or not they came to count.

  busyNs @3 :Int64;
  # Spent computing.

  waitingNs @4 :Int64;
  # Spent with nothing to compute, for want of leases, pulls or acks.

  keysVersion @5 :UInt64;
  # Of a P-slave: AllowedKeys.version of the list that it goes by; 0 = the list of Welcome. The Master sends
  # its list to one whose version is behind.

  silent @6 :List(UInt64);
  # To the Master: peer ids of P-slaves of my view, or whose chunks I am to fetch, that have not answered me for
  # failure_timeout_s. Each heartbeat replaces what the one before said. The Master still hears both of us, so
  # it decides who has to go (master/complaints.h). Ascending.
}

struct AllowedKeys {
  # Master -> P-slave of an encrypted run, when somebody was invited or taken off the list: who may dial you
  # from now on. Connections that stand are not touched. An older version than the one held is ignored.

  version @0 :UInt64;
  # Grows with every change, and with the Master's term: a Master that came back does not know which lists its
  # predecessor sent, but the P-slaves still go by them.

  keys @1 :List(Text);
  # All of them, as in Welcome.
}

struct HeartbeatReply {
  # Whoever got a Heartbeat -> its sender: heard. A node that hears nothing from the Master trains on while its
  # leases last.

  sequence @0 :UInt64;
  # Of the heartbeat.
}
