// Every list is measured before it is read, every pointer is followed once: the traversal limit is the
// header's own size, so a small header that points at one list many times is refused rather than unfolded.
#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/exception.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "messages/codec/codec.h"
#include "messages/codec/decode_parts.h"
#include "messages/codec/enums.h"
#include "messages/codec/limits.h"

namespace convoy {
namespace codec {
namespace {

// Deepest honest path: header, cut, record, shards, shard, chunks.
constexpr int kNestingLimit = 12;
// Cap'n Proto charges a few words beyond the message's own size (the root pointer, empty structs).
constexpr std::size_t kTraversalSlackWords = 8;

// Cap'n Proto's exceptions need no stack trace here: they tell of a bad message, not of a bug, and a peer
// that sends many must not make us walk our stack for each.
class NoStackTrace final : public kj::ExceptionCallback {
 public:
  StackTraceMode stackTraceMode() override { return StackTraceMode::NONE; }
};

// A message over bytes that it does not own, copied only if they are misaligned.
class WordsReader {
 public:
  explicit WordsReader(std::span<const std::byte> bytes)
      : words_(aligned(bytes)), reader_(words_, options(words_.size())) {
    if (reader_.getEnd() != words_.end()) refuse("bytes follow after the end of the header");
  }
  template <class T>
  typename T::Reader root() {
    return reader_.getRoot<T>();
  }

 private:
  kj::ArrayPtr<const capnp::word> aligned(std::span<const std::byte> bytes) {
    const std::size_t count = bytes.size() / sizeof(capnp::word);
    if (bytes.size() > limits::kMaxHeaderBytes)
      refuse("the header has " + std::to_string(bytes.size()) + " bytes; at most " +
             std::to_string(limits::kMaxHeaderBytes) + " are allowed");
    if (count == 0 || bytes.size() % sizeof(capnp::word) != 0)
      refuse("a header of " + std::to_string(bytes.size()) + " bytes is cut short");
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(capnp::word) != 0) {
      copy_ = kj::heapArray<capnp::word>(count);
      std::memcpy(copy_.begin(), bytes.data(), bytes.size());
      return copy_;
    }
    return {reinterpret_cast<const capnp::word*>(bytes.data()), count};
  }
  static capnp::ReaderOptions options(std::size_t words) {
    capnp::ReaderOptions options;
    options.traversalLimitInWords = words + kTraversalSlackWords;
    options.nestingLimit = kNestingLimit;
    return options;
  }

