#include "master/sim/checkers/atomicity_checker.h"

#include <sstream>

namespace convoy::sim {

void AtomicityChecker::on_effect(Time, PeerId peer, const Effect& effect) {
  const auto* trace = std::get_if<Trace>(&effect);
  if (trace == nullptr) return;
  if (const auto* t = std::get_if<TraceApply>(trace)) {
    auto& next = applied_[peer];
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
  } else if (const auto* cut = std::get_if<TraceCut>(trace)) {
    for (const MemberRecord& m : cut->record.members) applied_[peer][m.key] = m.n;
  } else if (const auto* active = std::get_if<TraceActive>(trace);
             active != nullptr && peer == kMasterPeerId) {
    compare_all(active->record);
  }
}

void AtomicityChecker::compare_all(const ViewRecord& record) {
  const IntervalSet& ledger = engine_.master().ledger();
  for (const ServerRecord& s : record.servers) {
    std::ostringstream text;
    if (applied_[s.peer] != applied_[record.servers.front().peer]) {
      text << "at the Go of " << record.view << " " << s.id << " has applied other clocks than "
           << record.servers.front().id;
      return violate(text.str());
    }
    const ParameterServer* server = engine_.server(s.peer);
    if (server == nullptr) continue;
    if (server->ledger() != ledger) {
      text << "at the Go of " << record.view << " " << s.id << " has ledger " << server->ledger()
           << ", the cut " << ledger;
      return violate(text.str());
    }
    if (engine_.scenario().executor != Executor::kIntegers) continue;
    for (const auto& [chunk, value] : engine_.chunks(s.peer)) {
      if (value == value_of(chunk, ledger)) continue;
      text << "at the Go of " << record.view << " " << chunk << " at " << s.id
           << " is not what the ledger amounts to";
      return violate(text.str());
    }
  }
}

}  // namespace convoy::sim
