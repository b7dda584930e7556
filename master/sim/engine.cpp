#include "master/sim/engine.h"

#include <algorithm>

#include "master/sim/engine_node.h"
#include "messages/base/check.h"
#include "messages/base/sampling.h"

namespace convoy::sim {
namespace {

constexpr std::uint64_t kFirstServerPeer = 100;
constexpr std::uint64_t kFirstWorkerPeer = 1000;

}  // namespace

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

}  // namespace convoy::sim
