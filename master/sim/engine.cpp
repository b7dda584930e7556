#include "master/sim/engine.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "messages/base/check.h"
#include "messages/base/sampling.h"

namespace convoy::sim {
namespace {

constexpr std::uint64_t kFirstServerPeer = 100;
constexpr std::uint64_t kFirstWorkerPeer = 1000;

std::size_t wire_size(const Message& message) {
  const auto bytes_of = [](const std::vector<ChunkData>& chunks) {
    std::size_t bytes = 0;
    for (const ChunkData& c : chunks) bytes += c.bytes.size();
    return bytes;
  };
  std::size_t bytes = 128;
  if (const auto* m = std::get_if<Push>(&message)) bytes += bytes_of(m->chunks);
  if (const auto* m = std::get_if<PullReply>(&message)) bytes += bytes_of(m->chunks);
  if (const auto* m = std::get_if<SnapshotReply>(&message)) bytes += bytes_of(m->chunks);
  if (const auto* m = std::get_if<ChunkStates>(&message)) bytes += bytes_of(m->chunks);
  if (const auto* m = std::get_if<Replicate>(&message)) {
    if (const auto* push = std::get_if<Push>(&m->entry)) bytes += bytes_of(push->chunks);
  }
  return bytes;
}

}  // namespace

struct Engine::Node {
  PeerId peer;
  std::string name;
  std::variant<Master, ParameterServer, Worker> role;
  std::size_t index = 0;  // of the worker in the scenario
  Time frozen_until{};
  std::deque<std::shared_ptr<const Payload>> backlog;  // came while frozen
  std::uint64_t wake_token = 0;
  // W-slave's executor
  double samples_per_s = 0;
  double slow = 1;
  Time slow_until{};
  Duration warm_up{};
  Time busy_until{};
  bool leaving = false;
  Duration returns_after{};  // once it has left
  // P-slave's executor
  std::map<ChunkId, ChunkValue> chunks;
  std::map<ChunkId, ChunkValue> snapshot;
};

MasterOptions Engine::master_options() const {
  MasterOptions options;
  options.run = RunId(scenario_.seed);
  options.term = term_;
  options.sync = scenario_.sync;
  options.sync.sample_count = scenario_.sample_count;
  options.sync.end_position = scenario_.end_position;
  options.test_count = scenario_.test_count;
  options.evaluate_every = scenario_.evaluate_every;
  for (std::size_t c = 0; c < scenario_.chunks; ++c) options.chunk_bytes.push_back(scenario_.chunk_bytes(c));
  options.equal_partition = scenario_.equal_partition;
  options.min_w_slaves = scenario_.min_w_slaves;
  options.min_p_slaves = scenario_.servers;
  options.backups = scenario_.backups;
  options.lease_ahead = scenario_.lease_ahead;
  return options;
}

Engine::Engine(const Scenario& scenario) : scenario_(scenario) {
  nodes_[kMasterPeerId] = std::make_unique<Node>(Node{kMasterPeerId, "master", Master(master_options())});
  push(now_, kMasterPeerId, Event(Started{}));
  server_peers_.resize(scenario.servers + scenario.more_servers.size());
  for (std::size_t i = 0; i < server_peers_.size(); ++i) {
    const ServerSpec spec = i < scenario.servers ? ServerSpec{} : scenario.more_servers[i - scenario.servers];
    if (spec.after_samples == 0) push(now_ + spec.starts, kMasterPeerId, StartServer{i});
  }
  worker_peers_.resize(scenario.workers.size());
  for (std::size_t i = 0; i < scenario.workers.size(); ++i) {
    if (scenario.workers[i].after_samples == 0)
      push(now_ + scenario.workers[i].starts, kMasterPeerId, StartNode{i});
  }
  quiet_from_ = Time{scenario.quiet_from()};
  for (std::size_t i = 0; i < scenario.faults.size(); ++i) {
    const Fault& f = scenario.faults[i];
    if (f.at_a_time()) push(now_ + f.at, kMasterPeerId, FaultDue{i, {}});
    awaited_messages_.emplace_back();
    if (!f.after_message.empty() && !f.after_fault) awaited_messages_.back() = f.message_count;
  }
}

Engine::~Engine() = default;

const Master& Engine::master() const {
  return std::get<Master>(nodes_.at(kMasterPeerId)->role);
}

const ParameterServer* Engine::server(PeerId peer) const {
  const Node* node = find(peer);
  return node == nullptr ? nullptr : std::get_if<ParameterServer>(&node->role);
}

const Worker* Engine::worker(PeerId peer) const {
  const Node* node = find(peer);
  return node == nullptr ? nullptr : std::get_if<Worker>(&node->role);
}

const std::map<ChunkId, ChunkValue>& Engine::chunks(PeerId server) const {
  return nodes_.at(server)->chunks;
}

bool Engine::frozen(PeerId peer, Time now) const {
  const Node* node = find(peer);
  return node != nullptr && node->frozen_until > now;
}

double Engine::unit() {
  return to_unit(random_word(scenario_.seed, 0x656e67u, draws_++));
}

void Engine::push(Time at, PeerId to, Payload payload) {
  queue_.push(Item{at, sequence_++, to, std::make_shared<const Payload>(std::move(payload))});
}

Engine::Node* Engine::find(PeerId peer) {
  const auto at = nodes_.find(peer);
  return at == nodes_.end() ? nullptr : at->second.get();
}

const Engine::Node* Engine::find(PeerId peer) const {
  const auto at = nodes_.find(peer);
  return at == nodes_.end() ? nullptr : at->second.get();
}

Outcome Engine::run() {
  for (Watcher* w : watchers_) w->on_begin(*this);
  while (!queue_.empty() && !over_) {
    const Item item = queue_.top();
    queue_.pop();
    now_ = item.at;
    if (now_.since_start > scenario_.deadline) {
      outcome_.problem = "progress: no end within the deadline";
      break;
    }
    if (const auto* start = std::get_if<StartNode>(item.payload.get())) {
      if (!worker_peers_[start->worker]) add_worker(start->worker);
      quiet_from_ = std::max(quiet_from_, now_ + scenario_.workers[start->worker].warm_up);
      continue;
    }
    if (const auto* begin = std::get_if<StartServer>(item.payload.get())) {
      if (!server_peers_[begin->server]) add_server(begin->server);
      quiet_from_ = std::max(quiet_from_, now_);
      continue;
    }
    if (std::holds_alternative<StartMaster>(*item.payload)) {
      restart_master();
      continue;
    }
    if (const auto* fault = std::get_if<FaultDue>(item.payload.get())) {
      start_fault(fault->index, fault->victim);
      continue;
    }
    deliver(item.to, item.payload);
  }
  outcome_.ended = now_;
  if (outcome_.problem.empty() && !outcome_.finished)
    outcome_.problem = "progress: nothing left to happen, training not ended";
  for (Watcher* w : watchers_) {
    if (outcome_.problem.empty()) w->at_end(now_);
    if (outcome_.problem.empty()) outcome_.problem = w->violation();
  }
  return outcome_;
}

void Engine::deliver(PeerId to, const std::shared_ptr<const Payload>& payload) {
  Node* node = find(to);
  if (node == nullptr) return;  // died meanwhile
  if (to == kMasterPeerId && master_down_) return;
  const auto* thaw = std::get_if<Thaw>(payload.get());
  if (node->frozen_until > now_) {
    // What comes meanwhile waits in the order in which it came.
    if (thaw == nullptr) node->backlog.push_back(payload);
    if (thaw != nullptr || node->backlog.size() == 1) push(node->frozen_until, to, Thaw{});
    return;
  }
  if (thaw == nullptr && !node->backlog.empty()) return node->backlog.push_back(payload);
  if (thaw != nullptr) {
    while (node != nullptr && node->frozen_until <= now_ && !node->backlog.empty() && !over_) {
      const auto first = node->backlog.front();
      node->backlog.pop_front();
      wake_or_step(*node, *first);
      node = find(to);  // it may have died of it
    }
    if (node != nullptr && !node->backlog.empty()) push(node->frozen_until, to, Thaw{});
    return;
  }
  wake_or_step(*node, *payload);
}

void Engine::wake_or_step(Node& node, const Payload& payload) {
  if (const auto* wake = std::get_if<WakeUp>(&payload)) {
    if (wake->token == node.wake_token) step(node, Tick{});
    return;
  }
  step(node, std::get<Event>(payload));
}

Engine::Node& Engine::add_worker(std::size_t index) {
  const WorkerSpec& spec = scenario_.workers[index];
  const PeerId peer(kFirstWorkerPeer + lives_++);
  const std::string name = "w" + std::to_string(index);
  auto node = std::make_unique<Node>(Node{
      peer, name, Worker(WorkerOptions{peer, name, "sim", "sim", "sim", scenario_.sync.failure_timeout})});
  node->index = index;
  node->samples_per_s = spec.samples_per_s;
  node->warm_up = spec.warm_up;
  worker_peers_[index] = peer;
  Node& added = *(nodes_[peer] = std::move(node));
  step(added, Started{});
  return added;
}

Engine::Node& Engine::add_server(std::size_t index) {
  const PeerId peer(kFirstServerPeer + server_lives_++);
  const std::string name = "p" + std::to_string(index);
  auto node =
      std::make_unique<Node>(Node{peer, name,
                                  ParameterServer(ParameterServerOptions{peer, name, "sim", name, "", "sim",
                                                                         scenario_.sync.failure_timeout})});
  node->index = index;
  server_peers_[index] = peer;
  Node& added = *(nodes_[peer] = std::move(node));
  step(added, Started{});
  return added;
}

// The same machine, another process: it has what was durable.
void Engine::restart_master() {
  ++term_;
  MasterOptions options = master_options();
  if (journal_) options.restart = MasterRestart{*journal_, log_written_};
  Node& node = *nodes_.at(kMasterPeerId);
  node.role = Master(std::move(options));
  ++node.wake_token;
  master_down_ = false;
  quiet_from_ = std::max(quiet_from_, now_);
  step(node, Started{});
}

void Engine::step(Node& node, const Event& event) {
  ++outcome_.events;
  std::uint64_t what = event.index();
  if (const auto* envelope = std::get_if<Envelope>(&event)) what = 64 + envelope->message.index();
  outcome_.hash = mix64(outcome_.hash ^ mix64(static_cast<std::uint64_t>(now_.since_start.count()) ^
                                              mix64(node.peer.value * 256 + what)));
  for (Watcher* w : watchers_) w->on_event(now_, node.peer, event);
  Effects effects;
  std::visit([&](auto& role) { role.step(now_, event, effects); }, node.role);
  const PeerId peer = node.peer;
  for (Effect& effect : effects) {
    for (Watcher* w : watchers_) w->on_effect(now_, peer, effect);
    Node* alive = find(peer);
    if (alive == nullptr) break;
    carry_out(*alive, effect);
  }
  for (Watcher* w : watchers_) {
    w->after_step(now_, peer);
    if (!w->violation().empty() && outcome_.problem.empty()) {
      outcome_.problem = w->violation();
      over_ = true;
    }
  }
  if (const auto* envelope = std::get_if<Envelope>(&event)) start_after_message(peer, *envelope);
  start_after_event();
}

void Engine::start_after_event() {
  for (std::size_t i = 0; i < scenario_.faults.size(); ++i) {
    const std::uint64_t after = scenario_.faults[i].after_events;
    if (after == outcome_.events && after != 0) start_fault(i, {});
  }
}

void Engine::start_after_message(PeerId to, const Envelope& envelope) {
  for (std::size_t i = 0; i < scenario_.faults.size(); ++i) {
    const Fault& f = scenario_.faults[i];
    std::optional<std::uint64_t>& awaited = awaited_messages_[i];
    if (!awaited || f.after_message != name_of(envelope.message) || --*awaited > 0) continue;
    awaited.reset();
    std::optional<PeerId> chosen;
    if (f.strikes == Strikes::kSender) chosen = envelope.from;
    if (f.strikes == Strikes::kReceiver) chosen = to;
    if (chosen && server(*chosen) == nullptr) chosen.reset();
    push(now_ + f.at, kMasterPeerId, FaultDue{i, chosen});
  }
}

void Engine::start_after_samples(std::int64_t before, std::int64_t now_applied) {
  const auto due = [&](std::int64_t after) { return after > before && after <= now_applied; };
  for (std::size_t i = 0; i < scenario_.faults.size(); ++i) {
    if (due(scenario_.faults[i].after_samples))
      push(now_ + scenario_.faults[i].at, kMasterPeerId, FaultDue{i, {}});
  }
  for (std::size_t i = 0; i < scenario_.workers.size(); ++i) {
    if (due(scenario_.workers[i].after_samples)) push(now_, kMasterPeerId, StartNode{i});
  }
  for (std::size_t i = 0; i < scenario_.more_servers.size(); ++i) {
    if (due(scenario_.more_servers[i].after_samples))
      push(now_, kMasterPeerId, StartServer{scenario_.servers + i});
  }
}

void Engine::carry_out(Node& node, Effect& effect) {
  if (auto* e = std::get_if<Send>(&effect)) {
    transmit(node, e->to, std::move(e->envelope));
  } else if (const auto* wake = std::get_if<WakeAt>(&effect)) {
    push(std::max(now_, wake->at), node.peer, WakeUp{++node.wake_token});
  } else if (std::holds_alternative<WarmUp>(effect)) {
    push(now_ + node.warm_up, node.peer, Event(WarmedUp{node.samples_per_s}));
  } else if (const auto* run = std::get_if<Compute>(&effect)) {
    compute(node, *run);
  } else if (const auto* slice = std::get_if<EvaluateSlice>(&effect)) {
    // The picture must be one cut: every chunk knows the same number of positions.
    std::uint64_t least = ~std::uint64_t{0};
    std::uint64_t most = 0;
    for (const ChunkData& c : slice->parameters) {
      if (c.bytes.empty()) continue;
      const std::uint64_t count = from_frame(c.bytes)[0];
      least = std::min(least, count);
      most = std::max(most, count);
    }
    if (least < most) outcome_.problem = "picture: an evaluated picture mixes states";
    const std::int64_t count = slice->task.last - slice->task.first;
    push(now_ + from_seconds(static_cast<double>(count) / node.samples_per_s), node.peer,
         Event(Evaluated{slice->task.snapshot, slice->task.task, count, 0.0, count}));
  } else if (const auto* init = std::get_if<InitialiseChunks>(&effect)) {
    for (ChunkId c : init->chunks) node.chunks[c] = {};
  } else if (const auto* update = std::get_if<Apply>(&effect)) {
    apply(node, *update);
  } else if (auto* reply = std::get_if<SendChunks>(&effect)) {
    send_chunks(node, *reply);
  } else if (const auto* states = std::get_if<InstallChunks>(&effect)) {
    for (const ChunkData& c : states->chunks)
      node.chunks[c.chunk] = scenario_.executor == Executor::kIntegers ? from_frame(c.bytes) : ChunkValue{};
  } else if (const auto* keep = std::get_if<KeepChunks>(&effect)) {
    std::erase_if(node.chunks, [&](const auto& c) {
      return !std::binary_search(keep->chunks.begin(), keep->chunks.end(), c.first);
    });
  } else if (const auto* picture = std::get_if<TakeSnapshot>(&effect)) {
    node.snapshot.clear();
    for (ChunkId c : picture->chunks) node.snapshot[c] = node.chunks.at(c);
  } else if (const auto* journal = std::get_if<Journal>(&effect)) {
    // Durable from here on, or from the moment that the Master hears of it: a crash in between may find
    // either.
    journal_ = *journal;
    push(now_ + 1ms, node.peer, Event(Journaled{journal->record.view}));
    ++outcome_.view_changes;
  } else if (std::holds_alternative<SaveModel>(effect)) {
    push(now_ + 1ms, node.peer, Event(Saved{}));
  } else if (const auto* quit = std::get_if<Quit>(&effect)) {
    if (node.peer == kMasterPeerId) {
      over_ = true;
      outcome_.finished = !quit->failed;
      if (quit->failed) outcome_.problem = "role: the Master gave up: " + quit->text;
    } else {
      // One that was asked to leave need not wait for a Master that does not answer.
      if (quit->failed && !node.leaving && outcome_.problem.empty())
        outcome_.problem = "role: " + node.name + " failed: " + quit->text;
      if (node.returns_after > Duration{}) {
        if (std::holds_alternative<ParameterServer>(node.role))
          push(now_ + node.returns_after, kMasterPeerId, StartServer{node.index});
        else
          push(now_ + node.returns_after, kMasterPeerId, StartNode{node.index});
      }
      crash(node.peer);
    }
  } else if (const auto* trace = std::get_if<Trace>(&effect)) {
    if (const auto* v = std::get_if<TraceViolation>(trace); v != nullptr && outcome_.problem.empty()) {
      outcome_.problem = "role: " + node.name + " traces a violation: " + v->text;
      over_ = true;
    }
    if (const auto* log = std::get_if<TraceLog>(trace))
      log_written_[{log->server, log->incarnation}] += log->entries.size();
  }
}

void Engine::transmit(const Node& from, PeerId to, Envelope envelope) {
  auto* push_message = std::get_if<Push>(&envelope.message);
  if (!scenario_.in_parts || push_message == nullptr || push_message->chunks.size() < 2)
    return transmit_whole(from, to, std::move(envelope));
  // Layer by layer, as a backward pass makes it: the last chunks leave first.
  std::vector<ChunkData> chunks = std::move(push_message->chunks);
  while (!chunks.empty()) {
    push_message->chunks = {std::move(chunks.back())};
    chunks.pop_back();
    transmit_whole(from, to, envelope);
  }
}

void Engine::transmit_whole(const Node& from, PeerId to, Envelope envelope) {
  if (cut_off(from.peer, to) || lost_to_others(from.peer, to, envelope.message)) return;
  const Network& net = scenario_.network;
  // The life signs of P-slaves are spared where losing one may end the run: five lost in a row are no
  // protocol fault.
  const bool spared = std::holds_alternative<ParameterServer>(from.role) &&
                      std::holds_alternative<Heartbeat>(envelope.message);
  if (net.loss > 0 && !spared && unit() < net.loss) return;
  const std::size_t size = wire_size(envelope.message);
  const std::pair link{from.peer, to};
  Time& free = link_free_[link];
  free = std::max(free, now_) + from_seconds(static_cast<double>(size) / net.bandwidth);
  Time arrival = free + net.latency;
  if (net.jitter > Duration{}) arrival = arrival + from_seconds(-std::log(1 - unit()) * seconds(net.jitter));
  if (net.reorder > 0 && unit() < net.reorder) {
    arrival = arrival + from_seconds(unit() * seconds(net.reorder_delay));
  } else {
    Time& last = fifo_[link];
    arrival = last = std::max(last, arrival);
  }
  const bool twice = net.duplicate > 0 && unit() < net.duplicate;
  if (twice) push(arrival + from_seconds(unit() * seconds(net.reorder_delay)), to, Event(envelope));
  push(arrival, to, Event(std::move(envelope)));
}

bool Engine::cut_off(PeerId from, PeerId to) const {
  for (const Partition& p : partitions_) {
    const auto near = near_end(p);
    if (!near || p.until <= now_) continue;
    if (p.inbound && from == p.other && to == *near) return true;
    if (p.outbound && from == *near && to == p.other) return true;
  }
  return false;
}

// See FaultKind::kAlone.
bool Engine::lost_to_others(PeerId from, PeerId to, const Message& message) const {
  if (alone_.empty() || server(to) == nullptr) return false;
  const auto* entry = std::get_if<Replicate>(&message);
  const bool by_stream = entry != nullptr && !std::holds_alternative<Push>(entry->entry);
  const bool by_worker = std::holds_alternative<Commit>(message) || std::holds_alternative<Pull>(message);
  return std::any_of(alone_.begin(), alone_.end(), [&](const auto& alone) {
    const auto& [peer, until] = alone;
    return until > now_ && ((by_stream && from == peer) || (by_worker && to != peer));
  });
}

std::optional<PeerId> Engine::near_end(const Partition& partition) const {
  return partition.of_server ? server_peers_[partition.index] : worker_peers_[partition.index];
}

bool Engine::in_doubt(const Node& node) const {
  // Its next life sign may be as far away.
  const Time back = now_ - scenario_.sync.failure_timeout / 2;
  if (node.frozen_until > std::max(back, Time{})) return true;
  return std::any_of(partitions_.begin(), partitions_.end(), [&](const Partition& p) {
    return near_end(p) == node.peer && p.outbound && p.other == kMasterPeerId && p.until > back;
  });
}

void Engine::start_fault(std::size_t index, std::optional<PeerId> chosen) {
  const Fault& fault = scenario_.faults[index];
  for (std::size_t i = 0; i < scenario_.faults.size(); ++i) {
    if (scenario_.faults[i].after_fault == index) awaited_messages_[i] = scenario_.faults[i].message_count;
  }
  const auto peer = victim_of(fault, chosen);
  Node* node = peer ? find(*peer) : nullptr;
  for (Watcher* w : watchers_) w->on_fault(now_, fault, node == nullptr ? std::nullopt : peer);
  quiet_from_ = std::max(quiet_from_, now_ + fault.lasts);
  if (node == nullptr) return;
  switch (fault.kind) {
    case FaultKind::kCrash: {
      const std::size_t of = node->index;
      crash(*peer);
      if (fault.lasts > Duration{}) {
        if (fault.on_master)
          push(now_ + fault.lasts, kMasterPeerId, StartMaster{});
        else if (fault.on_server)
          push(now_ + fault.lasts, kMasterPeerId, StartServer{of});
        else
          push(now_ + fault.lasts, kMasterPeerId, StartNode{of});
      }
      return;
    }
    case FaultKind::kFreeze:
      node->frozen_until = std::max(node->frozen_until, now_ + fault.lasts);
      return;
    case FaultKind::kSlow:
      node->slow = fault.factor;
      node->slow_until = now_ + fault.lasts;
      return;
    case FaultKind::kLeave:
      node->returns_after = fault.lasts;
      node->leaving = true;
      push(now_, *peer, Event(LeaveRequested{}));
      return;
    case FaultKind::kPartition:
      return start_partition(fault, *peer);
    case FaultKind::kAlone:
      alone_.emplace_back(*peer, now_ + fault.lasts);
      return;
  }
}

void Engine::start_partition(const Fault& fault, PeerId victim) {
  const auto& with = fault.on_server ? fault.other_server : fault.server;
  const std::optional<PeerId> other = with ? server_peers_[*with] : std::optional(kMasterPeerId);
  if (!other || *other == victim) return;
  partitions_.push_back(
      {fault.on_server, find(victim)->index, *other, fault.inbound, fault.outbound, now_ + fault.lasts});
}

// Those who are struck are taken for dead, or may be.
bool Engine::may_be_missed(const Fault& fault) const {
  if (fault.kind == FaultKind::kPartition) return fault.outbound && !fault.other_server;
  return fault.kind == FaultKind::kCrash || fault.kind == FaultKind::kFreeze;
}

// Whom the fault strikes; nobody when it is down already, or is a P-slave whose loss would end the run.
std::optional<PeerId> Engine::victim_of(const Fault& fault, std::optional<PeerId> chosen) const {
  // Once it has said Stop nobody would be left for another Master.
  if (fault.on_master) return master_down_ || master().ended() ? std::nullopt : std::optional(kMasterPeerId);
  if (!fault.on_server) return peer_of(fault.worker);
  const auto may_strike = [&](std::optional<PeerId> peer) {
    return peer && (!may_be_missed(fault) || can_be_lost(*peer));
  };
  const ViewRecord& record = master().record();
  if (fault.strikes == Strikes::kOwner && !record.shards.empty())
    chosen = record.owner_of(ShardId(static_cast<std::uint32_t>(*fault.server % record.shards.size()))).peer;
  const std::optional<PeerId> peer = chosen ? chosen : server_peers_[*fault.server];
  if (may_strike(peer)) return peer;
  for (std::size_t i = 0; fault.or_another && may_be_missed(fault) && i < server_peers_.size(); ++i) {
    if (may_strike(server_peers_[i])) return server_peers_[i];
  }
  return {};
}

// Every shard of the last active view has another copy, at a P-slave that is up and not about to be taken for
// dead.
bool Engine::can_be_lost(PeerId server) const {
  if (master().record().view == View{}) return false;
  const auto survives = [&](const ViewRecord& record) {
    const auto up = [&](ServerId id) {
      const ServerRecord& s = *record.find_server(id);
      const Node* node = find(s.peer);
      return s.peer != server && node != nullptr && !in_doubt(*node) && master().alive(s);
    };
    return std::all_of(record.shards.begin(), record.shards.end(),
                       [&](const ShardRecord& s) { return up(s.owner) || (s.backup && up(*s.backup)); });
  };
  const ViewRecord* next = master().next_record();
  if (master_down_) return false;  // nobody would take note
  return survives(master().record()) && (next == nullptr || survives(*next));
}

void Engine::crash(PeerId peer) {
  Node* node = find(peer);
  if (node == nullptr) return;
  if (peer == kMasterPeerId) {
    // Its last state stays to be looked at.
    master_down_ = true;
    node->backlog.clear();
    node->frozen_until = {};
    for (const auto& [other, n] : nodes_)
      push(now_ + scenario_.network.latency, other, Event(PeerLost{peer}));
    return;
  }
  if (std::holds_alternative<Worker>(node->role)) worker_peers_[node->index].reset();
  if (std::holds_alternative<ParameterServer>(node->role)) server_peers_[node->index].reset();
  nodes_.erase(peer);
  // The kernel closes the sockets of a dead process, so the others hear of it.
  for (const auto& [other, n] : nodes_) push(now_ + scenario_.network.latency, other, Event(PeerLost{peer}));
}

void Engine::compute(Node& node, const Compute& effect) {
  const double slow = node.slow_until > now_ ? node.slow : 1;
  const double noise = 1 + scenario_.jitter * (2 * unit() - 1);
  const auto samples = static_cast<double>(effect.lease.positions.size());
  const Duration busy = from_seconds(samples / node.samples_per_s * slow * noise);
  node.busy_until = std::max(node.busy_until, now_) + busy;
  Gradients done;
  done.clock = effect.clock;
  done.lease = effect.lease.id;
  done.trained = effect.lease.positions;
  done.digest = positions_digest(effect.lease.positions, scenario_.sample_count, scenario_.seed);
  done.loss_sum = samples;
  done.busy = busy;
  for (const ChunkData& c : effect.parameters) {
    done.chunks.push_back({c.chunk, scenario_.executor == Executor::kIntegers
                                        ? to_frame(value_of(c.chunk, effect.lease.positions))
                                        : Frame{}});
  }
  if (scenario_.in_parts && done.chunks.size() > 1) {
    Gradients first = done;
    first.last = false;
    first.busy = {};
    const auto half = static_cast<std::ptrdiff_t>(done.chunks.size() / 2);
    first.chunks.erase(first.chunks.begin(), first.chunks.begin() + half);
    done.chunks.resize(static_cast<std::size_t>(half));
    push(node.busy_until - busy / 2, node.peer, Event(std::move(first)));
  }
  push(node.busy_until, node.peer, Event(std::move(done)));
}

void Engine::apply(Node& node, const Apply& effect) {
  const std::int64_t applied = effect.samples_before + effect.samples;
  if (applied > most_applied_) {
    start_after_samples(most_applied_, applied);
    most_applied_ = applied;
  }
  if (scenario_.executor != Executor::kIntegers) return;
  for (const Contribution& c : effect.contributions) {
    for (const ChunkData& data : c.chunks) add(node.chunks.at(data.chunk), from_frame(data.bytes));
  }
}

void Engine::send_chunks(Node& node, SendChunks& effect) {
  std::vector<ChunkData> data;
  for (ChunkId c : effect.chunks) {
    const auto& from = effect.snapshot ? node.snapshot : node.chunks;
    data.push_back({c, scenario_.executor == Executor::kIntegers ? to_frame(from.at(c)) : Frame{}});
  }
  if (auto* reply = std::get_if<PullReply>(&effect.envelope.message))
    reply->chunks = std::move(data);
  else if (auto* picture = std::get_if<SnapshotReply>(&effect.envelope.message))
    picture->chunks = std::move(data);
  else if (auto* states = std::get_if<ChunkStates>(&effect.envelope.message))
    states->chunks = std::move(data);
  transmit(node, effect.to, std::move(effect.envelope));
}

}  // namespace convoy::sim
