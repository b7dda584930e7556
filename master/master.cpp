// The Master: nodes coming and going, samples, life signs, evaluation. See master.h.
#include "master/master.h"

#include <algorithm>
#include <sstream>

#include "master/words.h"
#include "messages/base/check.h"

namespace convoy {
namespace {

bool lists(const ViewRecord& record, PeerId peer) {
  const auto is_peer = [&](const auto& r) { return r.peer == peer; };
  return std::any_of(record.members.begin(), record.members.end(), is_peer) ||
         std::any_of(record.stand_by.begin(), record.stand_by.end(), is_peer) ||
         std::any_of(record.servers.begin(), record.servers.end(), is_peer);
}

std::uint64_t first_keys_version(std::uint32_t term) {
  return std::uint64_t{term} << 32;
}

constexpr double kUnknownSpeed = 0;
constexpr std::uint32_t kLivesATermBits = 16;  // of one name
constexpr std::int64_t kMaxAheadClocks = 512;
constexpr std::int64_t kFirstAheadClocks = 8;  // before anything is known of a node's speed

}  // namespace

Master::Master(MasterOptions options)
    : options_(std::move(options)),
      timing_(Timing::from(options_.sync.failure_timeout)),
      detector_(options_.sync.failure_timeout, timing_.grace),
      book_(options_.sync.mode == SyncMode::kBsp, options_.term),
      evaluate_at_(options_.evaluate_every) {
  CONVOY_CHECK(options_.sync.sample_count > 0 && options_.sync.end_position >= 0 && options_.sync.batch > 0,
               options_.sync.sample_count, " samples, end ", options_.sync.end_position, ", batch ",
               options_.sync.batch);
  if (!options_.allowed_keys.empty()) keys_version_ = first_keys_version(options_.term);
}

void Master::step(Time now, const Event& event, Effects& out) {
  if (stage_ == Stage::kDone) return;
  // A Master that slept (SIGSTOP, a suspended machine) has heard nobody, and nobody is to blame.
  if (last_step_ != Time::never() && now - last_step_ > timing_.heartbeat * 3) {
    hear_all_afresh(now);
  }
  last_step_ = now;
  std::visit([&](const auto& e) { on(now, e, out); }, event);
  if (stage_ == Stage::kDone) return;
  maybe_start(now, out);
  maybe_finish(now, out);
  schedule(out);
}

// ---- Events

void Master::on(Time now, const Started&, Effects&) {
  check_at_ = now + timing_.heartbeat;
  if (options_.restart) take_over(now);
}

// The last active view goes on until the first of this term replaces it: its members train within their
// leases, its P-slaves serve. Whoever does not come back in time is taken for dead as always.
void Master::take_over(Time now) {
  const MasterRestart& restart = *options_.restart;
  base_ = restart.last.record;
  ledger_ = logged_ = restart.last.ledger;
  for (const KnownNode& known : restart.last.nodes) {
    const bool worker = known.role == RoleKind::kWorker;
    Node node;
    node.peer = known.peer;
    node.role = known.role;
    node.name = known.name;
    node.host = known.host;
    node.device = known.device;
    node.address = known.address;
    node.public_key = known.public_key;
    node.id = known.id;
    node.incarnation = known.incarnation;
    node.samples_per_s = known.samples_per_s;
    node.ready = true;
    node.heard = now;
    (worker ? member_names_ : server_names_)[node.name] = {node.id, node.incarnation};
    std::uint32_t& next = worker ? next_member_id_ : next_server_id_;
    next = std::max(next, node.id + 1);
    detector_.watch(node.peer, now);
    if (!worker) {
      const auto written = restart.log_next.find({ServerId(node.id), node.incarnation});
      if (written != restart.log_next.end()) log_next_[ServerId(node.id)] = written->second;
    }
    nodes_[node.peer] = std::move(node);
  }
  while (options_.evaluate_every > 0 && evaluate_at_ <= ledger_.size())
    evaluate_at_ += options_.evaluate_every;
  took_over_ = true;
  stage_ = Stage::kTraining;
  want_change("the Master came back");
  servers_changed_ = true;
}

std::vector<KnownNode> Master::known_nodes(const ViewRecord& record) const {
  std::vector<KnownNode> known;
  for (const auto& [peer, node] : nodes_) {
    if (!lists(record, peer)) continue;
    known.push_back({peer, node.role, node.name, node.host, node.device, node.address, node.public_key,
                     node.id, node.incarnation, speed_of(node)});
  }
  return known;
}

void Master::on(Time now, const PeerBack&, Effects& out) {
  if (attempt_ && stage_ != Stage::kStopping) repeat_attempt(now, out);
}

void Master::on(Time now, const Tick&, Effects& out) {
  wake_at_ = Time::never();
  if (now >= check_at_) check_at_ = now + timing_.heartbeat;
  if (stage_ == Stage::kStopping) return continue_stop(now, out);
  check_suspects(now, out);
  if (attempt_ && attempt_->repeat.due(now)) {
    attempt_->repeat.again(now);
    repeat_attempt(now, out);
  }
  if (model_ && model_->repeat.due(now)) {
    model_->repeat.again(now);
    fetch_model(now, out);
  }
  if (evaluation_ && evaluation_repeat_.due(now)) {
    evaluation_repeat_.again(now);
    for (Send& s : evaluation_->repeat(kMasterPeerId, base_.view)) out.push_back(std::move(s));
  }
}

void Master::on(Time now, const PeerLost& event, Effects& out) {
  if (stage_ == Stage::kStopping) {
    nodes_.erase(event.peer);
    return continue_stop(now, out);
  }
  detector_.disconnected(event.peer, now);
}

void Master::on(Time now, const LeaveRequested&, Effects& out) {
  stop(now, true, "stopped by the operator", out);
}

void Master::on(Time, const KeysChanged& event, Effects& out) {
  options_.allowed_keys = event.keys;
  keys_version_ = std::max(keys_version_, first_keys_version(options_.term)) + 1;
  for (const auto& [peer, node] : nodes_) {
    if (node.role == RoleKind::kServer) send(peer, AllowedKeys{keys_version_, options_.allowed_keys}, out);
  }
}

void Master::on(Time now, const Envelope& envelope, Effects& out) {
  const Message& message = envelope.message;
  if (deaf_) {
    deaf_ = false;
    hear_all_afresh(now);
  }
  if (stage_ == Stage::kStopping) {
    if (!std::holds_alternative<Refuse>(message)) send(envelope.from, Stop{stop_failed_, stop_text_}, out);
    return;
  }
  if (const auto* m = std::get_if<Hello>(&message)) return on_hello(now, envelope, *m, out);
  const auto at = nodes_.find(envelope.from);
  if (at == nodes_.end()) {
    if (!std::holds_alternative<Refuse>(message)) {
      refuse(envelope, RefuseReason::kUnknown, "this Master does not know you (any more)", out);
    }
    return;
  }
  Node& node = at->second;
  if (envelope.incarnation != node.incarnation) {
    if (!std::holds_alternative<Refuse>(message)) {
      refuse(envelope, RefuseReason::kStale, "you were taken for dead and replaced", out);
    }
    return;
  }
  detector_.heard(envelope.from, now);
  node.heard = now;
  if (const auto* m = std::get_if<Heartbeat>(&message)) return on_heartbeat(now, envelope, node, *m, out);
  if (const auto* m = std::get_if<Join>(&message)) return on_join(now, node, *m, out);
  if (std::holds_alternative<Leave>(message)) return on_leave(now, node, out);
  if (const auto* m = std::get_if<LeaseRequest>(&message))
    return on_lease_request(now, envelope, node, *m, out);
  if (const auto* m = std::get_if<Report>(&message)) return on_report(now, node, *m, out);
  if (const auto* m = std::get_if<Done>(&message)) return on_done(now, node, *m, out);
  if (const auto* m = std::get_if<CommitLog>(&message)) return on_log(node, *m, out);
  if (const auto* m = std::get_if<EvaluateResult>(&message)) {
    if (evaluation_) {
      evaluation_->result(node.peer, *m);
      run_evaluation(now, out);
    }
    return;
  }
  if (const auto* m = std::get_if<SnapshotReply>(&message)) return on_snapshot_reply(*m, out);
  if (std::holds_alternative<Refuse>(message)) return;
  refuse(envelope, RefuseReason::kBadMessage, std::string("a Master takes no ") + name_of(message), out);
}

// ---- Nodes

void Master::on_hello(Time now, const Envelope& envelope, const Hello& message, Effects& out) {
  if (message.role != RoleKind::kWorker && message.role != RoleKind::kServer) {
    return refuse(envelope, RefuseReason::kBadMessage, "only W-slaves and P-slaves join", out);
  }
  auto& names = message.role == RoleKind::kWorker ? member_names_ : server_names_;
  if (const auto at = nodes_.find(envelope.from); at != nodes_.end()) {
    if (message.previous < at->second.incarnation) return welcome(at->second, out);  // our Welcome was lost
    remove(now, envelope.from, "it starts afresh", out);
  }
  // The name's earlier holder: gone if its connection is, else the newcomer waits.
  for (const auto& [peer, node] : nodes_) {
    if (node.role != message.role || node.name != message.name) continue;
    if (detector_.alive(peer, now)) {
      return refuse(
          envelope, RefuseReason::kNameTaken,
          "a node named \"" + message.name + "\" is in the run; wait until it is gone, or set node.name",
          out);
    }
    remove(now, peer, "it came back as another process", out);
    break;
  }
  std::uint32_t& next_id = message.role == RoleKind::kWorker ? next_member_id_ : next_server_id_;
  auto [entry, fresh] = names.try_emplace(message.name, next_id, Incarnation(0));
  if (fresh) ++next_id;
  // Higher than any that an earlier Master may have given without a trace in the journal.
  const std::uint32_t of_term = (options_.term - 1) << kLivesATermBits;
  entry->second.second =
      Incarnation(std::max({entry->second.second.value, message.previous.value, of_term}) + 1);
  Node node;
  node.peer = envelope.from;
  node.role = message.role;
  node.name = message.name;
  node.host = message.host;
  node.device = message.device;
  node.address = message.address;
  node.public_key = message.public_key;
  node.id = entry->second.first;
  node.incarnation = entry->second.second;
  node.heard = now;
  detector_.watch(node.peer, now);
  welcome(node, out);
  nodes_[node.peer] = std::move(node);
}

void Master::welcome(const Node& node, Effects& out) {
  send(node.peer,
       Welcome{options_.run, node.id, node.incarnation, options_.sync, options_.run_text,
               node.role == RoleKind::kServer ? options_.allowed_keys : std::vector<std::string>{}},
       out);
}

void Master::on_join(Time now, Node& node, const Join& message, Effects& out) {
  if (node.ready) return;
  if (barred(node, now)) return;  // it asks again
  node.ready = true;
  node.samples_per_s = message.samples_per_s;
  if (node.role == RoleKind::kWorker) {
    out.push_back(Trace{TraceJoined{node.key(), node.name}});
    want_change(node.name + " joins");
    run_evaluation(now, out);  // a slice may wait for somebody
  } else {
    want_change("P-slave " + node.name + " joins");
    servers_changed_ = true;
  }
}

void Master::on_leave(Time now, Node& node, Effects& out) {
  const bool again = node.leaving;
  node.leaving = true;
  const ServerRecord* server =
      node.role == RoleKind::kServer ? base_.find_server(ServerId(node.id)) : nullptr;
  if (server != nullptr || (node.role == RoleKind::kServer && attempt_)) {
    if (again) return;
    const bool alone = std::none_of(nodes_.begin(), nodes_.end(), [](const auto& entry) {
      const Node& n = entry.second;
      return n.role == RoleKind::kServer && n.ready && !n.leaving;
    });
    if (alone)
      out.push_back(
          Trace{TraceNote{"P-slave " + node.name + " wants to leave: waiting for another to take over"}});
    want_change("P-slave " + node.name + " leaves");
    servers_changed_ = true;
    return;
  }
  if (stage_ == Stage::kTraining && node.role == RoleKind::kWorker &&
      (base_.find_member(MemberId(node.id)) != nullptr || base_.find_stand_by(MemberId(node.id)) != nullptr ||
       attempt_)) {
    want_change(node.name + " leaves");
    return;  // Farewell comes with the view that is without it
  }
  const PeerId peer = node.peer;
  send(peer, Farewell{}, out);
  remove(now, peer, "it left", out);
}

void Master::remove(Time now, PeerId peer, const std::string& why, Effects& out) {
  const auto at = nodes_.find(peer);
  if (at == nodes_.end()) return;
  const Node node = at->second;
  nodes_.erase(at);
  detector_.forget(peer);
  complaints_.forget(peer);
  TraceLost lost{node.name, why, now - node.heard};
  if (node.role == RoleKind::kServer) lost.server = ServerKey{ServerId(node.id), node.incarnation};
  out.push_back(Trace{std::move(lost)});
  if (evaluation_) {
    evaluation_->lost(peer);
    run_evaluation(now, out);
  }
  if (node.role == RoleKind::kServer) return server_lost(now, node, why, out);
  const MemberRecord* m = base_.find_member(MemberId(node.id));
  const MemberRecord* s = base_.find_stand_by(MemberId(node.id));
  const bool in_base = (m != nullptr && m->key == node.key()) || (s != nullptr && s->key == node.key());
  if (in_base || attempt_) want_change(node.name + " is gone: " + why);
}

void Master::hear_all_afresh(Time now) {
  detector_.slept(now);
  complaints_ = {};
}

void Master::check_suspects(Time now, Effects& out) {
  // It is the Master that is cut off, and nobody is to blame; the next message ends that.
  if (!deaf_ && detector_.hears_nobody(timing_.heartbeat * 3, now)) {
    deaf_ = true;
    out.push_back(Trace{TraceNote{"hears nobody any more: waits for a sign of anybody"}});
  }
  for (const FailureDetector::Suspect& s : detector_.suspects(now)) {
    if (deaf_ && !s.disconnected) continue;
    std::ostringstream why;
    why.precision(2);
    if (s.disconnected) {
      why << "its connection broke";
    } else {
      why << "silent for " << std::fixed << seconds(s.silent_for) << " s";
    }
    remove(now, s.peer, why.str(), out);
  }
}

// ---- Life signs, samples, log

void Master::on_heartbeat(Time now, const Envelope& envelope, Node& node, const Heartbeat& message,
                          Effects& out) {
  if (node.role == RoleKind::kServer && message.keys_version < keys_version_)
    send(node.peer, AllowedKeys{keys_version_, options_.allowed_keys}, out);
  if (message.sequence > node.last.sequence) node.last = message;
  send(node.peer, HeartbeatReply{message.sequence}, out);
  // One that still stands in an earlier view has missed its Go.
  if (envelope.view < base_.view && !attempt_ && lists(base_, node.peer)) send_go(node.peer, out);
  complaints_.hear(node.peer, message.silent, now);
  judge(now, out);  // last: it may remove the node
}

double Master::speed_of(const Node& node) const {
  // Enough seen of it: what it really does; else what it measured on itself.
  if (node.last.busy > 500ms && node.last.samples > 0) {
    return static_cast<double>(node.last.samples) / seconds(node.last.busy);
  }
  return node.samples_per_s > 0 ? node.samples_per_s : kUnknownSpeed;
}

std::int64_t Master::ahead_clocks(const Node& node, std::int64_t batch) const {
  const double speed = speed_of(node);
  if (speed <= 0 || batch == 0) return kFirstAheadClocks;
  const double clocks = seconds(options_.lease_ahead) * speed / static_cast<double>(batch);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::min(clocks, 1e9)), 2, kMaxAheadClocks);
}

