@0xc4a1a08b03bccb55;
# Values that several messages share, and the view record: everything that Master, P-slaves and W-slaves must
# agree on to work together in one view. The protocol itself is told in protocol.capnp.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("convoy::wire");

# ========================================================================================
# Small values
#
# Ids are bare integers on the wire: the field's name says what they name. A clock is the number of updates
# that a member has committed, and so also the name of the update that comes next. A position counts samples
# over the whole run. Clocks, positions and counts are Int64, never negative and below 2^62, so that sums and
# differences of two of them cannot overflow.

struct View {
  # Numbered membership. Views are ordered by term, then attempt; the higher one supersedes. {0, 0} is "none
  # yet".

  term @0 :UInt32;
  # Counts the starts of a Master. Journaled before the Master's first message of that term, so two Masters
  # never share one. P-slaves obey the highest term only.

  attempt @1 :UInt32;
  # Counts view changes within the term.
}

struct Interval {
  # Sample positions begin, begin + 1, ..., end - 1. A list of intervals is a set: each interval holds at
  # least one position, they ascend, and between two of them lies at least one position that is in neither. So
  # equal sets have equal bytes. The receiver refuses a list that breaks this.

  begin @0 :Int64;
  end @1 :Int64;
}

struct ChunkBytes {
  # Announces one tensor frame. The bytes themselves travel outside Cap'n Proto, as raw frames after the
  # header, one a list element and in the list's order, so that they are sent and received without a copy.

  chunk @0 :UInt32;
  # Index into the chunk table that every node derives from the model. Never twice in one message. The codec
  # knows no model: that the index is inside the table is for the receiver to check.

  size @1 :UInt32;
  # Bytes of the frame. The receiver refuses a frame of another size, and a number of frames other than the
  # list's.
}

# ========================================================================================
# The view record

struct MemberRecord {
  # One member of the view, or one W-slave on stand-by (known, alive, without samples, not counted in c_min).

  id @0 :UInt32;
  # Handed out by the Master; stable over restarts of a node of the same name. bsp sums in the order of ids.

  incarnation @1 :UInt32;
  # Counts the member's lives. Messages of an earlier life are refused.

  peer @2 :UInt64;
  # The running instance: whom to send to, and whose messages to take as this member's.

  n @3 :Int64;
  # Committed clocks at the start of the view. A member stands here after Go; a joiner starts at c_min of the
  # cut.
}

struct ServerRecord {
  # One P-slave of the view.

  id @0 :UInt32;
  incarnation @1 :UInt32;
  peer @2 :UInt64;

  address @3 :Text;
  # "host:port". W-slaves and other P-slaves dial it; nobody dials a W-slave.

  publicKey @4 :Text;
  # CURVE key (Z85) of who answers at the address: who dials does so with it and thereby knows whom it talks to.
  # Empty when the run is not encrypted.
}

struct ShardRecord {
  # The chunks that have the same owner and backup. One push, pull, ack and commit a clock goes to each shard;
  # its index in ViewRecord.shards is its id in this view and means nothing in another.

  owner @0 :UInt32;
  # Id of a P-slave that the record lists.

  backup :union {
    # A P-slave that holds everything the owner holds, and confirms it before the owner acknowledges. Only a
    # *filled* backup is named: an owner without one acknowledges alone.

    none @1 :Void;
    server @2 :UInt32;
    # Listed in the record, and not the owner.
  }

  chunks @3 :List(UInt32);
  # Ascending, which is the order of the forward pass. No chunk is in two shards.
}

struct ViewRecord {
  # Journaled by the Master as *active* before it sends the first Go. The receiver of a record refuses one
  # that contradicts itself: ids out of order or twice, a member that is also on stand-by, an owner or backup
  # that is not listed, a chunk in two shards.

  view @0 :View;
  # Never {0, 0}.

  history @1 :UInt32;
  # Counts roll-backs to a checkpoint. What is said to hold over time (c_min never falls, a position is
  # committed once) holds within one history.

  floor @2 :Int64;
  # c_min of the cut that this view started from: where the next joiner starts when there is no member.

  members @3 :List(MemberRecord);
  # Ascending by id.

  standBy @4 :List(MemberRecord);
  # Ascending by id.

  servers @5 :List(ServerRecord);
  # Ascending by id.

  shards @6 :List(ShardRecord);
}
