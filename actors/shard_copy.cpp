#include "actors/shard_copy.h"

#include <algorithm>

#include "messages/base/check.h"

namespace convoy {
namespace {

// How fast the expected delay of a member follows what is seen.
constexpr double kDelayGain = 0.1;

// A member pushes one clock at a time; a second may overtake the commit of the first.
constexpr std::int64_t kHeldClocks = 2;

// Entries of the stream that a backup keeps which overtook another.
constexpr std::uint64_t kEarlyEntries = 1024;

}  // namespace

ShardCopy::ShardCopy(const ViewRecord& record, ShardId shard, bool owned, const SyncOptions& sync,
                     const IntervalSet& ledger, Duration retry)
    : shard_(shard),
      chunks_(record.shards[shard.value].chunks),
      owned_(owned),
      sync_(sync),
      view_(record.view),
      ledger_(ledger),
      retry_(retry) {
  const ShardRecord& of = record.shards[shard.value];
  const std::optional<ServerId> other = owned ? of.backup : std::optional(of.owner);
  if (other) {
    const ServerRecord& server = *record.find_server(*other);
    other_ = Peer{server.peer, server.incarnation};
  }
  gate_.configure(sync_, !chunks_.empty() && chunks_.front() == ChunkId(0));
  gate_.reset(record.floor);
  for (const MemberRecord& r : record.members) {
    Member& m = members_[r.key];
    m.key = r.key;
    m.peer = r.peer;
    m.received = m.committed = m.applied = m.granted_end = m.answered_end = r.n;
    gate_.set(r.key.id, r.n);
  }
  for (auto& [key, m] : members_) m.delay = undisturbed_delay();
}

void ShardCopy::inherit(const ShardCopy& before) {
  applied_total_ = before.applied_total_;
  for (auto& [key, m] : members_) {
    const auto at = before.members_.find(key);
    if (at == before.members_.end()) continue;
    m.granted_end = std::max(m.granted_end, at->second.granted_end);
    m.own_applied = at->second.own_applied;
    for (const auto& [clock, granted] : at->second.granted) {
      if (clock >= m.applied) m.granted[clock] = granted;
    }
  }
}

std::vector<ShardCopy::Parked> ShardCopy::parked() const {
  std::vector<Parked> waiting;
  for (const auto& [key, m] : members_) {
    if (m.parked) waiting.push_back({m.key, m.parked->clock, m.parked->after, counted(m)});
  }
  return waiting;
}

bool ShardCopy::has(MemberKey key, Clock clock, LeaseId lease) const {
  const auto m = members_.find(key);
  if (m == members_.end()) return false;
  if (clock < m->second.applied) return true;
  const auto held = m->second.held.find(clock);
  return held != m->second.held.end() && held->second.lease == lease && held->second.complete();
}

// ---- A clock

void ShardCopy::on_pull(ServerPost& post, MemberKey key, const Pull& message) {
  Member& member = members_.at(key);
  if (message.clock - kHeldClocks >= std::max(member.received, message.committed))
    return refuse(post, member, "a pull too far ahead");
  if (!accept_commit(post, member, message.committed, false)) return;
  if (message.clock + 1 < member.answered_end) return;  // late: a later pull was answered already
  if (member.parked && message.clock < member.parked->clock) return;
  member.parked = message;
  answer(post, member);
}

void ShardCopy::on_push(ServerPost& post, MemberKey key, const Push& message) {
  Member& member = members_.at(key);
  if (message.clock < member.received) return;  // late: committed, so acknowledged long ago
  if (message.clock >= member.received + kHeldClocks) return refuse(post, member, "a push too far ahead");
  // Check all before anything changes.
  for (const ChunkData& c : message.chunks) {
    if (!std::binary_search(chunks_.begin(), chunks_.end(), c.chunk)) {
      return refuse(post, member, "a push for a chunk of another shard");
    }
  }
  if (message.trained.empty() || ledger_.intersects(message.trained)) {
    post.out.push_back(Trace{TraceViolation{"a push trains positions that are committed already, or none"}});
    return refuse(post, member, "a push of committed positions");
  }
  const auto before = member.held.find(message.clock);
  if (before != member.held.end() && before->second.complete() && before->second.lease == message.lease) {
    // A repeat: the stream carries it already.
    if (before->second.sequence <= acked_)
      post.send(member.peer, PushAck{shard_, message.clock, message.lease});
    return;
  }
  // More than the backup keeps is not streamed to it; its sender repeats itself. Else a member that pushes
  // one part again and again, to an owner whose backup is slow, would have all of them held.
  if (unacked_.size() >= kEarlyEntries) return;
  const bool complete = hold(member, message);
  stream(post, key, message);
  member.held.at(message.clock).sequence = sent_;
  if (complete) pending_.push_back({sent_, key, message.clock, message.lease});
  settle(post);
}

// True when every chunk of the clock is held now.
bool ShardCopy::hold(Member& member, const Push& message) {
  Held& held = member.held[message.clock];
  if (held.chunks.empty() || held.lease != message.lease) {
    held = Held{};
    held.chunks.resize(chunks_.size());
    held.missing = chunks_.size();
  }
  held.lease = message.lease;
  held.trained = message.trained;
  held.digest = message.digest;
  held.loss_sum = message.loss_sum;
  held.correct = message.correct;
  held.encoding = message.encoding;
  for (const ChunkData& c : message.chunks) {
    const auto at = std::lower_bound(chunks_.begin(), chunks_.end(), c.chunk) - chunks_.begin();
    std::optional<Frame>& place = held.chunks[static_cast<std::size_t>(at)];
    if (!place) --held.missing;
    place = c.bytes;
  }
  return held.complete();
}

void ShardCopy::on_commit(ServerPost& post, MemberKey key, const Commit& message) {
  accept_commit(post, members_.at(key), message.committed, true);
}

bool ShardCopy::accept_commit(ServerPost& post, Member& member, Clock committed, bool wants_ack) {
  for (Clock k = member.received; k < committed; ++k) {
    const auto held = member.held.find(k);
    if (held == member.held.end() || !held->second.complete()) {
      post.out.push_back(Trace{TraceViolation{"a commit of a clock that is not held here"}});
      refuse(post, member, "a commit of a clock that is not held");
      return false;
    }
  }
  member.wants_ack = member.wants_ack || wants_ack;
  if (committed > member.received) {
    member.received = committed;
    stream(post, member.key, Commit{shard_, committed});
    pending_.push_back({sent_, member.key, committed, std::nullopt});
    settle(post);
    return true;
  }
  acknowledge_commit(post, member);
  return true;
}

void ShardCopy::count(ServerPost& post, Member& member, Clock committed) {
  if (committed <= member.committed) return;
  member.committed = committed;
  const Clock before = gate_.c_min();
  apply_ready(post);
  if (bsp()) {
    for (const auto& [key, m] : members_) gate_.set(key.id, m.applied);
  } else {
    gate_.set(member.key.id, member.committed);
  }
  if (gate_.c_min() != before) {
    for (auto& [key, m] : members_) answer(post, m);
    for (auto& [key, m] : members_) acknowledge_commit(post, m);
    return;
  }
  answer(post, member);
  acknowledge_commit(post, member);
}

void ShardCopy::acknowledge_commit(ServerPost& post, Member& member) const {
  if (!owned_ || !member.wants_ack || member.applied < member.received) return;
  member.wants_ack = false;
  post.send(member.peer, CommitAck{shard_, member.applied});
}

void ShardCopy::apply_ready(ServerPost& post) {
  if (!bsp()) {
    for (auto& [key, m] : members_) {
      while (m.applied < m.committed) close_clock(post, {&m});
    }
    return;
  }
  for (;;) {
    std::vector<Member*> closing;
    for (auto& [key, m] : members_) {
      if (m.committed <= m.applied) return;  // somebody has not committed: the clock stays open
      closing.push_back(&m);
    }
    if (closing.empty()) return;
    close_clock(post, closing);
  }
}

Contribution ShardCopy::contribution(const Member& member, const Held& held) const {
  Contribution c{member.key, held.trained.size(), held.encoding, {}};
  c.chunks.reserve(held.chunks.size());
  for (std::size_t i = 0; i < held.chunks.size(); ++i) c.chunks.push_back({chunks_[i], *held.chunks[i]});
  return c;
}

// Applies the next clock of each of `members` (already in member order) in one step.
void ShardCopy::close_clock(ServerPost& post, const std::vector<Member*>& members) {
  Apply apply;
  apply.clock = members.front()->applied;
  apply.samples_before = samples_applied();
  const std::int64_t before = samples_applied();
  for (Member* m : members) {
    const auto held = m->held.find(m->applied);
    CONVOY_CHECK(held != m->held.end() && held->second.complete(), m->key, " clock ", m->applied);
    apply.contributions.push_back(contribution(*m, held->second));
    apply.samples += held->second.trained.size();
    post.out.push_back(Trace{TraceApply{shard_, owned_, m->key, m->applied, held->second.trained}});
    log(post, *m, m->applied, held->second);
    if (ledger_.intersects(held->second.trained)) {
      post.out.push_back(Trace{TraceViolation{"a position is committed twice"}});
    }
    ledger_.insert(held->second.trained);
    if (const auto g = m->granted.find(m->applied); g != m->granted.end()) {
      // What was pulled in an earlier view says nothing about this one.
      if (g->second.view == view_) {
        const double delay =
            static_cast<double>(before - g->second.samples_applied) / static_cast<double>(sync_.batch);
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
  post.out.push_back(std::move(apply));
}

void ShardCopy::log(ServerPost& post, const Member& member, Clock clock, const Held& held) const {
  if (post.log == nullptr) return;
  CommitLogEntry entry{member.key, clock, held.trained, held.digest, held.loss_sum, held.correct, 0, 0};
  if (const auto g = member.granted.find(clock); g != member.granted.end()) {
    entry.staleness = g->second.staleness;
    entry.delay = applied_total_ - member.own_applied - g->second.applied_by_others;
  }
  post.log->push_back(std::move(entry));
}

void ShardCopy::answer(ServerPost& post, Member& member) {
  if (!owned_ || !member.parked) return;
  const Pull pull = *member.parked;
  if (counted(member) < pull.after) return;
  if (pull.clock >= member.granted_end) {
    if (!gate_.open(member.key.id, pull.clock)) return;
    gate_.granted(member.key.id, pull.clock);
    member.granted_end = pull.clock + 1;
    member.granted[pull.clock] = {pull.clock - gate_.c_min(), applied_total_ - member.own_applied,
                                  samples_applied(), view_};
    post.out.push_back(Trace{TraceGrant{shard_, member.key, pull.clock, gate_.c_min()}});
  }
  member.answered_end = pull.clock + 1;
  member.parked.reset();
  post.out.push_back(SendChunks{
      member.peer,
      Envelope{post.view, post.self, post.incarnation,
               PullReply{shard_, pull.clock, member.applied, gate_.c_min(), 0, Encoding::kF32, {}}},
      chunks_,
      {},
      bsp() ? 0 : member.delay});
}

// Of even members: between pull and apply each of the others commits once a clock, and with pull-ahead there
// are two clocks between, one of them the member's own.
double ShardCopy::undisturbed_delay() const {
  const auto members = static_cast<double>(std::max<std::size_t>(1, members_.size()));
  const bool ahead = sync_.pull_ahead && (!sync_.pull_ahead_alone || members_.size() == 1);
  return ahead ? (2 * members - 1) / members : (members - 1) / members;
}

// ---- Owner and backup

void ShardCopy::stream(ServerPost& post, MemberKey key, std::variant<Push, Commit, StreamEnd> entry) {
  ++sent_;
  if (!other_) {
    acked_ = sent_;
    return;
  }
  unacked_.push_back(Replicate{shard_, view_, sent_, key, std::move(entry)});
  post.send(other_->peer, unacked_.back());
  if (!repeat_.running()) repeat_.start(post.now, retry_);
}

void ShardCopy::on_acknowledged(ServerPost& post, const ReplicateAck& message) {
  if (message.upto > sent_)
    return post.refuse(other_->peer, other_->incarnation, "an acknowledgement of what was not sent");
  if (message.upto == acked_ && !unacked_.empty() && resent_ != acked_ && !stream_ended_) {
    // Something later has arrived, so the next is lost or late: once more, without waiting for the time to
    // repeat.
    resent_ = acked_;
    post.send(other_->peer, unacked_.front());
  }
  if (message.upto <= acked_) return;
  acked_ = message.upto;
  while (!unacked_.empty() && unacked_.front().sequence <= acked_) unacked_.pop_front();
  if (unacked_.empty())
    repeat_.stop();
  else
    repeat_.start(post.now, retry_);
  if (!stream_ended_) settle(post);
}

// What the backup has by now counts, in the stream's order.
void ShardCopy::settle(ServerPost& post) {
  while (!pending_.empty() && pending_.front().sequence <= acked_) {
    const Pending next = pending_.front();
    pending_.pop_front();
    Member& member = members_.at(next.member);
    if (!next.lease) {
      count(post, member, next.clock);
      continue;
    }
    const auto held = member.held.find(next.clock);
    if (held != member.held.end() && held->second.lease == *next.lease && held->second.complete())
      post.send(member.peer, PushAck{shard_, next.clock, *next.lease});
  }
}

void ShardCopy::on_replicate(ServerPost& post, const Replicate& message, bool may_take) {
  if (message.sequence > acked_ && message.sequence <= acked_ + kEarlyEntries)
    early_.try_emplace(message.sequence, message);
  if (may_take) take_early(post);
  post.send(other_->peer, ReplicateAck{shard_, view_, acked_});
}

void ShardCopy::take_early(ServerPost& post) {
  for (auto at = early_.begin(); at != early_.end() && at->first == acked_ + 1; at = early_.erase(at)) {
    take(post, at->second);
    ++acked_;
  }
}

void ShardCopy::take(ServerPost& post, const Replicate& next) {
  const auto member = members_.find(next.member);
  if (std::holds_alternative<StreamEnd>(next.entry)) {
    stream_ended_ = true;
  } else if (member == members_.end()) {
    post.refuse(other_->peer, other_->incarnation, "a stream of a member that is not of its view");
  } else if (const auto* push = std::get_if<Push>(&next.entry)) {
    hold(member->second, *push);
  } else {
    member->second.received = std::max(member->second.received, std::get<Commit>(next.entry).committed);
    count(post, member->second, member->second.received);
  }
}

void ShardCopy::repeat(ServerPost& post) {
  if (!repeat_.due(post.now)) return;
  repeat_.again(post.now);
  for (const Replicate& entry : unacked_) post.send(other_->peer, entry);
}

// ---- View change

void ShardCopy::freeze() {
  for (auto& [key, m] : members_) m.parked.reset();
}

Clock ShardCopy::reported(const Member& m) const {
  Clock committed = m.received;
  if (bsp()) {
    for (const auto& [key, other] : members_) committed = std::min(committed, other.received);
  }
  return std::max(m.applied, committed);  // a cut of an attempt that failed may have applied more
}

void ShardCopy::report(std::map<MemberKey, ReportedMember>& members, IntervalSet& ledger) const {
  ledger.insert(ledger_);
  for (const auto& [key, m] : members_) {
    const Clock committed = reported(m);
    const auto [at, fresh] = members.try_emplace(key, ReportedMember{key, committed, m.granted_end});
    at->second.committed = std::max(at->second.committed, committed);
    at->second.granted_end = std::max(at->second.granted_end, m.granted_end);
    for (const auto& [clock, held] : m.held) {
      if (clock >= m.applied && clock < committed) ledger.insert(held.trained);
    }
  }
}

std::string ShardCopy::why_not(const std::vector<CutMember>& members) const {
  for (const CutMember& c : members) {
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

void ShardCopy::make_cut(ServerPost& post, const std::vector<CutMember>& members) {
  if (owned_ && !stream_ended_) {
    stream(post, {}, StreamEnd{});
    stream_ended_ = true;
    // In the order in which the backup takes them.
    for (const Pending& next : pending_) {
      Member& member = members_.at(next.member);
      if (next.lease) continue;
      member.committed = std::max(member.committed, next.clock);
      apply_ready(post);
    }
    pending_.clear();
  }
  // What came to neither: in member order, bsp clock by clock.
  for (;;) {
    std::vector<Member*> behind;
    for (const CutMember& c : members) {
      Member& m = members_.at(c.key);
      if (m.applied < c.committed) behind.push_back(&m);
    }
    if (behind.empty()) return;
    if (bsp()) {
      close_clock(post, behind);
    } else {
      for (Member* m : behind) close_clock(post, {m});
    }
  }
}

}  // namespace convoy