  kj::Array<capnp::word> copy_;
  kj::ArrayPtr<const capnp::word> words_;
  capnp::FlatArrayMessageReader reader_;
};

// Runs `read`; whatever it throws becomes an error.
template <class T, class Read>
Result<T> guarded(const char* what, Read read) {
  const auto corrupt = [&](const std::string& why) {
    return Error{ErrorCode::kCorrupt, std::string("The ") + what + " makes no sense: " + why + "."};
  };
  NoStackTrace no_stack_trace;
  try {
    return read();
  } catch (const Refusal& refusal) {
    return corrupt(refusal.what);
  } catch (const kj::Exception& e) {
    return corrupt(e.getDescription().cStr());
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kOutOfMemory, std::string("No memory is left to read the ") + what + "."};
  } catch (const std::exception& e) {
    return corrupt(e.what());
  }
}

// The overloads below would hide it.
using codec::get;

std::int64_t get_bound(std::int64_t value) {
  return value == kNoBound ? value : checked_count(value, "the delay bound");
}

SyncOptions get(wire::SyncOptions::Reader from) {
  const SyncOptions sync{
      .mode = from_wire(from.getMode()),
      .bound = get_bound(from.getBound()),
      .bound_low = get_bound(from.getBoundLow()),
      .pull_ahead = from.getPullAhead(),
      .pull_ahead_alone = from.getPullAheadAlone(),
      .batch = checked_count(from.getBatch(), "the batch"),
      .failure_timeout = Duration(checked_count(from.getFailureTimeoutNs(), "the failure time-out")),
      .sample_count = checked_count(from.getSampleCount(), "the number of samples"),
      .end_position = checked_count(from.getEndPosition(), "the end of training")};
  if (sync.bound_low > sync.bound) refuse("the lower delay bound is above the upper");
  if (sync.pull_ahead && sync.bound == 0) refuse("nobody can pull ahead with a delay bound of 0");
  if (sync.batch == 0) refuse("the batch is empty");
  if (sync.sample_count == 0) refuse("the data set is empty");
  if (sync.failure_timeout == Duration{}) refuse("the failure time-out is 0");
  return sync;
}

Hello get(wire::Hello::Reader from) {
  return {.role = from_wire(from.getRole()),
          .name = line(from.getName(), "the name"),
          .host = line(from.getHost(), "the host"),
          .device = line(from.getDevice(), "the device"),
          .address = line(from.getAddress(), "the address"),
          .build_id = line(from.getBuildId(), "the build id"),
          .public_key = line(from.getPublicKey(), "the public key"),
          .previous = Incarnation(from.getPrevious())};
}

std::vector<std::string> get_keys(capnp::List<capnp::Text>::Reader from) {
  std::vector<std::string> keys;
  for (auto key : checked_size(from, limits::kMaxMembers, "allowed keys")) {
    keys.push_back(line(key, "an allowed key"));
  }
  return keys;
}

Welcome get(wire::Welcome::Reader from) {
  std::vector<std::string> allowed_keys = get_keys(from.getAllowedKeys());
  return {.run = RunId(from.getRun()),
          .id = from.getId(),
          .incarnation = Incarnation(from.getIncarnation()),
          .sync = get(from.getSync()),
          .run_text = checked_text(from.getRunText(), limits::kMaxDocumentBytes, TextKind::kText,
                                   "the text of the run file"),
          .allowed_keys = std::move(allowed_keys)};
}

Join get(wire::Join::Reader from) {
  const double speed = from.getSamplesPerS();
  if (!std::isfinite(speed) || speed < 0) refuse("the measured speed is no speed");
  return {.samples_per_s = speed};
}

Refuse get(wire::Refuse::Reader from) {
  return {.reason = from_wire(from.getReason()),
          .refused = Incarnation(from.getRefused()),
          .text = checked_text(from.getText(), limits::kMaxSentenceBytes, TextKind::kText, "the text")};
}

Stop get(wire::Stop::Reader from) {
  return {.failed = from.getFailed(),
          .text = checked_text(from.getText(), limits::kMaxSentenceBytes, TextKind::kText, "the text")};
}

Heartbeat get(wire::Heartbeat::Reader from) {
  std::vector<PeerId> silent;
  for (const std::uint64_t peer : checked_size(from.getSilent(), limits::kMaxServers, "silent peers")) {
    if (!silent.empty() && silent.back().value >= peer) refuse("the silent peers do not ascend");
    silent.push_back(PeerId(peer));
  }
  return {.sequence = from.getSequence(),
          .committed = get_clock(from.getCommitted()),
          .samples = checked_count(from.getSamples(), "the number of samples"),
          .busy = Duration(checked_count(from.getBusyNs(), "the time spent computing")),
          .waiting = Duration(checked_count(from.getWaitingNs(), "the time spent waiting")),
          .keys_version = from.getKeysVersion(),
          .silent = std::move(silent)};
}

AllowedKeys get(wire::AllowedKeys::Reader from) {
  return {.version = from.getVersion(), .keys = get_keys(from.getKeys())};
}

LeaseRequest get(wire::LeaseRequest::Reader from) {
  return {
      .next = get_clock(from.getNext()), .committed = get_clock(from.getCommitted()), .idle = from.getIdle()};
}

Pull get(wire::Pull::Reader from) {
  return {.shard = get_shard(from.getShard()),
          .clock = get_clock(from.getClock()),
          .after = get_clock(from.getAfter()),
          .committed = get_clock(from.getCommitted())};
}

PullReply get(wire::PullReply::Reader from, std::vector<Frame>& tensors) {
  const Encoding encoding = from_wire(from.getEncoding());
  const double ahead_rate = from.getAheadRate();
  if (!std::isfinite(ahead_rate) || ahead_rate < 0) refuse("the rate to step ahead by is no rate");
  return {.shard = get_shard(from.getShard()),
          .clock = get_clock(from.getClock()),
          .committed = get_clock(from.getCommitted()),
          .c_min = get_clock(from.getCMin()),
          .ahead_rate = ahead_rate,
          .encoding = encoding,
          .chunks = get(from.getChunks(), encoding, tensors)};
}

PushAck get(wire::PushAck::Reader from) {
  return {.shard = get_shard(from.getShard()),
          .clock = get_clock(from.getClock()),
          .lease = LeaseId(from.getLease())};
}

CommitAck get(wire::CommitAck::Reader from) {
  return {.shard = get_shard(from.getShard()), .committed = get_clock(from.getCommitted())};
}

CommitLog get(wire::CommitLog::Reader from) {
  CommitLog log;
  log.first = checked_sequence(from.getFirst(), "the log entry");
  const auto entries = checked_size(from.getEntries(), limits::kMaxLogEntries, "log entries");
  log.entries.reserve(entries.size());
  for (auto e : entries) {
    log.entries.push_back({.member = {MemberId(e.getMember()), Incarnation(e.getIncarnation())},
                           .clock = get_clock(e.getClock()),
                           .trained = get(e.getTrained()),
                           .digest = e.getDigest(),
                           .loss_sum = checked_loss(e.getLossSum()),
                           .correct = checked_count(e.getCorrect(), "the number of correct samples"),
                           .staleness = checked_count(e.getStaleness(), "the staleness"),
                           .delay = checked_count(e.getDelay(), "the delay")});
  }
  return log;
}

Evaluate get(wire::Evaluate::Reader from) {
  Evaluate evaluate{.snapshot = SnapshotId(from.getSnapshot()),
                    .task = from.getTask(),
                    .first = checked_count(from.getFirst(), "the first sample"),
                    .last = checked_count(from.getLast(), "the last sample"),
                    .record = get_record(from)};
  if (evaluate.first > evaluate.last) refuse("the samples to evaluate end before they begin");
  return evaluate;
}

SnapshotPull get(wire::SnapshotPull::Reader from) {
  return {.snapshot = SnapshotId(from.getSnapshot()), .shard = get_shard(from.getShard())};
}

SnapshotReply get(wire::SnapshotReply::Reader from, std::vector<Frame>& tensors) {
  const Encoding encoding = from_wire(from.getEncoding());
  return {.snapshot = SnapshotId(from.getSnapshot()),
          .shard = get_shard(from.getShard()),
          .encoding = encoding,
          .chunks = get(from.getChunks(), encoding, tensors)};
}

EvaluateResult get(wire::EvaluateResult::Reader from) {
  const EvaluateResult result{.snapshot = SnapshotId(from.getSnapshot()),
                              .task = from.getTask(),
                              .correct = checked_count(from.getCorrect(), "the number of correct samples"),
                              .loss_sum = checked_loss(from.getLossSum()),
                              .count = checked_count(from.getCount(), "the number of samples")};
  if (result.correct > result.count) refuse("more samples are correct than were evaluated");
  return result;
}

StatusReply get(wire::StatusReply::Reader from) {
  return {.json = checked_text(from.getJson(), limits::kMaxDocumentBytes, TextKind::kText, "the status")};
}

// Seconds, shares and factors of a fault.
double checked_amount(double value, const char* what) {
  if (!std::isfinite(value) || value < 0) refuse(std::string(what) + " is not a number from 0 on");
  return value;
}

Inject get(wire::Inject::Reader from) {
  return {.id = from.getId(),
          .kind = from_wire(from.getKind()),
          .target = line(from.getTarget(), "the target"),
          .to = line(from.getTo(), "the other end"),
          .peer = PeerId(from.getPeer()),
          .for_s = checked_amount(from.getForS(), "how long the fault lasts"),
          .factor = checked_amount(from.getFactor(), "the factor"),
          .probability = checked_amount(from.getProbability(), "the probability"),
          .delay_ms = checked_amount(from.getDelayMs(), "the delay"),
          .seed = from.getSeed(),
          .done = from.getDone()};
}

Injected get(wire::Injected::Reader from) {
  return {.id = from.getId(),
          .text = checked_text(from.getText(), limits::kMaxSentenceBytes, TextKind::kText, "the text")};
}

Message get_message(wire::Header::Reader header, std::vector<Frame>& tensors) {
  using H = wire::Header;
  switch (header.which()) {
    case H::HELLO:
      return get(header.getHello());
    case H::WELCOME:
      return get(header.getWelcome());
    case H::JOIN:
      return get(header.getJoin());
    case H::LEAVE:
      return Leave{};
    case H::FAREWELL:
      return Farewell{};
    case H::REFUSE:
      return get(header.getRefuse());
    case H::STOP:
      return get(header.getStop());
    case H::HEARTBEAT:
      return get(header.getHeartbeat());
    case H::HEARTBEAT_REPLY:
      return HeartbeatReply{header.getHeartbeatReply().getSequence()};
    case H::LEASE_REQUEST:
      return get(header.getLeaseRequest());
    case H::LEASE_GRANT:
      return LeaseGrant{get(header.getLeaseGrant().getLeases())};
    case H::PULL:
      return get(header.getPull());
    case H::PULL_REPLY:
      return get(header.getPullReply(), tensors);
    case H::PUSH:
      return get(header.getPush(), tensors);
    case H::PUSH_ACK:
      return get(header.getPushAck());
    case H::COMMIT:
      return get(header.getCommit());
    case H::COMMIT_ACK:
      return get(header.getCommitAck());
    case H::PREPARE:
      return get(header.getPrepare());
    case H::REPORT:
      return get(header.getReport());
    case H::CUT:
      return get(header.getCut());
    case H::DONE:
      return get(header.getDone());
    case H::GO:
      return get(header.getGo());
    case H::COMMIT_LOG:
      return get(header.getCommitLog());
    case H::COMMIT_LOG_ACK:
      return CommitLogAck{checked_sequence(header.getCommitLogAck().getNext(), "the log entry")};
    case H::EVALUATE:
      return get(header.getEvaluate());
    case H::SNAPSHOT_PULL:
      return get(header.getSnapshotPull());
    case H::SNAPSHOT_REPLY:
      return get(header.getSnapshotReply(), tensors);
    case H::EVALUATE_RESULT:
      return get(header.getEvaluateResult());
    case H::STATUS_REQUEST:
      return StatusRequest{};
    case H::STATUS_REPLY:
      return get(header.getStatusReply());
    case H::REPLICATE:
      return get(header.getReplicate(), tensors);
    case H::REPLICATE_ACK:
      return get(header.getReplicateAck());
    case H::FETCH_CHUNKS:
      return get(header.getFetchChunks());
    case H::CHUNK_STATES:
      return get(header.getChunkStates(), tensors);
    case H::ALLOWED_KEYS:
      return get(header.getAllowedKeys());
    case H::INJECT:
      return get(header.getInject());
    case H::INJECTED:
      return get(header.getInjected());
  }
  refuse("the message is of the unknown kind " + std::to_string(static_cast<int>(header.which())));
}

Sender get_sender(wire::Header::Reader header) {
  const auto view = header.getView();
  const Sender sender{.protocol_version = header.getProtocolVersion(),
                      .run = RunId(header.getRunId()),
                      .peer = PeerId(header.getSender()),
                      .incarnation = Incarnation(header.getSenderIncarnation()),
                      .view = View{view.getTerm(), view.getAttempt()}};
  if (sender.protocol_version == 0) refuse("the header names no protocol version");
  return sender;
}

std::string other_version(const Sender& sender) {
  std::ostringstream out;
  out << sender.peer << " speaks version " << sender.protocol_version
      << " of the protocol, this node speaks version " << kProtocolVersion
      << ": run the same release of convoy on every node.";
  return out.str();
}

}  // namespace
}  // namespace codec

