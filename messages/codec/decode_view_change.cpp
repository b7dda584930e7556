// A view change, and what P-slaves say to each other so that copies outlive their owners.
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "messages/codec/decode_parts.h"
#include "messages/codec/enums.h"
#include "messages/codec/limits.h"

namespace convoy::codec {
namespace {

template <class Members>
void check_members_ascend(const Members& members) {
  for (std::size_t i = 1; i < members.size(); ++i)
    if (members[i - 1].key.id >= members[i].key.id) refuse("members do not ascend");
}

void check_later(View later, View earlier) {
  if (later <= earlier) refuse("the new view is not later than its base");
}

std::vector<ChunkSource> get_sources(capnp::List<wire::Cut::Source>::Reader from) {
  std::vector<ChunkSource> sources;
  sources.reserve(checked_size(from, limits::kMaxServers, "sources").size());
  for (auto source : from)
    sources.push_back({.server = get(source.getServer()), .chunks = get(source.getChunks())});
  check_sources(sources);
  return sources;
}

std::variant<Push, Commit, StreamEnd> get_entry(wire::Replicate::Entry::Reader from,
                                                std::vector<Frame>& tensors) {
  switch (from.which()) {
    case wire::Replicate::Entry::PUSH:
      if (!from.hasPush()) refuse("the push of the stream is missing");
      return get(from.getPush(), tensors);
    case wire::Replicate::Entry::COMMIT:
      if (!from.hasCommit()) refuse("the commit of the stream is missing");
      return get(from.getCommit());
    case wire::Replicate::Entry::END:
      return StreamEnd{};
  }
  refuse("the stream has an entry of an unknown kind");
}

}  // namespace

Prepare get(wire::Prepare::Reader from) {
  const Prepare prepare{.next = get(from.getNext()), .base = get(from.getBase())};
  check_later(prepare.next, prepare.base);
  return prepare;
}

Report get(wire::Report::Reader from) {
  Report report;
  report.next = get(from.getNext());
  report.base = get(from.getBase());
  check_later(report.next, report.base);
  const auto members = checked_size(from.getMembers(), limits::kMaxMembers, "members");
  report.members.reserve(members.size());
  for (auto m : members)
    report.members.push_back({get_key(m), get_clock(m.getCommitted()), get_clock(m.getGrantedEnd())});
  check_members_ascend(report.members);
  report.ledger = get(from.getLedger());
  if (from.hasNewer()) {
    report.newer = get(from.getNewer());
    check_later(report.newer->view, report.base);
  }
  return report;
}

Cut get(wire::Cut::Reader from) {
  Cut cut;
  cut.record = get_record(from);
  cut.base = get(from.getBase());
  check_later(cut.record.view, cut.base);
  const auto members = checked_size(from.getMembers(), limits::kMaxMembers, "members");
  cut.members.reserve(members.size());
  for (auto m : members) cut.members.push_back({get_key(m), get_clock(m.getCommitted())});
  check_members_ascend(cut.members);
  cut.ledger = get(from.getLedger());
  const auto snapshot = from.getSnapshot();
  switch (snapshot.which()) {
    case wire::Cut::Snapshot::NONE:
      break;
    case wire::Cut::Snapshot::ID:
      cut.snapshot = SnapshotId(snapshot.getId());
      break;
    default:
      refuse("the snapshot is of an unknown kind");
  }
  cut.sources = get_sources(from.getSources());
  return cut;
}

Done get(wire::Done::Reader from) {
  return {.view = get(from.getView()),
          .ledger_digest = from.getLedgerDigest(),
          .log_end = checked_sequence(from.getLogEnd(), "the end of the log")};
}

Go get(wire::Go::Reader from) {
  return {.record = get_record(from), .leases = get(from.getLeases())};
}

Replicate get(wire::Replicate::Reader from, std::vector<Frame>& tensors) {
  Replicate replicate{.shard = get_shard(from.getShard()),
                      .stream = get(from.getStream()),
                      .sequence = checked_sequence(from.getSequence(), "the entry of the stream"),
                      .member = {MemberId(from.getMember()), Incarnation(from.getIncarnation())},
                      .entry = get_entry(from.getEntry(), tensors)};
  check_replicate(replicate);
  return replicate;
}

ReplicateAck get(wire::ReplicateAck::Reader from) {
  return {.shard = get_shard(from.getShard()),
          .stream = get(from.getStream()),
          .upto = checked_sequence(from.getUpto(), "the entry of the stream")};
}

FetchChunks get(wire::FetchChunks::Reader from) {
  FetchChunks fetch{.next = get(from.getNext()), .chunks = get(from.getChunks())};
  if (fetch.chunks.empty()) refuse("no chunk is asked for");
  check_chunks_ascend(fetch.chunks, "chunks that are asked for");
  return fetch;
}

ChunkStates get(wire::ChunkStates::Reader from, std::vector<Frame>& tensors) {
  const Encoding encoding = from_wire(from.getEncoding());
  return {
      .next = get(from.getNext()), .encoding = encoding, .chunks = get(from.getChunks(), encoding, tensors)};
}

}  // namespace convoy::codec
