#include "master/sim/checkers/durability_checker.h"

#include <algorithm>
#include <sstream>

namespace convoy::sim {

void DurabilityChecker::on_effect(Time, PeerId peer, const Effect& effect) {
  if (const auto* send = std::get_if<Send>(&effect)) return on_message(peer, send->to, send->envelope);
  if (const auto* send = std::get_if<SendChunks>(&effect)) return on_message(peer, send->to, send->envelope);
  if (const auto* trace = std::get_if<Trace>(&effect)) on_trace(peer, *trace);
}

void DurabilityChecker::on_message(PeerId from, PeerId to, const Envelope& envelope) {
  const Message& message = envelope.message;
  if (std::holds_alternative<Report>(message)) return freeze(from);
  if (const auto* reply = std::get_if<PullReply>(&message)) {
    auto& applied = unshown_[{from, reply->shard}];
    for (const Applied& a : applied) shown_.insert(a.trained);
    applied.clear();
  } else if (const auto* ack = std::get_if<CommitAck>(&message)) {
    const auto member = member_at(from, to);
    for (const Applied& a : unshown_[{from, ack->shard}]) {
      if (a.member == member && a.clock < ack->committed) shown_.insert(a.trained);
    }
  } else if (const auto* push_ack = std::get_if<PushAck>(&message)) {
    if (const auto member = member_at(from, to))
      acknowledged_[{envelope.view, push_ack->shard}].insert({*member, push_ack->clock, push_ack->lease});
  } else if (const auto* cut = std::get_if<Cut>(&message); cut != nullptr && from == kMasterPeerId) {
    on_cut(*cut);
  }
}

void DurabilityChecker::on_trace(PeerId peer, const Trace& trace) {
  if (const auto* apply = std::get_if<TraceApply>(&trace)) {
    if (apply->owned) unshown_[{peer, apply->shard}].push_back({apply->member, apply->clock, apply->trained});
  } else if (std::holds_alternative<TraceCut>(trace)) {
    freeze(peer);
  } else if (const auto* active = std::get_if<TraceActive>(&trace);
             active != nullptr && peer == kMasterPeerId) {
    std::erase_if(acknowledged_, [&](const auto& a) { return a.first.first < active->record.view; });
    if (active->ledger.includes(shown_)) return;
    IntervalSet lost = shown_;
    lost.erase(active->ledger);
    std::ostringstream text;
    text << lost << " were shown as committed and are not in the ledger of " << active->record.view;
    violate(text.str());
  }
}

void DurabilityChecker::freeze(PeerId peer) {
  std::erase_if(unshown_, [&](const auto& entry) { return entry.first.first == peer; });
}

std::optional<MemberKey> DurabilityChecker::member_at(PeerId server, PeerId member) const {
  for (const MemberRecord& m : engine_.server(server)->record().members) {
    if (m.peer == member) return m.key;
  }
  return {};
}

// Every P-slave that is asked has reported and stands still.
void DurabilityChecker::on_cut(const Cut& cut) {
  if (cut.base == checked_) return;
  checked_ = cut.base;
  const ViewRecord& base = engine_.master().record();
  for (const auto& [where, pushes] : acknowledged_) {
    if (where.first != cut.base) continue;
    const ChunkId first = base.shards.at(where.second.value).chunks.front();
    const auto source = std::find_if(cut.sources.begin(), cut.sources.end(), [&](const ChunkSource& s) {
      return std::binary_search(s.chunks.begin(), s.chunks.end(), first);
    });
    if (source == cut.sources.end()) continue;
    const ParameterServer* server = engine_.server(source->server.peer);
    // It died, so the attempt will fail; or an earlier Master had it make a cut already.
    if (server == nullptr || server->record().view != cut.base) continue;
    const auto copy = server->copies().find(where.second);
    for (const auto& [member, clock, lease] : pushes) {
      if (copy != server->copies().end() && copy->second.has(member, clock, lease)) continue;
      std::ostringstream text;
      text << "the push of " << member << " for clock " << clock << " was acknowledged in " << cut.base
           << ", but " << source->server.id << ", by which " << cut.record.view << " goes, lacks it for "
           << where.second;
      return violate(text.str());
    }
  }
}

}  // namespace convoy::sim
