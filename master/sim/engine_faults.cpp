// Faults: when they strike, whom, and what they do. See engine.h.
#include <algorithm>

#include "master/sim/engine_node.h"

namespace convoy::sim {

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

bool Engine::cut_off(PeerId from, PeerId to) const {
  for (const MasterCut& c : master_cuts_) {
    if (c.until <= now_) continue;
    if ((c.inbound && to == kMasterPeerId) || (c.outbound && from == kMasterPeerId)) return true;
  }
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
  if (fault.on_master) {
    master_cuts_.push_back({fault.inbound, fault.outbound, now_ + fault.lasts});
    return;
  }
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

}  // namespace convoy::sim