void Master::on_lease_request(Time, const Envelope& envelope, Node& node, const LeaseRequest& message,
                              Effects& out) {
  const MemberRecord* member = base_.find_member(MemberId(node.id));
  if (member == nullptr || member->key != node.key() || envelope.view != base_.view) return;
  // A cut that is under way has its own book: what is given now would be void. And a Master that has just
  // come knows of no leases.
  if (took_over_) return;
  if (attempt_ && attempt_->phase != Attempt::Phase::kReports) return;
  if (message.committed > message.next || message.next > book_.next_of(MemberId(node.id))) {
    return refuse(envelope, RefuseReason::kBadMessage, "leases asked for beyond those that were given", out);
  }
  std::vector<Lease> leases = book_.request(MemberId(node.id), message.next, message.committed);
  if (leases.empty() && message.idle) return want_change(node.name + " has nothing left to do");
  send(node.peer, LeaseGrant{std::move(leases)}, out);
}

void Master::on_log(Node& node, const CommitLog& message, Effects& out) {
  if (node.role != RoleKind::kServer) return;
  if (attempt_ && !all_at_cut()) {
    attempt_->logs[{node.peer, message.first}] = message;
    return;
  }
  write_log(node, message, out);
  maybe_journal(out);
}

void Master::write_log(const Node& node, const CommitLog& message, Effects& out) {
  const ServerId server(node.id);
  std::uint64_t& next = log_next_[server];
  if (message.first > next) return;  // a gap: the repeat fills it
  const std::uint64_t end = message.first + message.entries.size();
  if (end > next) {
    const auto skip = static_cast<std::ptrdiff_t>(next - message.first);
    std::vector<CommitLogEntry> fresh(message.entries.begin() + skip, message.entries.end());
    for (const CommitLogEntry& e : fresh) logged_.insert(e.trained);
    next = end;
    out.push_back(Trace{TraceLog{server, node.incarnation, std::move(fresh)}});
  }
  send(node.peer, CommitLogAck{next}, out);
  if (evaluation_due() && !(attempt_ && attempt_->cut.snapshot)) want_change("evaluation is due");
}

