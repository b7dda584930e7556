// A view change, and what P-slaves say to each other so that copies outlive their owners.
#include <variant>
#include <vector>

#include "messages/codec/encode_parts.h"
#include "messages/codec/enums.h"

namespace convoy::codec {
namespace {

void put_sources(const std::vector<ChunkSource>& sources, capnp::List<wire::Cut::Source>::Builder list) {
  unsigned i = 0;
  for (const auto& [server, chunks] : sources) {
    auto to = list[i++];
    put(to.initServer(), server);
    put_chunk_ids(chunks, to);
  }
}

// Fills the entry of a stream.
struct PutEntry {
  wire::Replicate::Entry::Builder to;
  Tensors& tensors;

  void operator()(const Push& push) { put(to.initPush(), push, tensors); }
  void operator()(const Commit& commit) { put(to.initCommit(), commit); }
  void operator()(const StreamEnd&) { to.setEnd(); }
};

}  // namespace

void put(Header header, const Prepare& m, Tensors&) {
  const auto& [next, base] = m;
  auto to = header.initPrepare();
  put(to.initNext(), next);
  put(to.initBase(), base);
}

void put(Header header, const Report& m, Tensors&) {
  const auto& [next, base, members, ledger, newer] = m;
  auto to = header.initReport();
  put(to.initNext(), next);
  put(to.initBase(), base);
  auto list = to.initMembers(static_cast<unsigned>(members.size()));
  unsigned i = 0;
  for (const auto& [key, committed, granted_end] : members) {
    auto member = list[i++];
    member.setId(key.id.value);
    member.setIncarnation(key.incarnation.value);
    member.setCommitted(committed.value);
    member.setGrantedEnd(granted_end.value);
  }
  put_intervals(ledger, [&](unsigned n) { return to.initLedger(n); });
  if (newer) put(to.initNewer(), *newer);
}

void put(Header header, const Cut& m, Tensors&) {
  const auto& [record, base, members, ledger, snapshot, sources] = m;
  auto to = header.initCut();
  put(to.initRecord(), record);
  put(to.initBase(), base);
  auto list = to.initMembers(static_cast<unsigned>(members.size()));
  unsigned i = 0;
  for (const auto& [key, committed] : members) {
    auto member = list[i++];
    member.setId(key.id.value);
    member.setIncarnation(key.incarnation.value);
    member.setCommitted(committed.value);
  }
  put_intervals(ledger, [&](unsigned n) { return to.initLedger(n); });
  if (snapshot) to.getSnapshot().setId(snapshot->value);
  if (!sources.empty()) put_sources(sources, to.initSources(static_cast<unsigned>(sources.size())));
}

void put(Header header, const Done& m, Tensors&) {
  const auto& [view, ledger_digest, log_end] = m;
  auto to = header.initDone();
  put(to.initView(), view);
  to.setLedgerDigest(ledger_digest);
  to.setLogEnd(log_end);
}

void put(Header header, const Go& m, Tensors&) {
  const auto& [record, leases] = m;
  auto to = header.initGo();
  put(to.initRecord(), record);
  put_leases(leases, to);
}

void put(Header header, const Replicate& m, Tensors& tensors) {
  const auto& [shard, stream, sequence, member, entry] = m;
  auto to = header.initReplicate();
  to.setShard(shard.value);
  put(to.initStream(), stream);
  to.setSequence(sequence);
  to.setMember(member.id.value);
  to.setIncarnation(member.incarnation.value);
  std::visit(PutEntry{to.getEntry(), tensors}, entry);
}

void put(Header header, const ReplicateAck& m, Tensors&) {
  const auto& [shard, stream, upto] = m;
  auto to = header.initReplicateAck();
  to.setShard(shard.value);
  put(to.initStream(), stream);
  to.setUpto(upto);
}

void put(Header header, const FetchChunks& m, Tensors&) {
  const auto& [next, chunks] = m;
  auto to = header.initFetchChunks();
  put(to.initNext(), next);
  put_chunk_ids(chunks, to);
}

void put(Header header, const ChunkStates& m, Tensors& tensors) {
  const auto& [next, encoding, chunks] = m;
  auto to = header.initChunkStates();
  put(to.initNext(), next);
  to.setEncoding(to_wire(encoding));
  put_chunks(chunks, to, tensors);
}

}  // namespace convoy::codec
