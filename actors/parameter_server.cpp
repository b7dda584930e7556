#include "actors/parameter_server.h"

#include <algorithm>

namespace convoy {
namespace {

// Log entries are worth a message when there are this many, or when the oldest is this old.
constexpr std::size_t kLogBatch = 256;
constexpr Duration kLogDelay = std::chrono::milliseconds(200);

}  // namespace

ParameterServer::ParameterServer(ParameterServerOptions options)
    : options_(std::move(options)),
      timing_(Timing::from(options_.failure_timeout)),
      partners_(options_.failure_timeout, options_.failure_timeout) {}

void ParameterServer::step(Time now, const Event& event, Effects& out) {
  if (phase_ == Phase::kDone) return;
  if (now - now_ > timing_.heartbeat * 3) partners_.slept(now);
  now_ = now;
  std::visit([&](const auto& e) { on(now, e, out); }, event);
  if (phase_ == Phase::kDone) return;
  for (CommitLogEntry& entry : fresh_log_) log_.push_back(std::move(entry));
  fresh_log_.clear();
  if (!log_.empty() && log_first_ + log_.size() > log_sent_end_) {
    if (log_due_ == Time::never()) log_due_ = now + kLogDelay;
    if (log_first_ + log_.size() - log_sent_end_ >= kLogBatch) log_due_ = now;
  }
  if (now >= log_due_) send_log(now, out);
  schedule(out);
}

// ---- Events

void ParameterServer::on(Time now, const Started&, Effects& out) {
  greet(now, out);
}

void ParameterServer::on(Time now, const Tick&, Effects& out) {
  wake_at_ = Time::never();
  if (now >= heartbeat_at_) heartbeat(now, out);
  if (ask_.due(now)) {
    ask_.again(now);
    ask(now, out);
  }
  for (auto& [shard, copy] : copies_) {
    ServerPost with = post(copy, out);
    copy.repeat(with);
  }
  if (cut_ && cut_->repeat.due(now)) {
    cut_->repeat.again(now);
    send_fetches(out);
  }
  if (log_repeat_.due(now)) {
    log_sent_end_ = log_first_;
    send_log(now, out);
  }
}

void ParameterServer::on(Time now, const PeerBack& event, Effects& out) {
  if (event.peer != kMasterPeerId) return;
  if (ask_.running()) ask(now, out);
  if (heartbeat_at_ != Time::never()) heartbeat(now, out);
}

void ParameterServer::on(Time now, const LeaveRequested&, Effects& out) {
  if (phase_ == Phase::kGreeting) {
    phase_ = Phase::kDone;
    out.push_back(Quit{false, "left before it was needed"});
    return;
  }
  // Others take over what is here in a view change; until Farewell everything goes on, even when the Master
  // is away for a while: what is here may be nowhere else. An operator who asks twice ends the process.
  leaving_ = true;
  ask_.start(now, timing_.retry);
  ask(now, out);
}

void ParameterServer::on(Time now, const Envelope& envelope, Effects& out) {
  const Message& message = envelope.message;
  if (envelope.from != kMasterPeerId) {
    partners_.heard(envelope.from, now);
    // Also to one of another view: it only asks whether there is a way.
    if (const auto* m = std::get_if<Heartbeat>(&message))
      return send(envelope.from, HeartbeatReply{m->sequence}, out);
    if (std::holds_alternative<HeartbeatReply>(message)) return;
  }
  // From members.
  if (const auto* m = std::get_if<Pull>(&message)) {
    if (ShardCopy* copy = serve(envelope, m->shard, out)) {
      ServerPost with = post(*copy, out);
      copy->on_pull(with, by_peer_.at(envelope.from), *m);
    }
    return;
  }
  if (const auto* m = std::get_if<Push>(&message)) {
    if (ShardCopy* copy = serve(envelope, m->shard, out)) {
      ServerPost with = post(*copy, out);
      copy->on_push(with, by_peer_.at(envelope.from), *m);
    }
    return;
  }
  if (const auto* m = std::get_if<Commit>(&message)) {
    if (ShardCopy* copy = serve(envelope, m->shard, out)) {
      ServerPost with = post(*copy, out);
      copy->on_commit(with, by_peer_.at(envelope.from), *m);
    }
    return;
  }
  if (const auto* m = std::get_if<SnapshotPull>(&message)) return on_snapshot_pull(envelope, *m, out);
  // From other P-slaves.
  if (const auto* m = std::get_if<Replicate>(&message)) {
    ShardCopy* copy = streamed(envelope, m->shard, m->stream, false, out);
    if (copy == nullptr) return;
    // Between the Report and the Cut nothing changes; after the cut only what it still waits for.
    const bool frozen = prepared_ != active_record_.view;
    const bool may_take = !frozen || (cut_ && cut_->unfinished.contains(m->shard));
    ServerPost with = post(*copy, out);
    copy->on_replicate(with, *m, may_take);
    return finish_copies(out);
  }
  if (const auto* m = std::get_if<ReplicateAck>(&message)) {
    ShardCopy* copy = streamed(envelope, m->shard, m->stream, true, out);
    const bool reported = prepared_ != active_record_.view && prepared_ != record_.view && !cut_;
    if (copy == nullptr || reported) return;
    ServerPost with = post(*copy, out);
    return copy->on_acknowledged(with, *m);
  }
  if (const auto* m = std::get_if<FetchChunks>(&message)) return on_fetch(envelope, *m, out);
  if (const auto* m = std::get_if<ChunkStates>(&message)) return on_states(envelope, *m, out);
  from_master(now, envelope, out);
}

void ParameterServer::from_master(Time now, const Envelope& envelope, Effects& out) {
  const Message& message = envelope.message;
  if (envelope.from != kMasterPeerId) {
    if (std::holds_alternative<Refuse>(message)) return;  // never refuse a refusal
    return refuse(envelope.from, envelope.incarnation, "only the Master sends this", out);
  }
  if (const auto* m = std::get_if<Prepare>(&message)) return on_prepare(now, *m, out);
  if (const auto* m = std::get_if<Cut>(&message)) return on_cut(now, *m, out);
  if (const auto* m = std::get_if<Go>(&message)) return on_go(*m, out);
  if (const auto* m = std::get_if<CommitLogAck>(&message)) return on_log_ack(now, *m, out);
  if (const auto* m = std::get_if<Welcome>(&message)) return on_welcome(now, *m, out);
  if (const auto* m = std::get_if<Refuse>(&message)) return on_refuse(now, *m, out);
  if (const auto* m = std::get_if<AllowedKeys>(&message)) return on_allowed_keys(*m, out);
  if (const auto* m = std::get_if<Stop>(&message)) {
    phase_ = Phase::kDone;
    out.push_back(Quit{m->failed, m->text});
    return;
  }
  if (std::holds_alternative<Farewell>(message)) {
    if (!leaving_) return;
    phase_ = Phase::kDone;
    out.push_back(Quit{false, "left the run"});
    return;
  }
  if (!std::holds_alternative<HeartbeatReply>(message)) ++bad_messages_;
}

// ---- Becoming part of the run

void ParameterServer::greet(Time now, Effects& out) {
  ask_.start(now, timing_.retry);
  send(kMasterPeerId,
       Hello{RoleKind::kServer, options_.name, options_.host, "", options_.address, options_.build_id,
             options_.public_key, incarnation_},
       out);
}

// Repeats what the phase waits for.
void ParameterServer::ask(Time now, Effects& out) {
  if (phase_ == Phase::kGreeting)
    greet(now, out);
  else if (leaving_)
    send(kMasterPeerId, Leave{}, out);
  else if (phase_ == Phase::kJoining)
    send(kMasterPeerId, Join{}, out);
}

void ParameterServer::on_welcome(Time now, const Welcome& message, Effects& out) {
  if (phase_ != Phase::kGreeting) return;
  id_ = ServerId(message.id);
  incarnation_ = message.incarnation;
  sync_ = message.sync;
  timing_ = Timing::from(sync_.failure_timeout);
  partners_ = FailureDetector(sync_.failure_timeout, sync_.failure_timeout);
  phase_ = Phase::kJoining;
  keys_version_ = 0;
  if (!message.allowed_keys.empty()) out.push_back(AllowKeys{message.allowed_keys});
  out.push_back(Prepared{message.run_text, message.sync});
  ask_.start(now, timing_.retry);
  heartbeat(now, out);
  send(kMasterPeerId, Join{}, out);
}

void ParameterServer::on_refuse(Time now, const Refuse& message, Effects& out) {
  switch (message.reason) {
    case RefuseReason::kNameTaken:
      out.push_back(Trace{TraceNote{"the Master refuses: " + message.text}});
      return;
    case RefuseReason::kBadMessage:
      ++bad_messages_;
      return;
    case RefuseReason::kStale:
    case RefuseReason::kUnknown:
      if (message.refused != incarnation_ || phase_ == Phase::kGreeting) return;
      if (leaving_) {  // it is out already
        phase_ = Phase::kDone;
        out.push_back(Quit{false, "left the run"});
        return;
      }
      return start_afresh(now, message.text, out);
    case RefuseReason::kOtherRun:
    case RefuseReason::kOtherVersion:
    case RefuseReason::kEnded:
      phase_ = Phase::kDone;
      out.push_back(Quit{message.reason != RefuseReason::kEnded, "the Master refuses: " + message.text});
  }
}

void ParameterServer::on_allowed_keys(const AllowedKeys& message, Effects& out) {
  if (phase_ == Phase::kGreeting || message.version <= keys_version_) return;
  keys_version_ = message.version;
  out.push_back(AllowKeys{message.keys});
}

// Others have taken over what was here: it is of no use to anybody.
void ParameterServer::start_afresh(Time now, const std::string& why, Effects& out) {
  out.push_back(Trace{TraceNote{"no longer part of the run (" + why + "): joining afresh, empty"}});
  copies_.clear();
  next_.clear();
  active_record_ = record_ = {};
  active_ = false;
  prepared_ = {};
  report_.reset();
  cut_.reset();
  cut_ledger_ = {};
  waiting_.clear();
  by_peer_.clear();
  snapshot_.reset();
  log_.clear();
  fresh_log_.clear();
  log_first_ = log_sent_end_ = 0;
  log_repeat_.stop();
  log_due_ = heartbeat_at_ = Time::never();
  out.push_back(KeepChunks{});
  phase_ = Phase::kGreeting;
  greet(now, out);
}

// ---- Copies

ShardCopy* ParameterServer::serve(const Envelope& envelope, ShardId shard, Effects& out) {
  if (envelope.view != record_.view || !serving()) return nullptr;
  const auto key = by_peer_.find(envelope.from);
  if (key == by_peer_.end() || key->second.incarnation != envelope.incarnation) {
    refuse(envelope.from, envelope.incarnation, "not a member of this view", out);
    return nullptr;
  }
  const auto& copies = active_ ? copies_ : next_;
  const auto at = copies.find(shard);
  if (at == copies.end() || !at->second.owned()) {
    refuse(envelope.from, envelope.incarnation, "this shard has another owner", out);
    return nullptr;
  }
  if (!active_) activate(out);
  return &copies_.at(shard);
}

ShardCopy* ParameterServer::streamed(const Envelope& envelope, ShardId shard, View stream, bool owned,
                                     Effects& out) {
  if (stream == View{}) return nullptr;
  // An owner that streams in a view knows that it is active.
  if (!owned && stream == record_.view && !active_ && serving()) activate(out);
  if (stream != active_record_.view) return nullptr;
  const auto at = copies_.find(shard);
  if (at == copies_.end() || at->second.owned() != owned) return nullptr;
  const auto& other = at->second.other();
  if (!other || other->peer != envelope.from || other->incarnation != envelope.incarnation) {
    refuse(envelope.from, envelope.incarnation, "not the other copy of this shard", out);
    return nullptr;
  }
  return &at->second;
}

const ShardCopy* ParameterServer::logging() const {
  for (const auto& [shard, copy] : copies_) {
    if (copy.owned()) return &copy;
  }
  return copies_.empty() ? nullptr : &copies_.begin()->second;
}

const IntervalSet& ParameterServer::ledger() const {
  const ShardCopy* copy = active_ ? logging() : nullptr;
  return copy != nullptr ? copy->ledger() : cut_ledger_;
}

std::vector<ShardCopy::Parked> ParameterServer::parked() const {
  std::vector<ShardCopy::Parked> waiting;
  for (const auto& [shard, copy] : copies_) {
    const std::vector<ShardCopy::Parked> at = copy.parked();
    waiting.insert(waiting.end(), at.begin(), at.end());
  }
  return waiting;
}

ServerPost ParameterServer::post(const ShardCopy& copy, Effects& out) {
  return {options_.self,
          incarnation_,
          record_.view,
          now_,
          out,
          bad_messages_,
          &copy == logging() ? &fresh_log_ : nullptr};
}

// ---- Snapshots and the log

void ParameterServer::on_snapshot_pull(const Envelope& from, const SnapshotPull& message, Effects& out) {
  if (snapshot_ != message.snapshot || message.shard.value >= snapshot_record_.shards.size() ||
      snapshot_record_.shards[message.shard.value].owner != id_) {
    return;  // replaced meanwhile; the Master no longer waits for it
  }
  out.push_back(SendChunks{from.from,
                           envelope(SnapshotReply{message.snapshot, message.shard, Encoding::kF32, {}}),
                           snapshot_record_.shards[message.shard.value].chunks, message.snapshot});
}

void ParameterServer::send_log(Time now, Effects& out) {
  log_due_ = Time::never();
  const std::uint64_t end = log_first_ + log_.size();
  const std::uint64_t first = std::max(log_first_, log_sent_end_);
  if (first == end) return;
  CommitLog message{first, {}};
  const std::size_t skip = static_cast<std::size_t>(first - log_first_);
  const std::size_t count = std::min(log_.size() - skip, kLogBatch);
  message.entries.assign(log_.begin() + static_cast<std::ptrdiff_t>(skip),
                         log_.begin() + static_cast<std::ptrdiff_t>(skip + count));
  log_sent_end_ = first + count;
  if (!log_repeat_.running())
    log_repeat_.start(now, timing_.retry);
  else
    log_repeat_.again(now);
  send(kMasterPeerId, std::move(message), out);
}

void ParameterServer::on_log_ack(Time now, const CommitLogAck& message, Effects& out) {
  if (message.next > log_first_ + log_.size()) {
    ++bad_messages_;
    return;
  }
  while (log_first_ < message.next) {
    log_.pop_front();
    ++log_first_;
  }
  log_sent_end_ = std::max(log_sent_end_, log_first_);
  if (log_sent_end_ == log_first_) log_repeat_.stop();
  // Long queues go out a batch an acknowledgement.
  if (log_first_ + log_.size() - log_sent_end_ >= kLogBatch) send_log(now, out);
}

// ---- Small things

void ParameterServer::heartbeat(Time now, Effects& out) {
  heartbeat_at_ = now + timing_.heartbeat;
  const ShardCopy* copy = logging();
  const std::vector<PeerId> others = partners();
  partners_.watch_only(others, now);
  send(kMasterPeerId,
       Heartbeat{++heartbeats_,
                 copy == nullptr ? Clock(0) : copy->c_min(),
                 ledger().size(),
                 {},
                 {},
                 keys_version_,
                 partners_.silent(now)},
       out);
  for (PeerId peer : others) send(peer, Heartbeat{.sequence = heartbeats_}, out);
}

std::vector<PeerId> ParameterServer::partners() const {
  std::set<PeerId> peers;
  const auto add = [&](const ServerRecord& s) {
    if (s.id != id_) peers.insert(s.peer);
  };
  for (const ServerRecord& s : active_record_.servers) add(s);
  for (const ServerRecord& s : record_.servers) add(s);
  if (cut_) {
    for (const ServerRecord& s : cut_->cut.record.servers) add(s);
    for (const ChunkSource& s : cut_->cut.sources) add(s.server);
  }
  return {peers.begin(), peers.end()};
}

void ParameterServer::refuse(PeerId peer, Incarnation incarnation, const std::string& why, Effects& out) {
  ++bad_messages_;
  send(peer, Refuse{RefuseReason::kBadMessage, incarnation, why}, out);
}

Envelope ParameterServer::envelope(Message message) const {
  return Envelope{record_.view, options_.self, incarnation_, std::move(message)};
}

void ParameterServer::send(PeerId to, Message message, Effects& out) const {
  out.push_back(Send{to, envelope(std::move(message))});
}

void ParameterServer::schedule(Effects& out) {
  Time next = std::min({heartbeat_at_, ask_.at(), log_due_, log_repeat_.at()});
  for (const auto& [shard, copy] : copies_) next = std::min(next, copy.repeat_at());
  if (cut_ && !cut_->fetching.empty()) next = std::min(next, cut_->repeat.at());
  if (next == wake_at_ || next == Time::never()) return;
  wake_at_ = next;
  out.push_back(WakeAt{next});
}

}  // namespace convoy
