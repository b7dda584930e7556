#include "master/sim/checkers/gate_checker.h"

#include <algorithm>
#include <sstream>

namespace convoy::sim {

namespace {

bool decides(const ViewRecord& record, PeerId peer) {
  for (const ShardRecord& shard : record.shards) {
    if (shard.chunks.empty() || shard.chunks.front() != ChunkId(0)) continue;
    const ServerRecord* owner = record.find_server(shard.owner);
    return owner != nullptr && owner->peer == peer;
  }
  return false;
}

}  // namespace

Clock GateChecker::c_min(const Account& account) {
  if (account.clocks.empty()) return account.floor;
  return std::min_element(account.clocks.begin(), account.clocks.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->second;
}

void GateChecker::on_effect(Time, PeerId peer, const Effect& effect) {
  std::ostringstream text;
  if (const auto* chunks = std::get_if<SendChunks>(&effect)) {
    const auto* reply = std::get_if<PullReply>(&chunks->envelope.message);
    if (reply == nullptr) return;
    Account& a = servers_[peer];
    if (reply->c_min < a.shown) {
      text << "c_min fell from " << a.shown << " to " << reply->c_min << " at " << peer;
      return violate(text.str());
    }
    a.shown = reply->c_min;
    shown_ = std::max(shown_, a.shown);
    return;
  }
  if (const auto* apply = std::get_if<Apply>(&effect)) return on_apply(peer, *apply);
  const auto* trace = std::get_if<Trace>(&effect);
  if (trace == nullptr) return;
  if (const auto* t = std::get_if<TraceApply>(trace)) {
    if (!t->owned) return;
    Account& a = servers_[peer];
    const auto at = a.clocks.find(t->member);
    if (at != a.clocks.end()) at->second = t->clock + 1;
  } else if (const auto* cut = std::get_if<TraceCut>(trace)) {
    Account& a = servers_[peer];
    a.floor = cut->record.floor;
    a.cutting = false;
    a.clocks.clear();
    a.extra.clear();
    a.decides = decides(cut->record, peer);
    for (const MemberRecord& m : cut->record.members) a.clocks[m.key] = m.n;
    // One that wakes up late makes cuts that nobody waits for any more.
    if (cut->record.view > engine_.master().record().view && c_min(a) < shown_) {
      text << "c_min of the cut " << cut->record.view << " is " << c_min(a) << ", but " << shown_
           << " was shown";
      violate(text.str());
    }
  } else if (const auto* grant = std::get_if<TraceGrant>(trace)) {
    const Clock true_min = c_min(servers_[peer]);
    const std::int64_t bound = engine_.scenario().sync.bound;
    if (grant->c_min != true_min || grant->clock - true_min > bound) {
      text << grant->member << " was granted clock " << grant->clock << " at c_min " << true_min << " (shown "
           << grant->c_min << "), bound " << bound;
      return violate(text.str());
    }
    Account& a = servers_[peer];
    const SyncOptions& sync = engine_.scenario().sync;
    if (sync.mode != SyncMode::kDynamic || !a.decides || grant->clock - true_min <= sync.bound_low) return;
    const auto [extra, first] = a.extra.try_emplace(grant->member, true_min);
    if (!first && extra->second == true_min) {
      text << grant->member << " was let beyond the lower bound twice at c_min " << true_min;
      return violate(text.str());
    }
    extra->second = true_min;
  }
}

void GateChecker::on_event(Time, PeerId peer, const Event& event) {
  const auto* envelope = std::get_if<Envelope>(&event);
  if (envelope != nullptr && std::holds_alternative<Cut>(envelope->message)) servers_[peer].cutting = true;
}

void GateChecker::on_apply(PeerId peer, const Apply& apply) {
  const Account& a = servers_[peer];
  if (engine_.scenario().sync.mode != SyncMode::kBsp || a.cutting) return;
  std::vector<MemberKey> members;
  for (const auto& [key, clock] : a.clocks) members.push_back(key);
  std::vector<MemberKey> summed;
  for (const Contribution& c : apply.contributions) summed.push_back(c.member);
  if (summed == members) return;
  std::ostringstream text;
  text << "clock " << apply.clock << " closes at " << peer << " with";
  for (MemberKey key : summed) text << " " << key;
  text << ", the view has";
  for (MemberKey key : members) text << " " << key;
  violate(text.str());
}

void GateChecker::after_step(Time, PeerId peer) {
  const ParameterServer* server = engine_.server(peer);
  if (server == nullptr || !server->serving()) return;
  Account& account = servers_[peer];
  const Clock least = c_min(account);
  const SyncOptions& sync = engine_.scenario().sync;
  for (const ShardCopy::Parked& p : server->parked()) {
    // Beyond the lower bound the decider holds those that had their extra grant.
    const auto extra = account.extra.find(p.member);
    const bool may_hold_back = sync.mode == SyncMode::kDynamic && account.decides &&
                               extra != account.extra.end() && extra->second == least;
    if (p.own < p.after || p.clock - least > (may_hold_back ? sync.bound_low : sync.bound)) continue;
    std::ostringstream text;
    text << p.member << " is held at clock " << p.clock << " though c_min is " << least;
    return violate(text.str());
  }
}

}  // namespace convoy::sim
