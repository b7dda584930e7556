// Structs are taken apart by structured bindings on purpose: one that gains a field no longer compiles here,
// so that none is left behind.
#include <capnp/message.h>
#include <capnp/serialize.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>
#include <variant>

#include "messages/base/check.h"
#include "messages/codec/codec.h"
#include "messages/codec/enums.h"
#include "messages/codec/limits.h"

namespace convoy {
namespace codec {
namespace {

// Enough for nearly every message, so that the builder need not allocate.
constexpr std::size_t kScratchWords = 128;

using Header = wire::Header::Builder;
using Tensors = std::vector<Frame>;

capnp::Text::Reader text(std::string_view s) {
  return {s.data(), s.size()};
}

double loss(double value) {
  return std::isfinite(value) ? value : std::numeric_limits<double>::infinity();
}

void put(wire::View::Builder to, const View& view) {
  const auto& [term, attempt] = view;
  to.setTerm(term);
  to.setAttempt(attempt);
}

// `init(n)` makes the list in its place. An empty list stays a null pointer, which reads as empty.
template <class Init>
void put_intervals(const IntervalSet& set, Init init) {
  if (set.empty()) return;
  auto list = init(static_cast<unsigned>(set.intervals().size()));
  unsigned i = 0;
  for (const auto& [begin, end] : set.intervals()) {
    auto to = list[i++];
    to.setBegin(begin);
    to.setEnd(end);
  }
}

template <class To>
void put_leases(const std::vector<Lease>& leases, To message) {
  if (leases.empty()) return;
  auto list = message.initLeases(static_cast<unsigned>(leases.size()));
  unsigned i = 0;
  for (const auto& [id, clock, positions] : leases) {
    wire::Lease::Builder to = list[i++];
    to.setId(id.value);
    to.setClock(clock.value);
    put_intervals(positions, [&](unsigned n) { return to.initPositions(n); });
  }
}

template <class To>
void put_chunks(const std::vector<ChunkData>& chunks, To message, Tensors& tensors) {
  if (chunks.empty()) return;
  auto list = message.initChunks(static_cast<unsigned>(chunks.size()));
  tensors.reserve(chunks.size());
  unsigned i = 0;
  for (const auto& [chunk, bytes] : chunks) {
    CONVOY_CHECK(bytes.size() <= limits::kMaxTensorBytes, chunk, " has ", bytes.size(), " bytes");
    auto to = list[i++];
    to.setChunk(chunk.value);
    to.setSize(static_cast<std::uint32_t>(bytes.size()));
    tensors.push_back(bytes);
  }
}

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

void put(wire::ViewRecord::Builder to, const ViewRecord& record) {
  const auto& [view, history, floor, members, stand_by, servers, shards] = record;
  put(to.initView(), view);
  to.setHistory(history);
  to.setFloor(floor.value);
  put_members(members, to.initMembers(static_cast<unsigned>(members.size())));
  put_members(stand_by, to.initStandBy(static_cast<unsigned>(stand_by.size())));
  auto server_list = to.initServers(static_cast<unsigned>(servers.size()));
  unsigned s = 0;
  for (const auto& [id, incarnation, peer, address, public_key] : servers) {
    wire::ServerRecord::Builder server = server_list[s++];
    server.setId(id.value);
    server.setIncarnation(incarnation.value);
    server.setPeer(peer.value);
    server.setAddress(text(address));
    server.setPublicKey(text(public_key));
  }
  auto shard_list = to.initShards(static_cast<unsigned>(shards.size()));
  unsigned k = 0;
  for (const auto& [owner, backup, chunks] : shards) {
    wire::ShardRecord::Builder shard = shard_list[k++];
    shard.setOwner(owner.value);
    if (backup) shard.getBackup().setServer(backup->value);
    auto chunk_list = shard.initChunks(static_cast<unsigned>(chunks.size()));
    for (unsigned i = 0; i < chunk_list.size(); ++i) chunk_list.set(i, chunks[i].value);
  }
}

void put(wire::SyncOptions::Builder to, const SyncOptions& sync) {
  const auto& [mode, bound, bound_low, pull_ahead, pull_ahead_alone, batch, failure_timeout, sample_count,
               end_position] = sync;
  to.setMode(to_wire(mode));
  to.setBound(bound);
  to.setBoundLow(bound_low);
  to.setPullAhead(pull_ahead);
  to.setPullAheadAlone(pull_ahead_alone);
  to.setBatch(batch);
  to.setFailureTimeoutNs(failure_timeout.count());
  to.setSampleCount(sample_count);
  to.setEndPosition(end_position);
}

void put(Header header, const Hello& m, Tensors&) {
  const auto& [role, name, host, device, address, build_id, public_key, previous] = m;
  auto to = header.initHello();
  to.setRole(to_wire(role));
  to.setName(text(name));
  to.setHost(text(host));
  to.setDevice(text(device));
  to.setAddress(text(address));
  to.setBuildId(text(build_id));
  to.setPublicKey(text(public_key));
  to.setPrevious(previous.value);
}

void put(capnp::List<capnp::Text>::Builder to, const std::vector<std::string>& lines) {
  for (unsigned i = 0; i < to.size(); ++i) to.set(i, text(lines[i]));
}

void put(Header header, const Welcome& m, Tensors&) {
  const auto& [run, id, incarnation, sync, run_text, allowed_keys] = m;
  auto to = header.initWelcome();
  to.setRun(run.value);
  to.setId(id);
  to.setIncarnation(incarnation.value);
  put(to.initSync(), sync);
  to.setRunText(text(run_text));
  put(to.initAllowedKeys(static_cast<unsigned>(allowed_keys.size())), allowed_keys);
}

void put(Header header, const Join& m, Tensors&) {
  const auto& [samples_per_s] = m;
  header.initJoin().setSamplesPerS(samples_per_s);
}

void put(Header header, const Leave&, Tensors&) {
  header.initLeave();
}

void put(Header header, const Farewell&, Tensors&) {
  header.initFarewell();
}

void put(Header header, const Refuse& m, Tensors&) {
  const auto& [reason, refused, words] = m;
  auto to = header.initRefuse();
  to.setReason(to_wire(reason));
  to.setRefused(refused.value);
  to.setText(text(clean_text(words, limits::kMaxSentenceBytes)));
}

void put(Header header, const Stop& m, Tensors&) {
  const auto& [failed, words] = m;
  auto to = header.initStop();
  to.setFailed(failed);
  to.setText(text(clean_text(words, limits::kMaxSentenceBytes)));
}

void put(Header header, const Heartbeat& m, Tensors&) {
  const auto& [sequence, committed, samples, busy, waiting, keys_version] = m;
  auto to = header.initHeartbeat();
  to.setSequence(sequence);
  to.setCommitted(committed.value);
  to.setSamples(samples);
  to.setBusyNs(busy.count());
  to.setWaitingNs(waiting.count());
  to.setKeysVersion(keys_version);
}

void put(Header header, const AllowedKeys& m, Tensors&) {
  const auto& [version, keys] = m;
  auto to = header.initAllowedKeys();
  to.setVersion(version);
  put(to.initKeys(static_cast<unsigned>(keys.size())), keys);
}

void put(Header header, const HeartbeatReply& m, Tensors&) {
  const auto& [sequence] = m;
  header.initHeartbeatReply().setSequence(sequence);
}

void put(Header header, const LeaseRequest& m, Tensors&) {
  const auto& [next, committed, idle] = m;
  auto to = header.initLeaseRequest();
  to.setNext(next.value);
  to.setCommitted(committed.value);
  to.setIdle(idle);
}

void put(Header header, const LeaseGrant& m, Tensors&) {
  const auto& [leases] = m;
  put_leases(leases, header.initLeaseGrant());
}

void put(Header header, const Pull& m, Tensors&) {
  const auto& [shard, clock, after, committed] = m;
  auto to = header.initPull();
  to.setShard(shard.value);
  to.setClock(clock.value);
  to.setAfter(after.value);
  to.setCommitted(committed.value);
}

void put(Header header, const PullReply& m, Tensors& tensors) {
  const auto& [shard, clock, committed, c_min, ahead_rate, encoding, chunks] = m;
  auto to = header.initPullReply();
  to.setShard(shard.value);
  to.setClock(clock.value);
  to.setCommitted(committed.value);
  to.setCMin(c_min.value);
  to.setAheadRate(ahead_rate);
  to.setEncoding(to_wire(encoding));
  put_chunks(chunks, to, tensors);
}

void put(Header header, const Push& m, Tensors& tensors) {
  const auto& [shard, clock, lease, trained, digest, loss_sum, correct, encoding, chunks] = m;
  auto to = header.initPush();
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

void put(Header header, const PushAck& m, Tensors&) {
  const auto& [shard, clock, lease] = m;
  auto to = header.initPushAck();
  to.setShard(shard.value);
  to.setClock(clock.value);
  to.setLease(lease.value);
}

void put(Header header, const Commit& m, Tensors&) {
  const auto& [shard, committed] = m;
  auto to = header.initCommit();
  to.setShard(shard.value);
  to.setCommitted(committed.value);
}

void put(Header header, const CommitAck& m, Tensors&) {
  const auto& [shard, committed] = m;
  auto to = header.initCommitAck();
  to.setShard(shard.value);
  to.setCommitted(committed.value);
}

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
  const auto& [record, base, members, ledger, snapshot] = m;
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

void put(Header header, const CommitLog& m, Tensors&) {
  const auto& [first, entries] = m;
  auto to = header.initCommitLog();
  to.setFirst(first);
  auto list = to.initEntries(static_cast<unsigned>(entries.size()));
  unsigned i = 0;
  for (const auto& [member, clock, trained, digest, loss_sum, correct, staleness, delay] : entries) {
    wire::CommitLogEntry::Builder entry = list[i++];
    entry.setMember(member.id.value);
    entry.setIncarnation(member.incarnation.value);
    entry.setClock(clock.value);
    put_intervals(trained, [&](unsigned n) { return entry.initTrained(n); });
    entry.setDigest(digest);
    entry.setLossSum(loss(loss_sum));
    entry.setCorrect(correct);
    entry.setStaleness(staleness);
    entry.setDelay(delay);
  }
}

void put(Header header, const CommitLogAck& m, Tensors&) {
  const auto& [next] = m;
  header.initCommitLogAck().setNext(next);
}

void put(Header header, const Evaluate& m, Tensors&) {
  const auto& [snapshot, task, first, last, record] = m;
  auto to = header.initEvaluate();
  to.setSnapshot(snapshot.value);
  to.setTask(task);
  to.setFirst(first);
  to.setLast(last);
  put(to.initRecord(), record);
}

void put(Header header, const SnapshotPull& m, Tensors&) {
  const auto& [snapshot, shard] = m;
  auto to = header.initSnapshotPull();
  to.setSnapshot(snapshot.value);
  to.setShard(shard.value);
}

void put(Header header, const SnapshotReply& m, Tensors& tensors) {
  const auto& [snapshot, shard, encoding, chunks] = m;
  auto to = header.initSnapshotReply();
  to.setSnapshot(snapshot.value);
  to.setShard(shard.value);
  to.setEncoding(to_wire(encoding));
  put_chunks(chunks, to, tensors);
}

void put(Header header, const EvaluateResult& m, Tensors&) {
  const auto& [snapshot, task, correct, loss_sum, count] = m;
  auto to = header.initEvaluateResult();
  to.setSnapshot(snapshot.value);
  to.setTask(task);
  to.setCorrect(correct);
  to.setLossSum(loss(loss_sum));
  to.setCount(count);
}

void put(Header header, const StatusRequest&, Tensors&) {
  header.initStatusRequest();
}

void put(Header header, const StatusReply& m, Tensors&) {
  const auto& [json] = m;
  header.initStatusReply().setJson(text(json));
}

Frame frame_of(capnp::MessageBuilder& builder) {
  auto words = std::make_shared<kj::Array<capnp::word>>(capnp::messageToFlatArray(builder));
  const auto bytes = words->asBytes();
  const std::span<const std::byte> view(reinterpret_cast<const std::byte*>(bytes.begin()), bytes.size());
  return {std::move(words), view};
}

}  // namespace
}  // namespace codec

WireMessage encode(const Envelope& envelope, RunId run) {
  const auto& [view, from, incarnation, message] = envelope;
  capnp::word scratch[codec::kScratchWords] = {};
  capnp::MallocMessageBuilder builder(kj::ArrayPtr<capnp::word>(scratch, codec::kScratchWords));
  auto header = builder.initRoot<wire::Header>();
  header.setProtocolVersion(kProtocolVersion);
  header.setRunId(run.value);
  header.setSender(from.value);
  header.setSenderIncarnation(incarnation.value);
  header.getView().setTerm(view.term);
  header.getView().setAttempt(view.attempt);
  WireMessage wire;
  std::visit([&](const auto& m) { codec::put(header, m, wire.tensors); }, message);
  wire.header = codec::frame_of(builder);
  return wire;
}

Frame encode_record(const ViewRecord& record) {
  capnp::word scratch[codec::kScratchWords] = {};
  capnp::MallocMessageBuilder builder(kj::ArrayPtr<capnp::word>(scratch, codec::kScratchWords));
  codec::put(builder.initRoot<wire::ViewRecord>(), record);
  return codec::frame_of(builder);
}

}  // namespace convoy
