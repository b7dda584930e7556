#include "master/sim/checkers/gate_checker.h"

#include <algorithm>
#include <sstream>

namespace convoy::sim {

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
  const auto* trace = std::get_if<Trace>(&effect);
  if (trace == nullptr) return;
  if (const auto* t = std::get_if<TraceApply>(trace)) {
    Account& a = servers_[peer];
    const auto at = a.clocks.find(t->member);
    if (at != a.clocks.end()) at->second = t->clock + 1;
  } else if (const auto* cut = std::get_if<TraceCut>(trace)) {
    Account& a = servers_[peer];
    a.floor = cut->record.floor;
    a.clocks.clear();
    for (const MemberRecord& m : cut->record.members) a.clocks[m.key] = m.n;
    if (c_min(a) < shown_) {
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
      violate(text.str());
    }
  }
}

void GateChecker::after_step(Time, PeerId peer) {
  const ParameterServer* server = engine_.server(peer);
  if (server == nullptr || !server->serving()) return;
  const Clock least = c_min(servers_[peer]);
  for (const ParameterServer::Parked& p : server->parked()) {
    if (p.own < p.after || p.clock - least > engine_.scenario().sync.bound_low) continue;
    std::ostringstream text;
    text << p.member << " is held at clock " << p.clock << " though c_min is " << least;
    return violate(text.str());
  }
}

}  // namespace convoy::sim
