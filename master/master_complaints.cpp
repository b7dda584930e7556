// The Master's judgement over nodes that it hears, but that do not reach each other. See complaints.h.
#include <algorithm>
#include <sstream>

#include "master/master.h"

namespace convoy {
namespace {

constexpr int kFirstBar = 2;     // failure_timeouts that a node stays out after it was sent away ...
constexpr int kLongestBar = 16;  // ... and at most, when it happens again and again

}  // namespace

std::map<PeerId, Complaints::Party> Master::parties() const {
  std::map<PeerId, Complaints::Party> parties;
  for (const auto& [peer, node] : nodes_) {
    if (!node.ready) continue;
    Complaints::Party party;
    party.id = node.id;
    party.heard = node.heard;
    party.server = node.role == RoleKind::kServer;
    if (party.server) {
      const ServerId id(node.id);
      const auto lives = [&](std::optional<ServerId> other) {
        const ServerRecord* server = other && *other != id ? base_.find_server(*other) : nullptr;
        return server != nullptr && alive(*server);
      };
      const auto replaceable = [&](const ShardRecord& shard) {
        return (shard.owner != id && shard.backup != id) || lives(shard.owner) || lives(shard.backup);
      };
      const bool others = std::any_of(base_.servers.begin(), base_.servers.end(),
                                      [&](const ServerRecord& s) { return s.id != id && alive(s); });
      party.spare = others && std::all_of(base_.shards.begin(), base_.shards.end(), replaceable);
      party.peers = base_.members.size() + base_.servers.size() - 1;
    }
    parties.emplace(peer, party);
  }
  return parties;
}

bool Master::barred(const Node& node, Time now) const {
  if (base_.members.empty()) return false;  // it holds up nobody
  const auto bar = bars_.find({node.role, node.name});
  return bar != bars_.end() && now < bar->second.until;
}

void Master::judge(Time now, Effects& out) {
  if (stage_ != Stage::kTraining && stage_ != Stage::kClosing) return;
  while (const auto verdict = complaints_.verdict(parties(), timing_.heartbeat * 2, now)) {
    const Node& goes = nodes_.at(verdict->goes);
    const Node& other = nodes_.at(verdict->other);
    std::ostringstream why;
    if (goes.role == RoleKind::kServer && verdict->complain > 1)
      why << verdict->complain << " nodes do not reach it";
    else
      why << "it and " << other.name << " do not reach each other";
    // It comes back by itself, and would hold everybody up again: each time it waits longer.
    Bar& bar = bars_[{goes.role, goes.name}];
    const Duration first = options_.sync.failure_timeout * kFirstBar;
    const bool again = bar.lasts > Duration{} && now - bar.until < bar.lasts * 4;
    bar.lasts = again ? std::min(bar.lasts * 2, options_.sync.failure_timeout * kLongestBar) : first;
    bar.until = now + bar.lasts;
    remove(now, verdict->goes, why.str(), out);
    if (stage_ == Stage::kStopping) return;
  }
}

}  // namespace convoy
