#include "messages/codec/decode_parts.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "messages/codec/enums.h"
#include "messages/codec/limits.h"

namespace convoy::codec {
namespace {

ChunkId get_chunk(std::uint32_t value) {
  if (value >= limits::kMaxChunks) refuse("the chunk " + std::to_string(value) + " is out of range");
  return ChunkId(value);
}

std::vector<MemberRecord> get_members(capnp::List<wire::MemberRecord>::Reader from) {
  std::vector<MemberRecord> members;
  members.reserve(checked_size(from, limits::kMaxMembers, "members").size());
  for (auto m : from) members.push_back({get_key(m), PeerId(m.getPeer()), get_clock(m.getN())});
  return members;
}

}  // namespace

std::string checked_text(capnp::Text::Reader text, std::size_t max_bytes, TextKind kind, const char* what) {
  const std::string_view view(text.begin(), text.size());
  check_text(view, max_bytes, kind, what);
  return std::string(view);
}
std::string line(capnp::Text::Reader text, const char* what) {
  return checked_text(text, limits::kMaxNameBytes, TextKind::kLine, what);
}

Clock get_clock(std::int64_t value) {
  return Clock(checked_count(value, "a clock"));
}

ShardId get_shard(std::uint32_t value) {
  if (value >= limits::kMaxShards) refuse("the shard " + std::to_string(value) + " is out of range");
  return ShardId(value);
}

View get(wire::View::Reader from) {
  return {from.getTerm(), from.getAttempt()};
}

IntervalSet get(capnp::List<wire::Interval>::Reader from) {
  IntervalSet set;
  std::int64_t previous_end = -1;
  for (auto interval : checked_size(from, limits::kMaxIntervals, "intervals")) {
    const std::int64_t begin = interval.getBegin();
    const std::int64_t end = interval.getEnd();
    if (begin <= previous_end || begin >= end || end >= limits::kMaxCount)
      refuse("the intervals of positions are empty, out of order or out of range");
    set.insert(Interval{begin, end});  // at the end: constant time
    previous_end = end;
  }
  return set;
}

std::vector<Lease> get(capnp::List<wire::Lease>::Reader from) {
  std::vector<Lease> leases;
  leases.reserve(checked_size(from, limits::kMaxLeases, "leases").size());
  for (auto lease : from)
    leases.push_back({LeaseId(lease.getId()), get_clock(lease.getClock()), get(lease.getPositions())});
  check_leases_ascend(leases);
  return leases;
}

std::vector<ChunkData> get(capnp::List<wire::ChunkBytes>::Reader from, Encoding encoding,
                           std::vector<Frame>& tensors) {
  checked_size(from, limits::kMaxChunks, "chunks");
  if (from.size() != tensors.size()) {
    refuse("the header announces " + std::to_string(from.size()) + " tensor frames, but " +
           std::to_string(tensors.size()) + " came");
  }
  std::vector<ChunkData> chunks;
  chunks.reserve(from.size());
  std::size_t i = 0;
  for (auto chunk : from) {
    Frame& bytes = tensors[i++];
    if (bytes.size() != chunk.getSize() || bytes.size() > limits::kMaxTensorBytes) {
      refuse("a tensor frame of " + std::to_string(chunk.getSize()) + " bytes is announced, but one of " +
             std::to_string(bytes.size()) + " came");
    }
    check_tensor_size(encoding, bytes.size());
    chunks.push_back({get_chunk(chunk.getChunk()), std::move(bytes)});
  }
  tensors.clear();
  check_chunks_unique(chunks);
  return chunks;
}

std::vector<ChunkId> get(capnp::List<std::uint32_t>::Reader from) {
  std::vector<ChunkId> chunks;
  chunks.reserve(checked_size(from, limits::kMaxChunks, "chunks").size());
  for (std::uint32_t chunk : from) chunks.push_back(get_chunk(chunk));
  return chunks;
}

ServerRecord get(wire::ServerRecord::Reader from) {
  return {.id = ServerId(from.getId()),
          .incarnation = Incarnation(from.getIncarnation()),
          .peer = PeerId(from.getPeer()),
          .address = line(from.getAddress(), "an address"),
          .public_key = line(from.getPublicKey(), "a public key")};
}

ViewRecord get(wire::ViewRecord::Reader from) {
  ViewRecord record;
  record.view = get(from.getView());
  record.history = from.getHistory();
  record.floor = get_clock(from.getFloor());
  record.members = get_members(from.getMembers());
  record.stand_by = get_members(from.getStandBy());
  const auto servers = checked_size(from.getServers(), limits::kMaxServers, "servers");
  record.servers.reserve(servers.size());
  for (auto s : servers) record.servers.push_back(get(s));
  const auto shards = checked_size(from.getShards(), limits::kMaxShards, "shards");
  record.shards.reserve(shards.size());
  for (auto s : shards) {
    ShardRecord& shard = record.shards.emplace_back();
    shard.owner = ServerId(s.getOwner());
    const auto backup = s.getBackup();
    switch (backup.which()) {
      case wire::ShardRecord::Backup::NONE:
        break;
      case wire::ShardRecord::Backup::SERVER:
        shard.backup = ServerId(backup.getServer());
        break;
      default:
        refuse("a shard has a backup of an unknown kind");
    }
    shard.chunks = get(s.getChunks());
  }
  check_record(record);
  return record;
}

Push get(wire::Push::Reader from, std::vector<Frame>& tensors) {
  const Encoding encoding = from_wire(from.getEncoding());
  return {.shard = get_shard(from.getShard()),
          .clock = get_clock(from.getClock()),
          .lease = LeaseId(from.getLease()),
          .trained = get(from.getTrained()),
          .digest = from.getDigest(),
          .loss_sum = checked_loss(from.getLossSum()),
          .correct = checked_count(from.getCorrect(), "the number of correct samples"),
          .encoding = encoding,
          .chunks = get(from.getChunks(), encoding, tensors)};
}

Commit get(wire::Commit::Reader from) {
  return {.shard = get_shard(from.getShard()), .committed = get_clock(from.getCommitted())};
}

}  // namespace convoy::codec
