// The view record: everything that Master, P-slaves and W-slaves must agree on to work together in one view.
// Values. Journaled by the Master as *active* before anybody works in the view.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "messages/base/ids.h"

namespace convoy {

// A member of the view, or one on stand-by (known, alive, without samples; not part of c_min).
struct MemberRecord {
  MemberKey key;
  PeerId peer;
  Clock n;  // committed clocks at the start of the view; a joiner starts at c_min of the cut

  friend bool operator==(const MemberRecord&, const MemberRecord&) = default;
};

struct ServerRecord {
  ServerId id;
  Incarnation incarnation;
  PeerId peer;
  std::string address;     // "host:port" that W-slaves dial
  std::string public_key;  // CURVE key of who answers there; empty: not encrypted

  friend bool operator==(const ServerRecord&, const ServerRecord&) = default;
};

// Chunks with the same owner and backup. One push, pull, ack and commit a clock goes to each shard.
struct ShardRecord {
  ServerId owner;
  std::optional<ServerId> backup;  // only a filled one; an owner without it acks alone
  std::vector<ChunkId> chunks;     // ascending: the order of the forward pass

  friend bool operator==(const ShardRecord&, const ShardRecord&) = default;
};

struct ViewRecord {
  View view;
  std::uint32_t history = 0;  // counts roll-backs; invariants on time hold within one history
  Clock floor;                // c_min of the cut: where the next joiner starts when there are no members
  std::vector<MemberRecord> members;   // by member id
  std::vector<MemberRecord> stand_by;  // by member id
  std::vector<ServerRecord> servers;   // by server id
  std::vector<ShardRecord> shards;     // index = ShardId

  friend bool operator==(const ViewRecord&, const ViewRecord&) = default;

  const MemberRecord* find_member(MemberId id) const {
    for (const MemberRecord& m : members)
      if (m.key.id == id) return &m;
    return nullptr;
  }
  const MemberRecord* find_stand_by(MemberId id) const {
    for (const MemberRecord& m : stand_by)
      if (m.key.id == id) return &m;
    return nullptr;
  }
  const ServerRecord* find_server(ServerId id) const {
    for (const ServerRecord& s : servers)
      if (s.id == id) return &s;
    return nullptr;
  }
  // REQUIRES: shard.value < shards.size() and its owner is listed, as the codec checks.
  const ServerRecord& owner_of(ShardId shard) const { return *find_server(shards[shard.value].owner); }
};

}  // namespace convoy
