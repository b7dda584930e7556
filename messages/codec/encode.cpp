// Structs are taken apart by structured bindings on purpose: one that gains a field no longer compiles here,
// so that none is left behind.
#include <capnp/message.h>
#include <capnp/serialize.h>

#include <memory>
#include <utility>
#include <variant>

#include "messages/codec/codec.h"
#include "messages/codec/encode_parts.h"
#include "messages/codec/enums.h"
#include "messages/codec/limits.h"

namespace convoy {
namespace codec {
namespace {

// Enough for nearly every message, so that the builder need not allocate.
constexpr std::size_t kScratchWords = 128;

// The overloads below would hide it.
using codec::put;

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
  const auto& [sequence, committed, samples, busy, waiting, keys_version, silent] = m;
  auto to = header.initHeartbeat();
  to.setSequence(sequence);
  to.setCommitted(committed.value);
  to.setSamples(samples);
  to.setBusyNs(busy.count());
  to.setWaitingNs(waiting.count());
  to.setKeysVersion(keys_version);
  auto peers = to.initSilent(static_cast<unsigned>(silent.size()));
  for (unsigned i = 0; i < silent.size(); ++i) peers.set(i, silent[i].value);
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
  put(header.initPush(), m, tensors);
}

void put(Header header, const PushAck& m, Tensors&) {
  const auto& [shard, clock, lease] = m;
  auto to = header.initPushAck();
  to.setShard(shard.value);
  to.setClock(clock.value);
  to.setLease(lease.value);
}

void put(Header header, const Commit& m, Tensors&) {
  put(header.initCommit(), m);
}

void put(Header header, const CommitAck& m, Tensors&) {
  const auto& [shard, committed] = m;
  auto to = header.initCommitAck();
  to.setShard(shard.value);
  to.setCommitted(committed.value);
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

void put(Header header, const Inject& m, Tensors&) {
  const auto& [id, kind, target, other, peer, for_s, factor, probability, delay_ms, seed, done] = m;
  auto to = header.initInject();
  to.setId(id);
  to.setKind(to_wire(kind));
  to.setTarget(text(target));
  to.setTo(text(other));
  to.setPeer(peer.value);
  to.setForS(for_s);
  to.setFactor(factor);
  to.setProbability(probability);
  to.setDelayMs(delay_ms);
  to.setSeed(seed);
  to.setDone(done);
}

void put(Header header, const Injected& m, Tensors&) {
  const auto& [id, words] = m;
  auto to = header.initInjected();
  to.setId(id);
  to.setText(text(clean_text(words, limits::kMaxSentenceBytes)));
}

void put_message(Header header, const Message& message, Tensors& tensors) {
  std::visit([&](const auto& m) { put(header, m, tensors); }, message);
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
  codec::put_message(header, message, wire.tensors);
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
