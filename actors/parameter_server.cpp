#include "actors/parameter_server.h"

#include <algorithm>
#include <sstream>

#include "messages/base/check.h"

namespace convoy {
namespace {

// Log entries are worth a message when there are this many, or when the oldest is this old.
constexpr std::size_t kLogBatch = 256;
constexpr Duration kLogDelay = std::chrono::milliseconds(200);

// How fast the expected delay of a member follows what is seen.
constexpr double kDelayGain = 0.1;

// A member pushes one clock at a time; a second may overtake the commit of the first.
constexpr std::int64_t kHeldClocks = 2;

}  // namespace

ParameterServer::ParameterServer(ParameterServerOptions options)
    : options_(std::move(options)), timing_(Timing::from(options_.failure_timeout)) {}

void ParameterServer::step(Time now, const Event& event, Effects& out) {
  if (phase_ == Phase::kDone) return;
  now_ = now;
  std::visit([&](const auto& e) { on(now, e, out); }, event);
  if (phase_ == Phase::kDone) return;
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
    if (phase_ == Phase::kGreeting) greet(now, out);
    if (phase_ == Phase::kJoining) send(kMasterPeerId, Join{}, out);
  }
  if (log_repeat_.due(now)) {
    log_sent_end_ = log_first_;
    send_log(now, out);
  }
}

void ParameterServer::on(Time now, const PeerBack& event, Effects& out) {
  if (event.peer != kMasterPeerId) return;
  if (phase_ == Phase::kGreeting) greet(now, out);
  if (phase_ == Phase::kJoining) send(kMasterPeerId, Join{}, out);
  if (heartbeat_at_ != Time::never()) heartbeat(now, out);
}

void ParameterServer::on(Time, const LeaveRequested&, Effects& out) {
  // Handing the shard over to another P-slave is a view change of its own kind; until there is one, the run
  // ends.
  phase_ = Phase::kDone;
  const bool needed = record_.view != View{};
  out.push_back(Quit{needed, needed ? "stopped while it owned parameters" : "left before it was needed"});
}