Result<Decoded> decode(WireMessage message) {
  return codec::guarded<Decoded>("message", [&]() -> Result<Decoded> {
    codec::WordsReader reader(message.header.bytes());
    const auto header = reader.root<wire::Header>();
    const Sender sender = codec::get_sender(header);
    // A refusal is read in every version: else it would be answered by another, and that by a third.
    if (sender.protocol_version != kProtocolVersion && header.which() != wire::Header::REFUSE)
      return Error{ErrorCode::kRefused, codec::other_version(sender)};
    Decoded decoded{.envelope = {.view = sender.view,
                                 .from = sender.peer,
                                 .incarnation = sender.incarnation,
                                 .message = codec::get_message(header, message.tensors)},
                    .run = sender.run,
                    .protocol_version = sender.protocol_version};
    // Messages with chunks took theirs.
    if (!message.tensors.empty())
      codec::refuse(std::to_string(message.tensors.size()) +
                    " tensor frames came that the header does not announce");
    return decoded;
  });
}

Result<Sender> sender_of(const Frame& header) {
  return codec::guarded<Sender>("header", [&]() -> Result<Sender> {
    codec::WordsReader reader(header.bytes());
    return codec::get_sender(reader.root<wire::Header>());
  });
}

Result<ViewRecord> decode_record(std::span<const std::byte> bytes) {
  return codec::guarded<ViewRecord>("view record", [&]() -> Result<ViewRecord> {
    codec::WordsReader reader(bytes);
    return codec::get(reader.root<wire::ViewRecord>());
  });
}

}  // namespace convoy