// ---- Evaluation

bool Master::evaluation_due() const {
  return options_.test_count > 0 && options_.evaluate_every > 0 && !evaluation_ &&
         logged_.size() >= evaluate_at_ && stage_ == Stage::kTraining;
}

std::vector<Evaluation::Candidate> Master::evaluators() const {
  std::vector<Evaluation::Candidate> workers;
  for (const auto& [peer, node] : nodes_) {
    if (node.role == RoleKind::kWorker && node.ready && !node.leaving)
      workers.push_back({peer, speed_of(node)});
  }
  return workers;
}

void Master::run_evaluation(Time now, Effects& out) {
  if (!evaluation_) return;
  if (evaluation_->done()) {
    out.push_back(Trace{evaluation_->outcome()});
    if (evaluation_->is_final()) final_evaluated_ = true;
    evaluation_.reset();
    evaluation_repeat_.stop();
    if (evaluation_due()) want_change("evaluation is due");
    return;
  }
  std::vector<Send> sends = evaluation_->assign(evaluators(), kMasterPeerId, base_.view);
  if (!sends.empty()) evaluation_repeat_.start(now, timing_.retry);
  for (Send& s : sends) out.push_back(std::move(s));
}

// ---- Small things

const Master::Node* Master::node_of(MemberKey key) const {
  for (const auto& [peer, node] : nodes_) {
    if (node.role == RoleKind::kWorker && node.key() == key) return &node;
  }
  return nullptr;
}

