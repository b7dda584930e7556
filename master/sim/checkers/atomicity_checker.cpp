#include "master/sim/checkers/atomicity_checker.h"

#include <sstream>

namespace convoy::sim {

void AtomicityChecker::on_effect(Time, PeerId peer, const Effect& effect) {
  const auto* trace = std::get_if<Trace>(&effect);
  if (trace == nullptr) return;
  if (const auto* t = std::get_if<TraceApply>(trace)) {
    auto& next = applied_[{peer, t->owned}];
    const auto at = next.find(t->member);
    if (at == next.end() || at->second != t->clock) {
      std::ostringstream text;
      text << t->member << " clock " << t->clock << " is applied at " << peer << ", where ";
      if (at == next.end())
        text << "it never began";
      else
        text << at->second << " comes next";
      return violate(text.str());
    }
    ++at->second;
  } else if (const auto* active = std::get_if<TraceActive>(trace)) {
    if (peer == kMasterPeerId) return compare_all(active->record);
    for (const bool owned : {true, false}) {
      auto& next = applied_[{peer, owned}];
      next.clear();
      for (const MemberRecord& m : active->record.members) next[m.key] = m.n;
    }
  }
}

// Every copy of every chunk is what the ledger amounts to, and owner and backup have it from the same order
// of updates.
void AtomicityChecker::compare_all(const ViewRecord& record) {
  const IntervalSet& ledger = engine_.master().ledger();
  std::map<ChunkId, ChunkValue> values;
  for (const ServerRecord& s : record.servers) {
    std::ostringstream text;
    const ParameterServer* server = engine_.server(s.peer);
    if (server == nullptr) continue;
    text << "at the Go of " << record.view << " ";
    if (server->record().view != record.view) {
      text << s.id << " stands at " << server->record().view;
      return violate(text.str());
    }
    for (const auto& [shard, copy] : server->copies()) {
      if (copy.ledger() != ledger) {
        text << shard << " at " << s.id << " has ledger " << copy.ledger() << ", the cut " << ledger;
        return violate(text.str());
      }
      if (engine_.scenario().executor != Executor::kIntegers) continue;
      for (ChunkId chunk : copy.chunks()) {
        const auto here = engine_.chunks(s.peer).find(chunk);
        if (here == engine_.chunks(s.peer).end() || !same_sum(here->second, value_of(chunk, ledger))) {
          text << chunk << " at " << s.id << " is not what the ledger amounts to";
          return violate(text.str());
        }
        const auto [other, first] = values.try_emplace(chunk, here->second);
        if (!first && other->second != here->second) {
          text << chunk << " at " << s.id << " has seen updates in another order than its other copy";
          return violate(text.str());
        }
      }
    }
  }
}

}  // namespace convoy::sim
