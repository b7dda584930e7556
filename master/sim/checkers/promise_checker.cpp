#include "master/sim/checkers/promise_checker.h"

#include <algorithm>
#include <sstream>

namespace convoy::sim {
namespace {

const MemberRecord* find_peer(const ViewRecord& record, PeerId peer) {
  for (const MemberRecord& m : record.members) {
    if (m.peer == peer) return &m;
  }
  return nullptr;
}

}  // namespace

void PromiseChecker::on_event(Time, PeerId peer, const Event& event) {
  // Another Master knows of nobody's loss, and hears from those whom the one before missed.
  if (peer == kMasterPeerId && std::holds_alternative<Started>(event)) lost_.clear();
  const auto* envelope = std::get_if<Envelope>(&event);
  if (envelope == nullptr) return;
  if (const auto* push = std::get_if<Push>(&envelope->message)) {
    const auto server = servers_.find(peer);
    if (server == servers_.end() || server->second.record.view != envelope->view) return;
    auto& held = server->second.held[{envelope->from, push->clock, push->lease}];
    for (const ChunkData& c : push->chunks) held.insert(c.chunk);
  } else if (const auto* entry = std::get_if<Replicate>(&envelope->message)) {
    const auto server = servers_.find(peer);
    if (server == servers_.end() || server->second.record.view != entry->stream) return;
    if (const auto* part = std::get_if<Push>(&entry->entry)) {
      auto& copied = server->second.copied[{entry->member, part->clock, part->lease}];
      for (const ChunkData& c : part->chunks) copied.insert(c.chunk);
    } else if (const auto* commit = std::get_if<Commit>(&entry->entry)) {
      Clock& most = server->second.copied_commits[entry->member];
      most = std::max(most, commit->committed);
    }
  } else if (const auto* pull = std::get_if<Pull>(&envelope->message)) {
    const auto server = servers_.find(peer);
    if (server == servers_.end() || server->second.record.view != envelope->view) return;
    const SyncOptions& sync = engine_.scenario().sync;
    const bool ahead =
        sync.pull_ahead && (!sync.pull_ahead_alone || server->second.record.members.size() == 1);
    server->second.after[envelope->from] = pull->clock - (ahead ? 1 : 0);
  } else if (const auto* go = std::get_if<Go>(&envelope->message)) {
    Member& m = members_[peer];
    const MemberRecord* record = find_peer(go->record, peer);
    if (record == nullptr || go->record.view <= m.view) return;
    m = {go->record.view, record->key, record->n, {}};
  } else if (const auto* ack = std::get_if<PushAck>(&envelope->message)) {
    const auto member = members_.find(peer);
    if (member == members_.end() || member->second.view != envelope->view) return;
    Member& m = member->second;
    if (ack->clock != m.committed) return;
    m.acked.insert(ack->shard);
    const Worker* worker = engine_.worker(peer);
    if (worker == nullptr || m.acked.size() < worker->record().shards.size()) return;
    ++m.committed;
    m.acked.clear();
  }
}

void PromiseChecker::on_effect(Time, PeerId peer, const Effect& effect) {
  if (const auto* send = std::get_if<Send>(&effect)) {
    if (engine_.worker(peer) != nullptr) return from_worker(peer, send->envelope);
    if (peer != kMasterPeerId) return from_server(peer, send->envelope, send->to);
    if (const auto* task = std::get_if<Evaluate>(&send->envelope.message)) check_picture(*task);
    return;
  }
  if (const auto* send = std::get_if<SendChunks>(&effect)) return from_server(peer, send->envelope, send->to);
  const auto* trace = std::get_if<Trace>(&effect);
  if (trace == nullptr) return;
  if (const auto* lost = std::get_if<TraceLost>(trace); lost != nullptr && lost->server)
    lost_.insert(*lost->server);
  if (const auto* t = std::get_if<TraceApply>(trace)) {
    if (!t->owned) return;
    Server& s = servers_[peer];
    const auto at = s.applied.find(t->member);
    if (at != s.applied.end()) at->second = t->clock + 1;
  } else if (const auto* cut = std::get_if<TraceCut>(trace)) {
    Server& s = servers_[peer];
    s.record = cut->record;
    s.applied.clear();
    s.held.clear();
    s.after.clear();
    s.copied.clear();
    s.copied_commits.clear();
    for (const MemberRecord& m : s.record.members) s.applied[m.key] = m.n;
    for (const ServerRecord& r : s.record.servers) {
      if (r.peer == peer) s.id = r.id;
    }
  }
}

void PromiseChecker::from_server(PeerId peer, const Envelope& envelope, PeerId to) {
  const auto* reply = std::get_if<PullReply>(&envelope.message);
  const auto* push_ack = std::get_if<PushAck>(&envelope.message);
  const auto* commit_ack = std::get_if<CommitAck>(&envelope.message);
  if (reply == nullptr && push_ack == nullptr && commit_ack == nullptr) return;
  const Server& s = servers_[peer];
  const MemberRecord* member = find_peer(s.record, to);
  std::ostringstream text;
  text << s.id << " says " << describe(envelope.message) << " to " << to << " in " << envelope.view
       << ", but ";
  if (member == nullptr || envelope.view != s.record.view) {
    text << "that is no member of " << s.record.view;
    return violate(text.str());
  }
  const Clock applied = s.applied.at(member->key);
  const ShardId shard = reply != nullptr      ? reply->shard
                        : push_ack != nullptr ? push_ack->shard
                                              : commit_ack->shard;
  const Clock committed = reply != nullptr        ? reply->committed
                          : commit_ack != nullptr ? commit_ack->committed
                                                  : Clock(0);
  if (const std::string why = lacking(s, shard, member->key, push_ack, committed); !why.empty())
    return text << why, violate(text.str());
  if (reply != nullptr) {
    if (reply->committed > applied) return text << "has applied " << applied, violate(text.str());
    const auto after = s.after.find(to);
    if (after != s.after.end() && applied < std::min(after->second, reply->clock)) {
      text << "the pull was to come after " << after->second << " own commits, " << applied << " are applied";
      return violate(text.str());
    }
  } else if (commit_ack != nullptr) {
    if (commit_ack->committed > applied) return text << "has applied " << applied, violate(text.str());
  } else {
    const auto held = s.held.find({to, push_ack->clock, push_ack->lease});
    const std::size_t here = held == s.held.end() ? 0 : held->second.size();
    const std::size_t all = s.record.shards.at(push_ack->shard.value).chunks.size();
    if (here < all) return text << "holds " << here << " of " << all << " chunks", violate(text.str());
  }
}

std::string PromiseChecker::lacking(const Server& owner, ShardId shard, MemberKey member, const PushAck* ack,
                                    Clock committed) {
  const ShardRecord& of = owner.record.shards.at(shard.value);
  if (!of.backup) return {};
  Server& backup = servers_[owner.record.find_server(*of.backup)->peer];
  if (backup.record.view != owner.record.view) return {};  // dead, or on to the next view
  if (ack != nullptr && backup.copied[{member, ack->clock, ack->lease}].size() < of.chunks.size())
    return "the backup lacks chunks of it";
  const MemberRecord* m = owner.record.find_member(member.id);
  if (committed > std::max(m->n, backup.copied_commits[member])) return "the backup lacks the commit";
  return {};
}

void PromiseChecker::from_worker(PeerId peer, const Envelope& envelope) {
  const Message& message = envelope.message;
  if (const auto* commit = std::get_if<Commit>(&message)) return check_commit(peer, commit->committed);
  if (const auto* pull = std::get_if<Pull>(&message)) return check_commit(peer, pull->committed);
  if (const auto* request = std::get_if<LeaseRequest>(&message); request != nullptr && request->idle)
    return check_all_applied(peer, "asks for stand-by");
  if (std::holds_alternative<Leave>(message)) return check_all_applied(peer, "asks to leave");
}

void PromiseChecker::check_picture(const Evaluate& task) {
  for (const ShardRecord& s : task.record.shards) {
    const ServerRecord& owner = *task.record.find_server(s.owner);
    if (!lost_.contains({owner.id, owner.incarnation})) continue;
    std::ostringstream text;
    text << "an evaluation of " << task.snapshot << " is asked for, of which " << s.owner
         << " took a part along";
    return violate(text.str());
  }
}

void PromiseChecker::check_commit(PeerId peer, Clock committed) {
  const Member& m = members_[peer];
  if (committed <= m.committed) return;
  std::ostringstream text;
  text << m.key << " commits below " << committed << " in " << m.view << ", where " << m.acked.size()
       << " shards have acknowledged clock " << m.committed;
  violate(text.str());
}

void PromiseChecker::check_all_applied(PeerId peer, const char* what) {
  const Worker* worker = engine_.worker(peer);
  const Member& m = members_[peer];
  for (const ServerRecord& r : worker->record().servers) {
    const Server& s = servers_[r.peer];
    // One that stands in a later view has applied what the cut said; the member will hear.
    if (s.record.view != worker->record().view) continue;
    const auto owns = [&](const ShardRecord& shard) { return shard.owner == r.id; };
    if (std::none_of(s.record.shards.begin(), s.record.shards.end(), owns)) continue;
    const auto applied = s.applied.find(m.key);
    if (applied == s.applied.end() || applied->second >= worker->committed()) continue;
    std::ostringstream text;
    text << m.key << " " << what << " with " << worker->committed() << " clocks, " << applied->second
         << " of them applied at " << s.id;
    return violate(text.str());
  }
}

}  // namespace convoy::sim
