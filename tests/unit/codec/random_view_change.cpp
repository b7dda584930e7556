// The view record, a view change, and what P-slaves say to each other. Filled as in random_messages.cpp.
#include <algorithm>
#include <utility>

#include "tests/unit/codec/random_messages.h"

namespace convoy::testing {

ServerRecord RandomMessages::server(ServerId server) {
  ServerRecord result;
  auto& [id, incarnation, peer, address, public_key] = result;
  id = server;
  incarnation = Incarnation(word32());
  peer = PeerId(word());
  address = text(false);
  public_key = text(false);
  return result;
}

ViewRecord RandomMessages::record(std::size_t size) {
  size_ = size;
  ViewRecord result;
  auto& [v, history, floor, members, stand_by, servers, shards] = result;
  v = later_than(View{word32() / 2, word32() / 2});
  history = word32();
  floor = clock();
  for (std::uint32_t id : ascending_ids(length() + length())) {
    auto& list = below(4) == 0 ? stand_by : members;
    list.emplace_back();
    auto& [key, peer, n] = list.back();
    key = {MemberId(id), Incarnation(word32())};
    peer = PeerId(word());
    n = clock();
  }
  for (std::uint32_t id : ascending_ids(length())) servers.push_back(server(ServerId(id)));
  if (servers.empty()) return result;
  for (std::size_t n = length(); n > 0; --n) {
    shards.emplace_back();
    auto& [owner, backup, chunk_ids] = shards.back();
    owner = servers[below(servers.size())].id;
    const ServerId other = servers[below(servers.size())].id;
    if (other != owner) backup = other;
  }
  if (shards.empty()) return result;
  for (std::uint32_t id : ascending_ids(3 * length()))
    shards[below(shards.size())].chunks.push_back(ChunkId(id));
  return result;
}

template <>
Prepare RandomMessages::draw() {
  Prepare m;
  auto& [next, base] = m;
  base = View{word32() / 2, word32()};
  next = later_than(base);
  return m;
}

template <>
Report RandomMessages::draw() {
  Report m;
  auto& [next, base, members, ledger, newer] = m;
  base = View{word32() / 2, word32()};
  next = later_than(base);
  for (std::uint32_t id : ascending_ids(length())) {
    members.emplace_back();
    auto& [key, committed, granted_end] = members.back();
    key = {MemberId(id), Incarnation(word32())};
    committed = clock();
    granted_end = clock();
  }
  ledger = positions();
  if (flip()) {
    newer = record(size_);
    newer->view = later_than(base);
  }
  return m;
}

template <>
Cut RandomMessages::draw() {
  Cut m;
  auto& [view_record, base, members, ledger, snapshot, sources] = m;
  view_record = record(size_);
  base = View{word32() / 2, word32()};
  view_record.view = later_than(base);
  for (std::uint32_t id : ascending_ids(length())) {
    members.emplace_back();
    auto& [key, committed] = members.back();
    key = {MemberId(id), Incarnation(word32())};
    committed = clock();
  }
  ledger = positions();
  if (flip()) snapshot = SnapshotId(word32());
  for (std::uint32_t id : ascending_ids(length())) {
    sources.emplace_back();
    auto& [from, list] = sources.back();
    from = server(ServerId(id));
  }
  std::shuffle(sources.begin(), sources.end(), random_);
  if (sources.empty()) return m;
  for (std::uint32_t id : ascending_ids(3 * length()))
    sources[below(sources.size())].chunks.push_back(ChunkId(id));
  return m;
}

template <>
Done RandomMessages::draw() {
  Done m;
  auto& [v, ledger_digest, log_end] = m;
  v = view();
  ledger_digest = word();
  log_end = static_cast<std::uint64_t>(count());
  return m;
}

template <>
Go RandomMessages::draw() {
  Go m;
  auto& [view_record, list] = m;
  view_record = record(size_);
  list = leases();
  return m;
}

template <>
Replicate RandomMessages::draw() {
  Replicate m;
  auto& [of, stream, sequence, member, entry] = m;
  of = shard();
  stream = view();
  sequence = 1 + static_cast<std::uint64_t>(count() / 2);
  member = {MemberId(word32()), Incarnation(word32())};
  switch (below(3)) {
    case 0: {
      Push push = draw<Push>();
      push.shard = of;
      entry = std::move(push);
      break;
    }
    case 1: {
      Commit commit = draw<Commit>();
      commit.shard = of;
      entry = commit;
      break;
    }
    default:
      entry = StreamEnd{};
  }
  return m;
}

template <>
ReplicateAck RandomMessages::draw() {
  ReplicateAck m;
  auto& [of, stream, upto] = m;
  of = shard();
  stream = view();
  upto = static_cast<std::uint64_t>(count());
  return m;
}

template <>
FetchChunks RandomMessages::draw() {
  FetchChunks m;
  auto& [next, list] = m;
  next = view();
  for (std::uint32_t id : ascending_ids(1 + length())) list.push_back(ChunkId(id));
  return m;
}

template <>
ChunkStates RandomMessages::draw() {
  ChunkStates m;
  auto& [next, how, list] = m;
  next = view();
  how = encoding();
  list = chunks(how);
  return m;
}

}  // namespace convoy::testing
