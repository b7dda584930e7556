#include "master/sim/checkers/lease_checker.h"

#include <sstream>

namespace convoy::sim {

void LeaseChecker::on_event(Time, PeerId peer, const Event& event) {
  const auto* envelope = std::get_if<Envelope>(&event);
  if (envelope == nullptr || engine_.worker(peer) == nullptr) return;
  Holder& holder = holders_[peer];
  if (const auto* go = std::get_if<Go>(&envelope->message)) {
    if (go->record.view <= holder.view) return;
    holder = {};
    holder.view = go->record.view;
    for (const Lease& l : go->leases) holder.leases[l.id] = l;
  } else if (const auto* grant = std::get_if<LeaseGrant>(&envelope->message)) {
    if (envelope->view != holder.view) return;
    for (const Lease& l : grant->leases) holder.leases[l.id] = l;
  }
}

void LeaseChecker::on_effect(Time, PeerId peer, const Effect& effect) {
  if (peer == kMasterPeerId) {
    if (const auto* trace = std::get_if<Trace>(&effect)) {
      const auto* active = std::get_if<TraceActive>(trace);
      if (active == nullptr) return;
      view_ = active->record.view;
      leased_ = engine_.master().ledger();
      given_.clear();
    } else if (const auto* send = std::get_if<Send>(&effect)) {
      if (const auto* go = std::get_if<Go>(&send->envelope.message)) {
        for (const Lease& l : go->leases) give(send->to, l);
      } else if (const auto* grant = std::get_if<LeaseGrant>(&send->envelope.message)) {
        for (const Lease& l : grant->leases) give(send->to, l);
      }
    }
    return;
  }
  const auto* compute = std::get_if<Compute>(&effect);
  if (compute == nullptr) return;
  Holder& holder = holders_[peer];
  const auto held = holder.leases.find(compute->lease.id);
  std::ostringstream text;
  text << peer << " computes clock " << compute->clock << " with " << compute->lease.id << " in "
       << holder.view;
  if (held == holder.leases.end() || held->second != compute->lease || held->second.clock != compute->clock) {
    text << ", which it does not hold";
    return violate(text.str());
  }
  if (!holder.computed.insert(compute->clock).second) {
    text << " again";
    return violate(text.str());
  }
  std::set<ChunkId> chunks;
  for (const ChunkData& c : compute->parameters) chunks.insert(c.chunk);
  if (chunks.size() != engine_.scenario().chunks || compute->parameters.size() != chunks.size()) {
    text << " on " << compute->parameters.size() << " of " << engine_.scenario().chunks << " chunks";
    violate(text.str());
  }
}

void LeaseChecker::give(PeerId to, const Lease& lease) {
  std::ostringstream text;
  text << lease.id << " of " << lease.positions << " for clock " << lease.clock << " of " << to << " in "
       << view_;
  const auto at = given_.find(lease.id);
  if (at != given_.end()) {  // named again
    if (at->second.to == to && at->second.lease == lease) return;
    text << " was given before, otherwise";
    return violate(text.str());
  }
  if (lease.positions.empty()) {
    text << " holds nothing";
    return violate(text.str());
  }
  if (leased_.intersects(lease.positions)) {
    text << " holds positions that are leased or committed";
    return violate(text.str());
  }
  leased_.insert(lease.positions);
  given_[lease.id] = {to, lease};
}

}  // namespace convoy::sim