void Master::send(PeerId to, Message message, Effects& out) const {
  out.push_back(Send{to, Envelope{base_.view, kMasterPeerId, {}, std::move(message)}});
}

void Master::refuse(const Envelope& envelope, RefuseReason reason, const std::string& text,
                    Effects& out) const {
  send(envelope.from, Refuse{reason, envelope.incarnation, text}, out);
}

void Master::schedule(Effects& out) {
  Time next = std::min(check_at_, stop_at_);
  if (stage_ != Stage::kStopping && !deaf_) next = std::min(next, detector_.next_deadline());
  if (attempt_) next = std::min(next, attempt_->repeat.at());
  if (evaluation_) next = std::min(next, evaluation_repeat_.at());
  if (model_) next = std::min(next, model_->repeat.at());
  if (next == wake_at_ || next == Time::never()) return;
  wake_at_ = next;
  out.push_back(WakeAt{next});
}

MasterStatus Master::status(Time now) const {
  MasterStatus s;
  s.view = base_.view;
  s.c_min = base_.floor;
  s.samples = std::max(logged_.size(), ledger_.size());
  s.end = options_.sync.end_position;
  s.sample_count = options_.sync.sample_count;
  s.started = base_.view != View{};
  s.ended = ended();
  std::size_t workers = 0;
  std::size_t servers = 0;
  bool first = true;
  for (const auto& [peer, node] : nodes_) {
    if (node.role == RoleKind::kServer) {
      servers += node.ready ? 1 : 0;
      const ServerRecord* r = base_.find_server(ServerId(node.id));
      s.servers.push_back(
          {ServerId(node.id), node.name, node.host, node.address, r != nullptr, now - node.heard, peer});
      continue;
    }
    workers += node.ready ? 1 : 0;
    MasterStatus::Member m;
    m.key = node.key();
    m.peer = peer;
    m.name = node.name;
    m.host = node.host;
    m.device = node.device;
    const MemberRecord* r = base_.find_member(m.key.id);
    m.in_view = r != nullptr && r->key == m.key;
    m.stand_by = !m.in_view && base_.find_stand_by(m.key.id) != nullptr;
    m.clock = node.last.committed;
    m.batch = book_.batch(m.key.id);
    m.samples = node.last.samples;
    m.busy = node.last.busy;
    m.waiting = node.last.waiting;
    m.samples_per_s = speed_of(node);
    m.silent_for = now - node.heard;
    if (m.in_view) {
      s.c_min = first ? std::max(m.clock, base_.floor) : std::min(s.c_min, std::max(m.clock, base_.floor));
      first = false;
    }
    s.members.push_back(std::move(m));
  }
  std::sort(s.members.begin(), s.members.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  std::sort(s.servers.begin(), s.servers.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  if (!s.started) {
    const auto await = [&](std::size_t here, std::size_t wanted, const std::string& what) {
      if (here < wanted) {
        s.awaited.push_back((here == 0 ? counted(wanted, what) : counted(wanted - here, "more " + what)) +
                            " (" + std::to_string(here) + " of " + std::to_string(wanted) + " ready)");
      }
    };
    await(servers, options_.min_p_slaves, "P-slave");
    await(workers, options_.min_w_slaves, "W-slave");
  } else if (workers == 0 && !s.ended) {
    s.awaited.push_back("a W-slave: there is none left to train on");
  }
  return s;
}

}  // namespace convoy
