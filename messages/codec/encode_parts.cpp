#include "messages/codec/encode_parts.h"

#include <cmath>
#include <limits>

#include "messages/codec/enums.h"

namespace convoy::codec {
namespace {

template <class List>
void put_members(const std::vector<MemberRecord>& members, List list) {
  unsigned i = 0;
  for (const auto& [key, peer, n] : members) {
    auto to = list[i++];
    to.setId(key.id.value);
    to.setIncarnation(key.incarnation.value);
    to.setPeer(peer.value);
    to.setN(n.value);
  }
}

}  // namespace

double loss(double value) {
  return std::isfinite(value) ? value : std::numeric_limits<double>::infinity();
}

void put(wire::View::Builder to, const View& view) {
  const auto& [term, attempt] = view;
  to.setTerm(term);
  to.setAttempt(attempt);
}

void put(wire::ServerRecord::Builder to, const ServerRecord& server) {
  const auto& [id, incarnation, peer, address, public_key] = server;
  to.setId(id.value);
  to.setIncarnation(incarnation.value);
  to.setPeer(peer.value);
  to.setAddress(text(address));
  to.setPublicKey(text(public_key));
}

void put(wire::ViewRecord::Builder to, const ViewRecord& record) {
  const auto& [view, history, floor, members, stand_by, servers, shards] = record;
  put(to.initView(), view);
  to.setHistory(history);
  to.setFloor(floor.value);
  put_members(members, to.initMembers(static_cast<unsigned>(members.size())));
  put_members(stand_by, to.initStandBy(static_cast<unsigned>(stand_by.size())));
  auto server_list = to.initServers(static_cast<unsigned>(servers.size()));
  unsigned s = 0;
  for (const ServerRecord& server : servers) put(server_list[s++], server);
  auto shard_list = to.initShards(static_cast<unsigned>(shards.size()));
  unsigned k = 0;
  for (const auto& [owner, backup, chunks] : shards) {
    wire::ShardRecord::Builder shard = shard_list[k++];
    shard.setOwner(owner.value);
    if (backup) shard.getBackup().setServer(backup->value);
    put_chunk_ids(chunks, shard);
  }
}

void put(wire::Push::Builder to, const Push& m, Tensors& tensors) {
  const auto& [shard, clock, lease, trained, digest, loss_sum, correct, encoding, chunks] = m;
  to.setShard(shard.value);
  to.setClock(clock.value);
  to.setLease(lease.value);
  put_intervals(trained, [&](unsigned n) { return to.initTrained(n); });
  to.setDigest(digest);
  to.setLossSum(loss(loss_sum));
  to.setCorrect(correct);
  to.setEncoding(to_wire(encoding));
  put_chunks(chunks, to, tensors);
}

void put(wire::Commit::Builder to, const Commit& m) {
  const auto& [shard, committed] = m;
  to.setShard(shard.value);
  to.setCommitted(committed.value);
}

}  // namespace convoy::codec
