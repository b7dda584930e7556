// The Master's view change, and the end of a run. See master.h.
#include <algorithm>
#include <sstream>
#include <utility>

#include "master/master.h"
#include "master/partition.h"
#include "master/words.h"
#include "messages/base/check.h"

namespace convoy {
namespace {

constexpr std::uint32_t kPicturesATermBits = 20;

const MemberRecord* find_key(const std::vector<MemberRecord>& members, MemberKey key) {
  for (const MemberRecord& m : members) {
    if (m.key == key) return &m;
  }
  return nullptr;
}

}  // namespace

void Master::want_change(const std::string& reason) {
  if (change_reason_.empty()) change_reason_ = reason;
  change_wanted_ = true;
}

void Master::maybe_start(Time now, Effects& out) {
  if (!change_wanted_ || attempt_ || stage_ == Stage::kStopping) return;
  if (stage_ == Stage::kClosing && !servers_changed_) return;
  if (stage_ == Stage::kWaiting) {
    std::size_t workers = 0;
    std::size_t servers = 0;
    for (const auto& [peer, node] : nodes_) {
      if (!node.ready || node.leaving) continue;
      (node.role == RoleKind::kWorker ? workers : servers) += 1;
    }
    if (servers < std::max<std::size_t>(1, options_.min_p_slaves) || workers < options_.min_w_slaves) return;
    stage_ = Stage::kTraining;
  }
  start_attempt(now, out);
}

void Master::restart_attempt(const std::string& reason) {
  attempt_.reset();
  want_change(reason);
}

bool Master::alive(const ServerRecord& server) const {
  const auto at = nodes_.find(server.peer);
  return at != nodes_.end() && at->second.incarnation == server.incarnation;
}

void Master::start_attempt(Time now, Effects& out) {
  const bool anybody = std::any_of(nodes_.begin(), nodes_.end(), [](const auto& entry) {
    return entry.second.role == RoleKind::kServer && entry.second.ready;
  });
  if (!anybody) return;  // the P-slaves died before the first view was active: wait for others
  change_wanted_ = servers_changed_ = false;
  Attempt attempt;
  attempt.view = View{options_.term, ++attempts_};
  attempt.began = now;
  attempt.reason = std::move(change_reason_);
  change_reason_.clear();
  attempt.repeat.start(now, timing_.retry);
  attempt_ = std::move(attempt);
  if (base_.servers.empty()) return cut(now, out);
  repeat_attempt(now, out);
}

void Master::repeat_attempt(Time, Effects& out) {
  if (attempt_->phase == Attempt::Phase::kReports) {
    for (const ServerRecord& s : base_.servers) {
      if (alive(s) && !attempt_->reports.contains(s.id))
        send(s.peer, Prepare{attempt_->view, base_.view}, out);
    }
  } else if (attempt_->phase == Attempt::Phase::kDones) {
    for (const ServerRecord& s : attempt_->cut_to) {
      if (!attempt_->dones.contains(s.id)) send(s.peer, attempt_->cut, out);
    }
  }
}

void Master::on_report(Time now, Node& node, const Report& message, Effects& out) {
  if (!attempt_ || attempt_->phase != Attempt::Phase::kReports || message.next != attempt_->view ||
      node.role != RoleKind::kServer || message.base != base_.view) {
    return;
  }
  const ServerRecord* server = base_.find_server(ServerId(node.id));
  if (server == nullptr || server->incarnation != node.incarnation) return;
  if (message.newer) {
    std::ostringstream text;
    text << "P-slave " << node.name << " knows view " << message.newer->view << ", the journal ends with "
         << base_.view << ": this is an old copy of the journal; start the Master with the newest";
    return stop(now, true, text.str(), out);
  }
  attempt_->reports[server->id] = message;
  const bool all = std::all_of(base_.servers.begin(), base_.servers.end(), [&](const ServerRecord& s) {
    return !alive(s) || attempt_->reports.contains(s.id);
  });
  if (all) cut(now, out);
}

void Master::cut(Time now, Effects& out) {
  Attempt& attempt = *attempt_;
  // What came up so far is part of this cut.
  change_wanted_ = servers_changed_ = false;
  if (!change_reason_.empty() && change_reason_ != attempt.reason) attempt.reason += ", " + change_reason_;
  change_reason_.clear();
  // V of each member of base: what any copy has, all have held.
  std::map<MemberKey, Clock> committed;
  std::map<MemberKey, Clock> granted_end;
  for (const MemberRecord& m : base_.members) committed[m.key] = granted_end[m.key] = m.n;
  IntervalSet ledger = ledger_;
  for (const auto& [id, report] : attempt.reports) {
    for (const ReportedMember& r : report.members) {
      if (!committed.contains(r.key)) continue;
      committed[r.key] = std::max(committed[r.key], r.committed);
      granted_end[r.key] = std::max(granted_end[r.key], r.granted_end);
    }
    ledger.insert(report.ledger);
  }
  Clock joining = base_.floor;
  if (!committed.empty()) {
    const auto least = std::min_element(committed.begin(), committed.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
    joining = std::max(joining, least->second);
  }

  // Everybody who is here and willing, in member order.
  struct Candidate {
    const Node* node;
    Clock n;
    bool stays;
  };
  std::map<MemberKey, Candidate> candidates;
  for (const auto& [peer, node] : nodes_) {
    if (node.role != RoleKind::kWorker || !node.ready || node.leaving) continue;
    const auto v = committed.find(node.key());
    const MemberRecord* waited = find_key(base_.stand_by, node.key());
    const Clock n =
        v != committed.end() ? v->second : std::max(joining, waited != nullptr ? waited->n : joining);
    candidates.emplace(node.key(), Candidate{&node, n, v != committed.end()});
  }

  std::vector<double> speeds;
  for (const auto& [key, c] : candidates) speeds.push_back(speed_of(*c.node));
  const std::vector<std::int64_t> batches =
      partition_batch(options_.sync.batch, speeds, options_.equal_partition);
  std::vector<LeaseBook::Share> shares;
  for (const auto& [key, c] : candidates) {
    const std::int64_t batch = batches[shares.size()];
    LeaseBook::Share share{key.id, c.n, batch, ahead_clocks(*c.node, batch), {}};
    // What may have been begun goes on; the rest is cut anew, so that new batch sizes count at once.
    if (c.stays) {
      for (const Lease& lease : book_.leases(key.id)) {
        if (lease.clock < c.n) continue;
        if (lease.clock >= granted_end[key] ||
            lease.clock != c.n + static_cast<std::int64_t>(share.kept.size()))
          break;
        share.kept.push_back(lease);
      }
    }
    shares.push_back(std::move(share));
  }
  attempt.book = book_;
  attempt.book.begin_view(ledger, options_.sync.end_position, std::move(shares));
  const std::vector<MemberId> idle = attempt.book.drop_idle();

  ViewRecord record;
  record.view = attempt.view;
  record.history = base_.history;
  for (const auto& [key, c] : candidates) {
    const bool waits = std::find(idle.begin(), idle.end(), key.id) != idle.end();
    (waits ? record.stand_by : record.members).push_back({key, c.node->peer, c.n});
  }
  record.floor = joining;
  if (!record.members.empty()) {
    const auto least = std::min_element(record.members.begin(), record.members.end(),
                                        [](const auto& a, const auto& b) { return a.n < b.n; });
    record.floor = std::max(record.floor, least->n);
  }
  attempt.ledger = ledger;
  attempt.cut = Cut{std::move(record), base_.view, {}, ledger, {}, {}};
  place_chunks(attempt.cut);
  drop_evaluation_without(attempt.cut.record.servers, out);
  attempt.cut_to = attempt.cut.record.servers;
  for (const ServerRecord& s : base_.servers) {
    if (alive(s) && attempt.cut.record.find_server(s.id) == nullptr) attempt.cut_to.push_back(s);
  }
  for (const auto& [key, clock] : committed) attempt.cut.members.push_back({key, clock});
  const bool full = ledger.size() == options_.sync.end_position;
  if (full || evaluation_due()) {
    attempt.cut.snapshot = SnapshotId((options_.term - 1) << kPicturesATermBits | ++snapshots_);
    // The new picture replaces the old one at the P-slaves: an evaluation that still runs has lost its
    // subject.
    if (evaluation_) out.push_back(Trace{TraceNote{"an evaluation was overtaken by the end of training"}});
    evaluation_.reset();
  }
  attempt.phase = Attempt::Phase::kDones;
  attempt.repeat.start(now, timing_.retry);
  repeat_attempt(now, out);
}

// Who serves in the new view, who owns and backs up what, and who has it now.
void Master::place_chunks(Cut& cut) const {
  std::map<ServerId, const Node*> servers;
  for (const bool leavers_too : {false, true}) {  // one that leaves stays while there is nobody else
    for (const auto& [peer, node] : nodes_) {
      if (node.role == RoleKind::kServer && node.ready && (leavers_too || !node.leaving))
        servers[ServerId(node.id)] = &node;
    }
    if (!servers.empty()) break;
  }
  std::vector<ServerId> ids;
  for (const auto& [id, node] : servers) {
    ids.push_back(id);
    cut.record.servers.push_back({id, node->incarnation, node->peer, node->address, node->public_key});
  }
  // A P-slave that came back is another, and empty: its copies count as lost.
  std::vector<ShardRecord> base = base_.shards;
  std::map<ServerId, std::vector<ChunkId>> has;
  for (ShardRecord& s : base) {
    const bool owner_lives = alive(*base_.find_server(s.owner));
    if (s.backup && !alive(*base_.find_server(*s.backup))) s.backup.reset();
    if (!owner_lives) {
      CONVOY_CHECK(s.backup, "no copy of a shard of ", s.owner, " is left");
      s.owner = *s.backup;
      s.backup.reset();
    }
    auto& chunks = has[s.owner];
    chunks.insert(chunks.end(), s.chunks.begin(), s.chunks.end());
  }
  for (auto& [id, chunks] : has) {
    std::sort(chunks.begin(), chunks.end());
    cut.sources.push_back({*base_.find_server(id), std::move(chunks)});
  }
  cut.record.shards = plan_shards(options_.chunk_bytes, ids, base, options_.backups);
}

// A P-slave is gone. Its shards live on in their backups, if they have any.
void Master::server_lost(Time now, const Node& node, const std::string& why, Effects& out) {
  const ServerId id(node.id);
  log_next_.erase(id);
  log_end_.erase(id);
  const auto is_this = [&](const ServerRecord& s) { return s.id == id && s.incarnation == node.incarnation; };
  const bool in_base = std::any_of(base_.servers.begin(), base_.servers.end(), is_this);
  const bool in_attempt =
      attempt_ && (in_base || std::any_of(attempt_->cut_to.begin(), attempt_->cut_to.end(), is_this));
  if (!in_base && !in_attempt) return;
  std::vector<ServerRecord> others;
  std::copy_if(base_.servers.begin(), base_.servers.end(), std::back_inserter(others),
               [&](const ServerRecord& s) { return alive(s); });
  drop_evaluation_without(others, out);
  servers_changed_ = true;
  const std::string reason = "P-slave " + node.name + " is gone: " + why;
  if (in_attempt && attempt_->phase != Attempt::Phase::kJournal)
    restart_attempt(reason);
  else
    want_change(reason);
  check_holders(now, "P-slave " + node.name + " at " + node.address + " is lost (" + why + ")", out);
}

// A picture that a P-slave takes with it cannot be evaluated; the next cut makes another.
void Master::drop_evaluation_without(const std::vector<ServerRecord>& servers, Effects& out) {
  if (!evaluation_) return;
  const std::vector<ServerRecord>& of = evaluation_->record().servers;
  const bool complete = std::all_of(of.begin(), of.end(), [&](const ServerRecord& s) {
    return std::find(servers.begin(), servers.end(), s) != servers.end();
  });
  if (complete) return;
  out.push_back(Trace{TraceNote{"an evaluation lost its picture with a P-slave: it is made again"}});
  evaluation_.reset();
  evaluation_repeat_.stop();
  evaluate_at_ = std::min(evaluate_at_, ledger_.size());
}

void Master::check_holders(Time now, const std::string& lost, Effects& out) {
  for (const ShardRecord& s : base_.shards) {
    if (alive(*base_.find_server(s.owner)) || (s.backup && alive(*base_.find_server(*s.backup)))) continue;
    return stop(now, true, lost + " and nobody else has its part of the parameters: start the run again",
                out);
  }
}

// What the cut commits is written down before anybody goes on: a P-slave that comes now logs from here on,
// and one that leaves or dies takes nothing with it. One complete log is enough, since all shards commit the
// same.
bool Master::log_is_complete() const {
  if (base_.servers.empty()) return true;
  return std::any_of(base_.servers.begin(), base_.servers.end(), [&](const ServerRecord& s) {
    const auto done = attempt_->dones.find(s.id);
    if (done == attempt_->dones.end() || !alive(s)) return false;
    const bool logs = std::any_of(base_.shards.begin(), base_.shards.end(), [&](const ShardRecord& shard) {
      return shard.owner == s.id || shard.backup == s.id;
    });
    const auto next = log_next_.find(s.id);
    return logs && (next == log_next_.end() ? 0 : next->second) >= done->second.log_end;
  });
}

// Those that leave with this view take no entry with them.
bool Master::leavers_logs_are_complete() const {
  const auto& to = attempt_->cut_to;
  return std::all_of(to.begin(), to.end(), [&](const ServerRecord& s) {
    if (attempt_->cut.record.find_server(s.id) != nullptr) return true;
    const auto next = log_next_.find(s.id);
    return (next == log_next_.end() ? 0 : next->second) >= attempt_->dones.at(s.id).log_end;
  });
}

bool Master::all_at_cut() const {
  return attempt_->phase != Attempt::Phase::kReports && attempt_->dones.size() >= attempt_->cut_to.size();
}

void Master::maybe_journal(Effects& out) {
  if (!attempt_ || attempt_->phase != Attempt::Phase::kDones || !all_at_cut()) return;
  for (const auto& [from, log] : std::exchange(attempt_->logs, {})) {
    if (const auto node = nodes_.find(from.first); node != nodes_.end()) write_log(node->second, log, out);
  }
  if (!log_is_complete() || !leavers_logs_are_complete()) return;
  attempt_->phase = Attempt::Phase::kJournal;
  attempt_->repeat.stop();
  out.push_back(Journal{attempt_->cut.record, attempt_->ledger, known_nodes(attempt_->cut.record)});
}

void Master::on_done(Time now, Node& node, const Done& message, Effects& out) {
  if (!attempt_ || attempt_->phase != Attempt::Phase::kDones || message.view != attempt_->view ||
      node.role != RoleKind::kServer) {
    return;
  }
  if (message.ledger_digest != attempt_->ledger.digest()) {
    out.push_back(Trace{TraceViolation{"the ledger of P-slave " + node.name + " differs at the cut"}});
    return stop(now, true,
                "P-slave " + node.name + " has another ledger than the cut: the run cannot be trusted", out);
  }
  const auto& to = attempt_->cut_to;
  const bool asked = std::any_of(to.begin(), to.end(), [&](const ServerRecord& s) {
    return s.id == ServerId(node.id) && s.incarnation == node.incarnation;
  });
  if (!asked) return;
  attempt_->dones[ServerId(node.id)] = message;
  maybe_journal(out);
}

void Master::on(Time now, const Journaled& event, Effects& out) {
  if (attempt_ && attempt_->phase == Attempt::Phase::kJournal && event.view == attempt_->view)
    activate(now, out);
}

void Master::activate(Time now, Effects& out) {
  Attempt attempt = std::move(*attempt_);
  attempt_.reset();
  base_ = std::move(attempt.cut.record);
  ledger_ = std::move(attempt.ledger);
  book_ = std::move(attempt.book);
  took_over_ = false;
  for (const auto& [id, done] : attempt.dones) log_end_[id] = done.log_end;
  std::ostringstream note;
  note.precision(3);
  note << base_.view << ": " << counted(base_.members.size(), "member");
  if (!base_.stand_by.empty()) note << ", " << base_.stand_by.size() << " on stand-by";
  note << ", " << counted(base_.servers.size(), "P-slave") << ", after " << std::fixed
       << seconds(now - attempt.began) << " s (" << attempt.reason << ")";
  out.push_back(Trace{TraceActive{base_, ledger_}});
  out.push_back(Trace{TraceNote{note.str()}});

  for (const ServerRecord& s : base_.servers) send_go(s.peer, out);
  for (const MemberRecord& m : base_.members) send_go(m.peer, out);
  for (const MemberRecord& m : base_.stand_by) send_go(m.peer, out);
  // Those that asked to go are out now.
  std::vector<PeerId> leavers;
  for (const auto& [peer, node] : nodes_) {
    if (!node.leaving) continue;
    if (node.role == RoleKind::kServer) {
      if (base_.find_server(ServerId(node.id)) == nullptr) leavers.push_back(peer);
      continue;
    }
    if (find_key(base_.members, node.key()) == nullptr && find_key(base_.stand_by, node.key()) == nullptr) {
      leavers.push_back(peer);
    }
  }
  for (PeerId peer : leavers) {
    send(peer, Farewell{}, out);
    remove(now, peer, "it left", out);
  }
  // Those that died between reports and now.
  for (const ServerRecord& s : base_.servers) {
    if (alive(s)) continue;
    want_change("a P-slave was lost during the view change");
    servers_changed_ = true;
  }
  check_holders(now, "P-slaves were lost during a view change", out);
  if (stage_ == Stage::kStopping) return;
  for (const MemberRecord& m : base_.members) {
    if (node_of(m.key) == nullptr) want_change("a member was lost during the view change");
  }

  if (attempt.cut.snapshot && options_.test_count > 0 && !final_evaluated_) {
    while (options_.evaluate_every > 0 && evaluate_at_ <= ledger_.size())
      evaluate_at_ += options_.evaluate_every;
    evaluation_.emplace(*attempt.cut.snapshot, base_, ledger_.size(), trained(), options_.test_count,
                        evaluators());
    run_evaluation(now, out);
  }
  if (trained()) {
    if (stage_ != Stage::kClosing) out.push_back(Trace{TraceTrained{ledger_}});
    stage_ = Stage::kClosing;
    if (model_ && model_->saved) return;
    model_ = Model{};
    model_->snapshot = *attempt.cut.snapshot;
    model_->answered.assign(base_.shards.size(), false);
    model_->repeat.start(now, timing_.retry);
    fetch_model(now, out);
  }
}

void Master::send_go(PeerId peer, Effects& out) {
  std::vector<Lease> leases;
  for (const MemberRecord& m : base_.members) {
    if (m.peer == peer) leases = book_.leases(m.key.id);
  }
  send(peer, Go{base_, std::move(leases)}, out);
}

// ---- The end

void Master::fetch_model(Time, Effects& out) {
  for (std::uint32_t s = 0; s < base_.shards.size(); ++s) {
    if (!model_->answered[s])
      send(base_.owner_of(ShardId(s)).peer, SnapshotPull{model_->snapshot, ShardId(s)}, out);
  }
}

void Master::on_snapshot_reply(const SnapshotReply& message, Effects& out) {
  if (!model_ || message.snapshot != model_->snapshot || message.shard.value >= model_->answered.size() ||
      model_->answered[message.shard.value]) {
    return;
  }
  model_->answered[message.shard.value] = true;
  model_->encoding = message.encoding;
  for (const ChunkData& c : message.chunks) model_->chunks[c.chunk] = c;
  if (std::find(model_->answered.begin(), model_->answered.end(), false) != model_->answered.end()) return;
  model_->repeat.stop();
  SaveModel save{model_->snapshot, base_.floor, model_->encoding, {}};
  for (auto& [id, chunk] : model_->chunks) save.chunks.push_back(std::move(chunk));
  model_->chunks.clear();
  out.push_back(std::move(save));
}

void Master::on(Time, const Saved&, Effects&) {
  if (model_) model_->saved = true;
}

void Master::maybe_finish(Time now, Effects& out) {
  if (stage_ != Stage::kClosing || !model_->saved) return;
  if (options_.test_count > 0 && !final_evaluated_) return;
  for (const auto& [server, end] : log_end_) {
    const auto next = log_next_.find(server);
    if (end > 0 && (next == log_next_.end() || next->second < end)) return;
  }
  stop(now, false, "trained", out);
}

void Master::stop(Time now, bool failed, const std::string& text, Effects& out) {
  if (stage_ == Stage::kStopping || stage_ == Stage::kDone) return;
  stage_ = Stage::kStopping;
  stop_failed_ = failed;
  stop_text_ = text;
  attempt_.reset();
  evaluation_.reset();
  stop_at_ = now + std::min<Duration>(timing_.heartbeat * 2, 2s);
  for (const auto& [peer, node] : nodes_) send(peer, Stop{failed, text}, out);
  // Who has lost its connection hears nothing, and is not waited for.
  std::erase_if(nodes_, [&](const auto& entry) { return !detector_.connected(entry.first); });
  if (nodes_.empty()) continue_stop(now, out);
}

void Master::continue_stop(Time now, Effects& out) {
  if (!nodes_.empty() && now < stop_at_) return;
  stage_ = Stage::kDone;
  out.push_back(Quit{stop_failed_, stop_text_});
}

}  // namespace convoy
