#include "actors/worker.h"

#include <algorithm>

#include "messages/base/check.h"

namespace convoy {
namespace {

// Merges chunks that arrived into the ascending list; a repeat replaces.
void merge_chunks(std::vector<ChunkData>& into, const std::vector<ChunkData>& chunks) {
  for (const ChunkData& c : chunks) {
    const auto at = std::lower_bound(into.begin(), into.end(), c.chunk,
                                     [](const ChunkData& a, ChunkId id) { return a.chunk < id; });
    if (at != into.end() && at->chunk == c.chunk) {
      at->bytes = c.bytes;
    } else {
      into.insert(at, c);
    }
  }
}

// The chunks of one shard, in its order. Empty when one is missing.
std::vector<ChunkData> select_chunks(const std::vector<ChunkData>& all, const std::vector<ChunkId>& wanted) {
  std::vector<ChunkData> selected;
  selected.reserve(wanted.size());
  for (ChunkId id : wanted) {
    const auto at = std::lower_bound(all.begin(), all.end(), id,
                                     [](const ChunkData& a, ChunkId b) { return a.chunk < b; });
    if (at == all.end() || at->chunk != id) return {};
    selected.push_back(*at);
  }
  return selected;
}

bool lists_exactly(const std::vector<ChunkData>& chunks, const std::vector<ChunkId>& wanted) {
  return std::equal(chunks.begin(), chunks.end(), wanted.begin(), wanted.end(),
                    [](const ChunkData& a, ChunkId id) { return a.chunk == id; });
}

// Nobody else may send a W-slave away or move it to another view. A P-slave's word that a message was bad is
// welcome.
bool only_the_master_says(const Message& message) {
  if (const auto* refuse = std::get_if<Refuse>(&message)) return refuse->reason != RefuseReason::kBadMessage;
  return std::holds_alternative<Welcome>(message) || std::holds_alternative<Go>(message) ||
         std::holds_alternative<Evaluate>(message) || std::holds_alternative<Stop>(message) ||
         std::holds_alternative<Farewell>(message) || std::holds_alternative<LeaseGrant>(message);
}

bool lists_peer(const std::vector<ServerRecord>& servers, PeerId peer) {
  return std::any_of(servers.begin(), servers.end(), [&](const ServerRecord& s) { return s.peer == peer; });
}

bool all_true(const std::vector<bool>& flags) {
  return std::find(flags.begin(), flags.end(), false) == flags.end();
}

}  // namespace

Worker::Worker(WorkerOptions options)
    : options_(std::move(options)),
      timing_(Timing::from(options_.failure_timeout)),
      servers_(options_.failure_timeout, options_.failure_timeout) {}

void Worker::step(Time now, const Event& event, Effects& out) {
  if (phase_ == Phase::kDone) return;
  if (now - step_now_ > timing_.heartbeat * 3) servers_.slept(now);
  step_now_ = now;
  std::visit([&](const auto& e) { on(now, e, out); }, event);
  if (phase_ == Phase::kDone) return;
  advance(now, out);
  note_idle(now);
  schedule(out);
}

// ---- Events

void Worker::on(Time now, const Started&, Effects& out) {
  greet(now, out);
}

void Worker::on(Time now, const Tick&, Effects& out) {
  wake_at_ = Time::never();
  if (leave_requested_) leave_the_dead(now, out);
  if (phase_ == Phase::kDone) return;
  if (now >= heartbeat_at_) heartbeat(now, out);
  repeat_all(now, out, false);
}

void Worker::on(Time, const PeerLost&, Effects&) {}

void Worker::on(Time now, const PeerBack&, Effects& out) {
  repeat_all(now, out, true);
}

void Worker::leave_the_dead(Time now, Effects& out) {
  if (now - heard_ < sync_.failure_timeout) return;
  phase_ = Phase::kDone;
  out.push_back(Quit{false, "left without a farewell: the Master does not answer"});
}

void Worker::on(Time now, const LeaveRequested&, Effects& out) {
  leave_requested_ = true;
  if (phase_ != Phase::kGreeting) leave_the_dead(now, out);
  if (phase_ == Phase::kDone) return;
  if (in_view()) {
    phase_ = Phase::kLeaving;
    // What has not begun is given back; advance() finishes the rest, then asks to leave.
    while (!flights_.empty() &&
           (flights_.back().stage == Stage::kPulling || flights_.back().stage == Stage::kPulled)) {
      flights_.pop_back();
    }
    return;
  }
  if (phase_ == Phase::kStandBy || phase_ == Phase::kJoining || phase_ == Phase::kWarmingUp) {
    phase_ = Phase::kLeaving;
    flights_.clear();
    ask_.start(now, timing_.retry);
    send(kMasterPeerId, Leave{}, out);
    return;
  }
  phase_ = Phase::kDone;  // never welcomed: nobody counts on this node
  out.push_back(Quit{false, "left before it joined"});
}

void Worker::on(Time now, const WarmedUp& event, Effects& out) {
  if (phase_ != Phase::kWarmingUp) return;
  warm_ = true;
  samples_per_s_ = event.samples_per_s;
  phase_ = Phase::kJoining;
  ask_.start(now, timing_.retry);
  send(kMasterPeerId, Join{samples_per_s_}, out);
}

void Worker::on(Time, const Gradients& event, Effects&) {
  Flight* flight = flight_at(event.clock);
  if (event.last) busy_ += event.busy;
  if (flight == nullptr || flight->stage != Stage::kComputing || flight->lease.id != event.lease) return;
  merge_chunks(flight->chunks, event.chunks);
  if (!event.last) return;
  flight->stage = Stage::kComputed;
  flight->encoding = event.encoding;
  flight->trained = event.trained;
  flight->digest = event.digest;
  flight->loss_sum = event.loss_sum;
  flight->correct = event.correct;
  samples_ += event.trained.size();
}

void Worker::on(Time, const Evaluated& event, Effects& out) {
  if (!evaluation_ || evaluation_->task.snapshot != event.snapshot || evaluation_->task.task != event.task)
    return;
  evaluation_->result =
      EvaluateResult{event.snapshot, event.task, event.correct, event.loss_sum, event.count};
  evaluation_->chunks.clear();
  send(kMasterPeerId, *evaluation_->result, out);
}

void Worker::on(Time now, const Envelope& envelope, Effects& out) {
  const Message& message = envelope.message;
  if (envelope.from != kMasterPeerId && only_the_master_says(message)) {
    ++bad_messages_;
    return;
  }
  if (envelope.from == kMasterPeerId)
    heard_ = now;
  else
    servers_.heard(envelope.from, now);
  // From the Master: by its own rules.
  if (const auto* m = std::get_if<Welcome>(&message)) return on_welcome(now, *m, out);
  if (const auto* m = std::get_if<Refuse>(&message)) return on_refuse(now, envelope, *m, out);
  if (const auto* m = std::get_if<Go>(&message)) return on_go(now, *m, out);
  if (const auto* m = std::get_if<Evaluate>(&message)) return on_evaluate(now, *m, out);
  if (const auto* m = std::get_if<SnapshotReply>(&message)) return on_snapshot_reply(now, *m, out);
  if (const auto* m = std::get_if<Stop>(&message)) {
    phase_ = Phase::kDone;
    out.push_back(Quit{m->failed, m->text});
    return;
  }
  if (std::holds_alternative<Farewell>(message)) {
    if (phase_ != Phase::kLeaving) return;
    phase_ = Phase::kDone;
    out.push_back(Quit{false, "left the run"});
    return;
  }
  if (std::holds_alternative<HeartbeatReply>(message)) return;
  // The rest is good in the current view only.
  if (!in_view() || envelope.view != record_.view) return;
  if (const auto* m = std::get_if<LeaseGrant>(&message)) return on_lease_grant(now, *m, out);
  if (const auto* m = std::get_if<PullReply>(&message)) return on_pull_reply(now, *m, out);
  if (const auto* m = std::get_if<PushAck>(&message)) return on_push_ack(now, *m, out);
  if (const auto* m = std::get_if<CommitAck>(&message)) return on_commit_ack(now, *m, out);
  ++bad_messages_;
}

// ---- Becoming part of the run

void Worker::greet(Time now, Effects& out) {
  ask_.start(now, timing_.retry);
  send(kMasterPeerId,
       Hello{RoleKind::kWorker, options_.name, options_.host, options_.device, "", options_.build_id, "",
             key_.incarnation},
       out);
}

void Worker::on_welcome(Time now, const Welcome& message, Effects& out) {
  if (phase_ != Phase::kGreeting) return;
  key_ = {MemberId(message.id), message.incarnation};
  sync_ = message.sync;
  timing_ = Timing::from(sync_.failure_timeout);
  servers_ = FailureDetector(sync_.failure_timeout, sync_.failure_timeout);
  heartbeat_at_ = now;
  heartbeat(now, out);
  if (warm_ && welcomed_run_ == message.run_text) {
    phase_ = Phase::kJoining;
    ask_.start(now, timing_.retry);
    send(kMasterPeerId, Join{samples_per_s_}, out);
    return;
  }
  phase_ = Phase::kWarmingUp;
  ask_.stop();
  warm_ = false;
  welcomed_run_ = message.run_text;
  out.push_back(WarmUp{message.run_text, message.sync});
}

void Worker::on_refuse(Time now, const Envelope&, const Refuse& message, Effects& out) {
  switch (message.reason) {
    case RefuseReason::kOtherRun:
    case RefuseReason::kOtherVersion:
    case RefuseReason::kEnded:
      phase_ = Phase::kDone;
      out.push_back(Quit{message.reason != RefuseReason::kEnded, "the Master refuses: " + message.text});
      return;
    case RefuseReason::kNameTaken:
      if (phase_ == Phase::kGreeting) out.push_back(Trace{TraceNote{"the Master refuses: " + message.text}});
      return;  // the repeat of Hello asks again
    case RefuseReason::kBadMessage:
      ++bad_messages_;
      out.push_back(Trace{TraceNote{"a message was refused: " + message.text}});
      return;
    case RefuseReason::kStale:
    case RefuseReason::kUnknown:
      if (message.refused != key_.incarnation || phase_ == Phase::kGreeting) return;
      if (leave_requested_) {  // it is out already
        phase_ = Phase::kDone;
        out.push_back(Quit{false, "left the run"});
        return;
      }
      out.push_back(Trace{TraceNote{"no longer part of the run (" + message.text + "): joining afresh"}});
      start_afresh(now, out);
  }
}

void Worker::start_afresh(Time now, Effects& out) {
  if (!flights_.empty()) out.push_back(Abandon{flights_.front().clock});
  flights_.clear();
  leases_.clear();
  evaluation_.reset();
  record_ = {};
  watch_servers(now);
  n_ = {};
  commit_acked_.clear();
  lease_ask_.stop();
  commit_repeat_.stop();
  heartbeat_at_ = Time::never();
  phase_ = Phase::kGreeting;
  greet(now, out);
}

// ---- View change

void Worker::on_go(Time now, const Go& message, Effects& out) {
  const ViewRecord& record = message.record;
  if (phase_ == Phase::kGreeting || phase_ == Phase::kWarmingUp || record.view <= record_.view) return;
  const MemberRecord* member = record.find_member(key_.id);
  const MemberRecord* waiting = record.find_stand_by(key_.id);
  const MemberRecord* me = member != nullptr ? member : waiting;
  if (me == nullptr || me->key != key_) return;

  for (const ServerRecord& s : record_.servers) {
    if (!lists_peer(record.servers, s.peer)) out.push_back(Disconnect{s.peer});
  }
  record_ = record;
  watch_servers(now);
  // A picture that a P-slave took with it is not waited for.
  if (evaluation_ && !evaluation_->running && !evaluation_->result) {
    for (const ServerRecord& s : evaluation_->task.record.servers) {
      if (lists_peer(record_.servers, s.peer)) continue;
      evaluation_.reset();
      break;
    }
  }
  for (const ServerRecord& s : record_.servers) out.push_back(Connect{s.peer, s.address, s.public_key});
  n_ = me->n;
  commit_acked_.assign(record_.shards.size(), n_);
  leases_.assign(message.leases.begin(), message.leases.end());
  last_grant_ = leases_.size();
  dry_ = false;
  lease_ask_.stop();
  commit_repeat_.stop();
  ask_.stop();

  // Work goes on only where Go confirms (clock, lease), and without a gap from n.
  while (!flights_.empty() && flights_.front().clock < n_) flights_.pop_front();
  std::size_t kept = 0;
  while (kept < flights_.size()) {
    Flight& flight = flights_[kept];
    const Lease* lease = lease_for(flight.clock);
    if (member == nullptr || flight.clock != n_ + static_cast<std::int64_t>(kept) || lease == nullptr ||
        lease->id != flight.lease.id) {
      break;
    }
    if (flight.stage == Stage::kPushing) flight.stage = Stage::kComputed;
    if (flight.stage == Stage::kPulling) break;  // asked of the old owners: ask again
    ++kept;
  }
  if (kept < flights_.size()) {
    out.push_back(Abandon{flights_[kept].clock});
    flights_.resize(kept);
  }
  if (phase_ != Phase::kLeaving) phase_ = member != nullptr ? Phase::kActive : Phase::kStandBy;
  if (phase_ == Phase::kLeaving && member == nullptr) flights_.clear();
}

// ---- A clock

void Worker::on_lease_grant(Time, const LeaseGrant& message, Effects&) {
  if (!lease_ask_.running()) return;
  const Clock next =
      leases_.empty() ? n_ + static_cast<std::int64_t>(flights_.size()) : leases_.back().clock + 1;
  Clock expected = next;
  for (const Lease& lease : message.leases) {
    if (lease.clock < expected) continue;  // a repeat that overlaps what is here
    if (lease.clock != expected) {
      ++bad_messages_;
      return;
    }
    leases_.push_back(lease);
    ++expected;
  }
  if (expected == next) {
    if (!message.leases.empty()) return;  // only old ones: our repeat is on its way
    dry_ = true;
  }
  lease_ask_.stop();
  last_grant_ = leases_.size();
}

void Worker::on_pull_reply(Time, const PullReply& message, Effects&) {
  const std::size_t shard = message.shard.value;
  if (shard >= record_.shards.size()) {
    ++bad_messages_;
    return;
  }
  commit_acked_[shard] = std::max(commit_acked_[shard], message.committed);
  Flight* flight = flight_at(message.clock);
  if (flight == nullptr || flight->stage != Stage::kPulling || flight->answered[shard]) return;
  if (!lists_exactly(message.chunks, record_.shards[shard].chunks)) {
    ++bad_messages_;
    return;
  }
  merge_chunks(flight->chunks, message.chunks);
  for (const ChunkData& c : message.chunks) {
    if (flight->ahead_rates.size() <= c.chunk.value)
      flight->ahead_rates.resize(c.chunk.value + std::size_t{1}, 0.0);
    flight->ahead_rates[c.chunk.value] = message.ahead_rate;
  }
  flight->encoding = message.encoding;
  flight->answered[shard] = true;
  if (!all_true(flight->answered)) return;
  flight->stage = Stage::kPulled;
  flight->repeat.stop();
}

void Worker::on_push_ack(Time now, const PushAck& message, Effects& out) {
  if (flights_.empty() || message.shard.value >= record_.shards.size()) return;
  Flight& flight = flights_.front();
  if (flight.stage != Stage::kPushing || flight.clock != message.clock || flight.lease.id != message.lease)
    return;
  flight.answered[message.shard.value] = true;
  if (!all_true(flight.answered)) return;
  // Held everywhere: it counts from here on.
  n_ = flight.clock + 1;
  flights_.pop_front();
  while (!leases_.empty() && leases_.front().clock < n_) leases_.pop_front();
  if (!start_pull(now, out)) send_commits(out);  // else the pull carries it
  commit_repeat_.start(now, timing_.retry);
}

void Worker::on_commit_ack(Time, const CommitAck& message, Effects&) {
  if (message.shard.value >= commit_acked_.size()) {
    ++bad_messages_;
    return;
  }
  Clock& acked = commit_acked_[message.shard.value];
  acked = std::max(acked, message.committed);
}

void Worker::advance(Time now, Effects& out) {
  if (!in_view() || record_.view == View{}) return;
  if (commit_repeat_.running() && acknowledged() >= n_) commit_repeat_.stop();
  start_pull(now, out);
  start_compute(now, out);
  start_push(now, out);
  if (phase_ == Phase::kLeaving) {
    if (flights_.empty() && acknowledged() >= n_ && !ask_.running()) {
      ask_.start(now, timing_.retry);
      send(kMasterPeerId, Leave{}, out);
    }
    return;
  }
  ask_for_leases(now, out);
}

bool Worker::start_pull(Time now, Effects& out) {
  if (phase_ != Phase::kActive) return false;
  if (!flights_.empty() && flights_.back().stage == Stage::kPulling) return false;
  const Clock clock = n_ + static_cast<std::int64_t>(flights_.size());
  const std::int64_t in_flight = pulls_ahead() ? 1 : 0;
  if (clock - n_ > in_flight) return false;
  const Lease* lease = lease_for(clock);
  if (lease == nullptr) return false;
  Flight flight;
  flight.clock = clock;
  flight.lease = *lease;
  flight.answered.assign(record_.shards.size(), false);
  flight.repeat.start(now, timing_.retry);
  out.push_back(Prefetch{flight.lease});
  flights_.push_back(std::move(flight));
  send_pulls(flights_.back(), out);
  return true;
}

void Worker::send_pulls(const Flight& flight, Effects& out) {
  // Pull-ahead: the answer need not wait for the commit of the clock that is being computed.
  const Clock after = std::min(n_, pulls_ahead() ? std::max(Clock(0), flight.clock - 1) : flight.clock);
  for (std::uint32_t s = 0; s < record_.shards.size(); ++s) {
    if (!flight.answered[s]) send(owner(ShardId(s)), Pull{ShardId(s), flight.clock, after, n_}, out);
  }
}

bool Worker::start_compute(Time, Effects& out) {
  for (const Flight& f : flights_) {
    if (f.stage == Stage::kComputing) return false;
  }
  const auto flight = std::find_if(flights_.begin(), flights_.end(),
                                   [](const Flight& f) { return f.stage == Stage::kPulled; });
  if (flight == flights_.end()) return false;
  flight->stage = Stage::kComputing;
  out.push_back(Compute{flight->clock, flight->lease, flight->encoding, std::move(flight->chunks),
                        std::move(flight->ahead_rates)});
  flight->chunks.clear();
  flight->ahead_rates.clear();
  return true;
}

bool Worker::start_push(Time now, Effects& out) {
  if (flights_.empty() || flights_.front().stage != Stage::kComputed) return false;
  Flight& flight = flights_.front();
  flight.stage = Stage::kPushing;
  flight.answered.assign(record_.shards.size(), false);
  flight.repeat.start(now, timing_.retry);
  send_pushes(flight, out);
  return true;
}

void Worker::send_pushes(const Flight& flight, Effects& out) {
  for (std::uint32_t s = 0; s < record_.shards.size(); ++s) {
    if (flight.answered[s]) continue;
    std::vector<ChunkData> chunks = select_chunks(flight.chunks, record_.shards[s].chunks);
    CONVOY_CHECK(chunks.size() == record_.shards[s].chunks.size(), "gradient of clock ", flight.clock,
                 " lacks chunks of ", ShardId(s));
    send(owner(ShardId(s)),
         Push{ShardId(s), flight.clock, flight.lease.id, flight.trained, flight.digest, flight.loss_sum,
              flight.correct, flight.encoding, std::move(chunks)},
         out);
  }
}

void Worker::send_commits(Effects& out) {
  for (std::uint32_t s = 0; s < record_.shards.size(); ++s) {
    if (commit_acked_[s] < n_) send(owner(ShardId(s)), Commit{ShardId(s), n_}, out);
  }
}

void Worker::ask_for_leases(Time now, Effects& out) {
  const Clock next =
      leases_.empty() ? n_ + static_cast<std::int64_t>(flights_.size()) : leases_.back().clock + 1;
  const bool idle = flights_.empty() && leases_.empty() && acknowledged() >= n_;
  if (idle ? lease_ask_.running() && lease_ask_idle_ : lease_ask_.running() || dry_) return;
  if (!idle && leases_.size() * 2 > last_grant_) return;
  lease_ask_idle_ = idle;
  lease_ask_.start(now, timing_.retry);
  send(kMasterPeerId, LeaseRequest{next, acknowledged(), idle}, out);
}

// ---- Evaluation

void Worker::on_evaluate(Time now, const Evaluate& message, Effects& out) {
  if (!warm_ || phase_ == Phase::kGreeting || phase_ == Phase::kWarmingUp) return;
  if (evaluation_ && evaluation_->task.snapshot == message.snapshot &&
      evaluation_->task.task == message.task) {
    if (evaluation_->result) send(kMasterPeerId, *evaluation_->result, out);
    return;
  }
  evaluation_ = Evaluation{};
  evaluation_->task = message;
  evaluation_->answered.assign(message.record.shards.size(), false);
  evaluation_->repeat.start(now, timing_.retry);
  for (const ServerRecord& s : message.record.servers)
    out.push_back(Connect{s.peer, s.address, s.public_key});
  for (std::uint32_t s = 0; s < message.record.shards.size(); ++s) {
    send(message.record.owner_of(ShardId(s)).peer, SnapshotPull{message.snapshot, ShardId(s)}, out);
  }
}

void Worker::on_snapshot_reply(Time, const SnapshotReply& message, Effects& out) {
  if (!evaluation_ || evaluation_->running || evaluation_->task.snapshot != message.snapshot) return;
  const std::size_t shard = message.shard.value;
  if (shard >= evaluation_->answered.size() || evaluation_->answered[shard]) return;
  if (!lists_exactly(message.chunks, evaluation_->task.record.shards[shard].chunks)) {
    ++bad_messages_;
    return;
  }
  merge_chunks(evaluation_->chunks, message.chunks);
  evaluation_->answered[shard] = true;
  if (!all_true(evaluation_->answered)) return;
  evaluation_->running = true;
  evaluation_->repeat.stop();
  out.push_back(EvaluateSlice{evaluation_->task, std::move(evaluation_->chunks)});
}

// ---- Time

void Worker::repeat_all(Time now, Effects& out, bool even_if_early) {
  const auto due = [&](Backoff& b) {
    if (!b.running() || !(even_if_early || b.due(now))) return false;
    b.again(now);
    return true;
  };
  if (due(ask_)) {
    if (phase_ == Phase::kGreeting) {
      greet(now, out);
    } else if (phase_ == Phase::kJoining) {
      send(kMasterPeerId, Join{samples_per_s_}, out);
    } else if (phase_ == Phase::kLeaving) {
      send(kMasterPeerId, Leave{}, out);
    }
  }
  for (Flight& flight : flights_) {
    if (!due(flight.repeat)) continue;
    if (flight.stage == Stage::kPulling) send_pulls(flight, out);
    if (flight.stage == Stage::kPushing) send_pushes(flight, out);
  }
  // A pull on its way carries the commit as well, so one of the two is enough.
  const bool pulling = !flights_.empty() && flights_.back().stage == Stage::kPulling;
  if (due(commit_repeat_) && !pulling) send_commits(out);
  if (due(lease_ask_)) {
    const Clock next =
        leases_.empty() ? n_ + static_cast<std::int64_t>(flights_.size()) : leases_.back().clock + 1;
    send(kMasterPeerId, LeaseRequest{next, acknowledged(), lease_ask_idle_}, out);
  }
  if (evaluation_ && due(evaluation_->repeat)) {
    for (std::uint32_t s = 0; s < evaluation_->answered.size(); ++s) {
      if (evaluation_->answered[s]) continue;
      send(evaluation_->task.record.owner_of(ShardId(s)).peer,
           SnapshotPull{evaluation_->task.snapshot, ShardId(s)}, out);
    }
  }
}

void Worker::heartbeat(Time now, Effects& out) {
  heartbeat_at_ = now + timing_.heartbeat;
  Duration waiting = waiting_;
  if (idle_since_ != Time::never()) waiting += now - idle_since_;
  send(kMasterPeerId,
       Heartbeat{++heartbeats_, acknowledged(), samples_, busy_, waiting, 0, servers_.silent(now)}, out);
  for (const ServerRecord& s : record_.servers) send(s.peer, Heartbeat{.sequence = heartbeats_}, out);
}

void Worker::watch_servers(Time now) {
  std::vector<PeerId> peers;
  for (const ServerRecord& s : record_.servers) peers.push_back(s.peer);
  servers_.watch_only(peers, now);
}

void Worker::note_idle(Time now) {
  const bool computing = std::any_of(flights_.begin(), flights_.end(),
                                     [](const Flight& f) { return f.stage == Stage::kComputing; });
  const bool idle = phase_ == Phase::kActive && !computing;
  if (idle && idle_since_ == Time::never()) idle_since_ = now;
  if (!idle && idle_since_ != Time::never()) {
    waiting_ += now - idle_since_;
    idle_since_ = Time::never();
  }
}

void Worker::schedule(Effects& out) {
  Time next = std::min({heartbeat_at_, ask_.at(), lease_ask_.at(), commit_repeat_.at()});
  for (const Flight& f : flights_) next = std::min(next, f.repeat.at());
  if (evaluation_) next = std::min(next, evaluation_->repeat.at());
  if (next == wake_at_ || next == Time::never()) return;
  wake_at_ = next;
  out.push_back(WakeAt{next});
}

// ---- Small things

const Lease* Worker::lease_for(Clock clock) const {
  for (const Lease& lease : leases_) {
    if (lease.clock == clock) return &lease;
    if (lease.clock > clock) break;
  }
  return nullptr;
}

Clock Worker::acknowledged() const {
  Clock least = n_;
  for (Clock c : commit_acked_) least = std::min(least, c);
  return least;
}

Worker::Flight* Worker::flight_at(Clock clock) {
  for (Flight& f : flights_) {
    if (f.clock == clock) return &f;
  }
  return nullptr;
}

void Worker::send(PeerId to, Message message, Effects& out) const {
  out.push_back(Send{to, Envelope{record_.view, options_.self, key_.incarnation, std::move(message)}});
}

}  // namespace convoy