void ParameterServer::on(Time now, const Envelope& envelope, Effects& out) {
  const Message& message = envelope.message;
  // From members.
  if (const auto* m = std::get_if<Pull>(&message)) {
    if (Member* member = serve(envelope, m->shard, out)) on_pull(*member, *m, out);
    return;
  }
  if (const auto* m = std::get_if<Push>(&message)) {
    if (Member* member = serve(envelope, m->shard, out)) on_push(*member, *m, out);
    return;
  }
  if (const auto* m = std::get_if<Commit>(&message)) {
    if (Member* member = serve(envelope, m->shard, out)) on_commit(*member, m->committed, true, out);
    return;
  }
  if (const auto* m = std::get_if<SnapshotPull>(&message)) return on_snapshot_pull(envelope, *m, out);
  // From the Master.
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

void ParameterServer::on_welcome(Time now, const Welcome& message, Effects& out) {
  if (phase_ != Phase::kGreeting) return;
  id_ = ServerId(message.id);
  incarnation_ = message.incarnation;
  sync_ = message.sync;
  timing_ = Timing::from(sync_.failure_timeout);
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
      if (record_.view == View{}) {  // nothing here is worth keeping: start over
        phase_ = Phase::kGreeting;
        greet(now, out);
        return;
      }
      [[fallthrough]];
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

// ---- View change

void ParameterServer::on_prepare(Time, const Prepare& message, Effects& out) {
  if (message.next == prepared_ && report_) {
    send(kMasterPeerId, *report_, out);
    return;
  }
  if (message.next <= prepared_ || message.next <= record_.view) return;
  if (message.base == record_.view && !active_ && record_.view != View{}) activate(out);  // overtook Go
  prepared_ = message.next;
  Report report;
  report.next = message.next;
  report.base = message.base;
  if (active_record_.view > message.base) report.newer = active_record_;
  for (auto& [key, m] : members_) {
    m.parked.reset();
    const MemberRecord* of_base = active_record_.find_member(key.id);
    if (of_base == nullptr || of_base->key != key) continue;
    report.members.push_back({key, counted(m), m.granted_end});
  }
  report.ledger = ledger_;
  report_ = std::move(report);
  send(kMasterPeerId, *report_, out);
}

std::string ParameterServer::why_not(const Cut& cut) const {
  const auto shard = std::find_if(cut.record.shards.begin(), cut.record.shards.end(),
                                  [&](const ShardRecord& s) { return s.owner == id_; });
  if (shard == cut.record.shards.end()) return "no shard of the cut is owned here";
  if (initialised_ && shard->chunks != chunks()) return "the cut moves chunks";
  for (const CutMember& c : cut.members) {
    const auto m = members_.find(c.key);
    if (m == members_.end()) return "unknown member in the cut";
    if (m->second.applied > c.committed) return "the cut takes back what was applied";
    for (Clock k = m->second.applied; k < c.committed; ++k) {
      const auto held = m->second.held.find(k);
      if (held == m->second.held.end() || !held->second.complete())
        return "a committed push is not held here";
    }
  }
  return {};
}

void ParameterServer::on_cut(Time, const Cut& message, Effects& out) {
  const View view = message.record.view;
  if (view == record_.view) {  // repeated: our Done was lost
    send(kMasterPeerId, Done{record_.view, ledger_.digest(), log_first_ + log_.size()}, out);
    return;
  }
  if (view < record_.view || view < prepared_) return;
  if (const std::string why = why_not(message); !why.empty()) {
    std::ostringstream text;
    text << "cannot make the cut of " << view << ": " << why;
    out.push_back(Trace{TraceViolation{text.str()}});
    return;
  }
  make_cut(message, out);
  send(kMasterPeerId, Done{record_.view, ledger_.digest(), log_first_ + log_.size()}, out);
  log_due_ = log_.empty() ? log_due_ : now_;  // the Master waits for the log of the last cut
}

void ParameterServer::make_cut(const Cut& cut, Effects& out) {
  if (bsp()) {
    for (;;) {
      std::vector<Member*> closing;
      for (const CutMember& c : cut.members) {
        Member& m = members_.at(c.key);
        if (m.applied < c.committed) closing.push_back(&m);
      }
      if (closing.empty()) break;
      close_clock(closing, out);
    }
  } else {
    for (const CutMember& c : cut.members) {
      Member& m = members_.at(c.key);
      while (m.applied < c.committed) apply_one(m, out);
    }
  }
  for (auto& [key, m] : members_) {
    m.in_view = false;
    m.committed = m.applied;
    m.parked.reset();
    m.wants_ack = false;
  }
  by_peer_.clear();
  for (const MemberRecord& r : cut.record.members) by_peer_[r.peer] = r.key;
  const double undisturbed = undisturbed_delay();
  for (const MemberRecord& r : cut.record.members) {
    Member& m = members_[r.key];
    m.key = r.key;
    m.peer = r.peer;
    m.in_view = true;
    m.committed = m.applied = r.n;
    m.granted_end = std::max(m.granted_end, r.n);
    m.answered_end = r.n;
    m.delay = undisturbed;
  }
  record_ = cut.record;
  prepared_ = record_.view;
  active_ = false;
  report_.reset();
  for (std::uint32_t s = 0; s < record_.shards.size(); ++s) {
    if (record_.shards[s].owner == id_) shard_ = ShardId(s);
  }
  const bool decides = !chunks().empty() && chunks().front() == ChunkId(0);
  gate_.configure(sync_, decides);
  rebuild_gate();
  if (!initialised_) {
    initialised_ = true;
    out.push_back(InitialiseChunks{chunks()});
  }
  if (cut.snapshot) {
    snapshot_ = cut.snapshot;
    snapshot_record_ = record_;
    out.push_back(TakeSnapshot{*cut.snapshot});
  }
  phase_ = Phase::kInRun;
  ask_.stop();
  out.push_back(Trace{TraceCut{record_, cut.members, ledger_}});
}

void ParameterServer::on_go(const Go& message, Effects& out) {
  if (message.record.view == record_.view && !active_) activate(out);
}

void ParameterServer::activate(Effects& out) {
  active_ = true;
  active_record_ = record_;
  std::erase_if(members_, [](const auto& entry) { return !entry.second.in_view; });
  for (auto& entry : members_) {
    auto& m = entry.second;
    m.held.clear();  // pushed again by those that are to keep it
    std::erase_if(m.granted, [&](const auto& g) { return g.first < m.applied; });
  }
  out.push_back(Trace{TraceActive{record_}});
}

// ---- A clock

ParameterServer::Member* ParameterServer::serve(const Envelope& envelope, ShardId shard, Effects& out) {
  if (envelope.view != record_.view || !serving() || record_.view == View{}) return nullptr;
  const auto key = by_peer_.find(envelope.from);
  if (key == by_peer_.end() || key->second.incarnation != envelope.incarnation) {
    refuse(envelope.from, envelope.incarnation, "not a member of this view", out);
    return nullptr;
  }
  if (shard != shard_) {
    refuse(envelope.from, envelope.incarnation, "this shard has another owner", out);
    return nullptr;
  }
  if (!active_) activate(out);
  return &members_.at(key->second);
}

void ParameterServer::on_pull(Member& member, const Pull& message, Effects& out) {
  if (message.clock - kHeldClocks >= std::max(member.committed, message.committed))
    return refuse(member, "a pull too far ahead", out);
  if (!on_commit(member, message.committed, false, out)) return;
  if (message.clock + 1 < member.answered_end) return;  // late: a later pull was answered already
  if (member.parked && message.clock < member.parked->clock) return;
  member.parked = message;
  answer(member, out);
}

void ParameterServer::on_push(Member& member, const Push& message, Effects& out) {
  if (message.clock < member.committed) return;  // late: committed, so acknowledged long ago
  if (message.clock >= member.committed + kHeldClocks) return refuse(member, "a push too far ahead", out);
  // Check all before anything changes.
  for (const ChunkData& c : message.chunks) {
    if (!std::binary_search(chunks().begin(), chunks().end(), c.chunk)) {
      return refuse(member, "a push for a chunk of another shard", out);
    }
  }
  if (message.trained.empty() || ledger_.intersects(message.trained)) {
    out.push_back(Trace{TraceViolation{"a push trains positions that are committed already, or none"}});
    return refuse(member, "a push of committed positions", out);
  }
  Held& held = member.held[message.clock];
  if (held.chunks.empty() || held.lease != message.lease) {
    held = Held{};
    held.chunks.resize(chunks().size());
    held.missing = chunks().size();
  }
  held.lease = message.lease;
  held.trained = message.trained;
  held.digest = message.digest;
  held.loss_sum = message.loss_sum;
  held.correct = message.correct;
  held.encoding = message.encoding;
  for (const ChunkData& c : message.chunks) {
    const auto at = std::lower_bound(chunks().begin(), chunks().end(), c.chunk) - chunks().begin();
    std::optional<Frame>& place = held.chunks[static_cast<std::size_t>(at)];
    if (!place) --held.missing;
    place = c.bytes;
  }
  if (held.complete()) send(member.peer, PushAck{shard_, message.clock, message.lease}, out);
}

bool ParameterServer::on_commit(Member& member, Clock committed, bool wants_ack, Effects& out) {
  for (Clock k = member.committed; k < committed; ++k) {
    const auto held = member.held.find(k);
    if (held == member.held.end() || !held->second.complete()) {
      out.push_back(Trace{TraceViolation{"a commit of a clock that is not held here"}});
      refuse(member, "a commit of a clock that is not held", out);
      return false;
    }
  }
  member.wants_ack = member.wants_ack || wants_ack;
  if (committed > member.committed) {
    member.committed = committed;
    const Clock before = gate_.c_min();
    apply_ready(out);
    if (bsp()) {
      for (auto& [key, m] : members_) {
        if (m.in_view) gate_.set(key.id, m.applied);
      }
    } else {
      gate_.set(member.key.id, member.committed);
    }
    if (gate_.c_min() != before) {
      answer_all(out);
      for (auto& [key, m] : members_) acknowledge_commit(m, out);
      return true;
    }
    answer(member, out);
  }
  acknowledge_commit(member, out);
  return true;
}

void ParameterServer::acknowledge_commit(Member& member, Effects& out) {
  if (!member.in_view || !member.wants_ack || member.applied < member.committed) return;
  member.wants_ack = false;
  send(member.peer, CommitAck{shard_, member.applied}, out);
}

void ParameterServer::apply_ready(Effects& out) {
  if (!bsp()) {
    for (auto& [key, m] : members_) {
      while (m.in_view && m.applied < m.committed) apply_one(m, out);
    }
    return;
  }
  for (;;) {
    std::vector<Member*> closing;
    for (auto& [key, m] : members_) {
      if (!m.in_view) continue;
      if (m.committed <= m.applied) return;  // somebody has not committed: the clock stays open
      closing.push_back(&m);
    }
    if (closing.empty()) return;
    close_clock(closing, out);
  }
}

Contribution ParameterServer::contribution(const Member& member, const Held& held) const {
  Contribution c{member.key, held.trained.size(), held.encoding, {}};
  c.chunks.reserve(held.chunks.size());
  for (std::size_t i = 0; i < held.chunks.size(); ++i) c.chunks.push_back({chunks()[i], *held.chunks[i]});
  return c;
}

void ParameterServer::apply_one(Member& member, Effects& out) {
  close_clock({&member}, out);
}

// Applies the next clock of each of `members` (already in member order) in one step.
void ParameterServer::close_clock(const std::vector<Member*>& members, Effects& out) {
  Apply apply;
  apply.clock = members.front()->applied;
  apply.samples_before = samples_applied_;
  for (Member* m : members) {
    const auto held = m->held.find(m->applied);
    CONVOY_CHECK(held != m->held.end() && held->second.complete(), m->key, " clock ", m->applied);
    apply.contributions.push_back(contribution(*m, held->second));
    apply.samples += held->second.trained.size();
    out.push_back(Trace{TraceApply{m->key, m->applied, held->second.trained}});
    log(*m, m->applied, held->second);
    if (ledger_.intersects(held->second.trained)) {
      out.push_back(Trace{TraceViolation{"a position is committed twice"}});
    }
    ledger_.insert(held->second.trained);
    if (const auto g = m->granted.find(m->applied); g != m->granted.end()) {
      // What was pulled in an earlier view says nothing about this one.
      if (g->second.view == record_.view) {
        const double delay = static_cast<double>(samples_applied_ - g->second.samples_applied) /
                             static_cast<double>(sync_.batch);
        m->delay += kDelayGain * (delay - m->delay);
      }
      m->granted.erase(g);
    }
    m->held.erase(held);
    ++m->applied;
    ++m->own_applied;
    ++applied_total_;
  }
  apply.weight = bsp() ? 1.0 : static_cast<double>(apply.samples) / static_cast<double>(sync_.batch);
  samples_applied_ += apply.samples;
  out.push_back(std::move(apply));
}

void ParameterServer::log(const Member& member, Clock clock, const Held& held) {
  CommitLogEntry entry{member.key, clock, held.trained, held.digest, held.loss_sum, held.correct, 0, 0};
  if (const auto g = member.granted.find(clock); g != member.granted.end()) {
    entry.staleness = g->second.staleness;
    entry.delay = applied_total_ - member.own_applied - g->second.applied_by_others;
  }
  log_.push_back(std::move(entry));
}

void ParameterServer::rebuild_gate() {
  gate_.reset(record_.floor);
  for (const auto& [key, m] : members_) {
    if (m.in_view) gate_.set(key.id, counted(m));
  }
}

void ParameterServer::answer_all(Effects& out) {
  for (auto& [key, m] : members_) answer(m, out);
}

void ParameterServer::answer(Member& member, Effects& out) {
  if (!member.in_view || !member.parked) return;
  const Pull pull = *member.parked;
  if (counted(member) < pull.after) return;
  if (pull.clock >= member.granted_end) {
    if (!gate_.open(member.key.id, pull.clock)) return;
    gate_.granted(member.key.id, pull.clock);
    member.granted_end = pull.clock + 1;
    member.granted[pull.clock] = {pull.clock - gate_.c_min(), applied_total_ - member.own_applied,
                                  samples_applied_, record_.view};
    out.push_back(Trace{TraceGrant{member.key, pull.clock, gate_.c_min()}});
  }
  member.answered_end = pull.clock + 1;
  member.parked.reset();
  out.push_back(SendChunks{
      member.peer,
      envelope(PullReply{shard_, pull.clock, member.applied, gate_.c_min(), 0, Encoding::kF32, {}}),
      chunks(),
      {},
      bsp() ? 0 : member.delay});
}

// Of even members: between pull and apply each of the others commits once a clock, and with pull-ahead there
// are two clocks between, one of them the member's own.
double ParameterServer::undisturbed_delay() const {
  const auto members = static_cast<double>(std::max<std::size_t>(1, by_peer_.size()));
  const bool ahead = sync_.pull_ahead && (!sync_.pull_ahead_alone || by_peer_.size() == 1);
  return ahead ? (2 * members - 1) / members : (members - 1) / members;
}

std::vector<ParameterServer::Parked> ParameterServer::parked() const {
  std::vector<Parked> waiting;
  for (const auto& [key, m] : members_) {
    if (m.in_view && m.parked) waiting.push_back({m.key, m.parked->clock, m.parked->after, counted(m)});
  }
  return waiting;
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
  send(kMasterPeerId, Heartbeat{++heartbeats_, gate_.c_min(), samples_applied_, {}, {}, keys_version_}, out);
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
  const Time next = std::min({heartbeat_at_, ask_.at(), log_due_, log_repeat_.at()});
  if (next == wake_at_ || next == Time::never()) return;
  wake_at_ = next;
  out.push_back(WakeAt{next});
}

}  // namespace convoy
