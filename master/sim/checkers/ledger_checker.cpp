#include "master/sim/checkers/ledger_checker.h"

#include <algorithm>
#include <sstream>

#include "messages/base/sampling.h"

namespace convoy::sim {

void LedgerChecker::on_effect(Time, PeerId peer, const Effect& effect) {
  // A P-slave that greets is empty, whatever it was before.
  if (const auto* send = std::get_if<Send>(&effect);
      send != nullptr && std::holds_alternative<Hello>(send->envelope.message))
    applied_.erase(peer);
  const auto* trace = std::get_if<Trace>(&effect);
  if (trace == nullptr) return;
  std::ostringstream text;
  if (const auto* t = std::get_if<TraceApply>(trace)) {
    if (!t->owned) return;
    IntervalSet& done = applied_[peer].positions;
    if (t->trained.empty() || done.intersects(t->trained)) {
      text << t->member << " clock " << t->clock << " commits " << t->trained << " again at " << peer;
      return violate(text.str());
    }
    done.insert(t->trained);
  } else if (const auto* cut = std::get_if<TraceCut>(trace)) {
    Applied& a = applied_[peer];
    if (a.owns && a.positions != cut->ledger) {
      text << peer << " has committed " << a.positions << " at the cut " << cut->record.view
           << ", whose ledger is " << cut->ledger;
      return violate(text.str());
    }
    a.positions = cut->ledger;  // what is owned changes when the view is active, which it may never be
  } else if (std::holds_alternative<TraceActive>(*trace) && peer != kMasterPeerId) {
    const ParameterServer* server = engine_.server(peer);
    if (server == nullptr) return;
    const auto owned = [](const auto& c) { return c.second.owned(); };
    applied_[peer].owns = std::any_of(server->copies().begin(), server->copies().end(), owned);
  } else if (const auto* log = std::get_if<TraceLog>(trace)) {
    on_log(*log);
  }
}

// Every P-slave that had a copy logs a commit; all must say the same of it, and no position may come twice.
void LedgerChecker::on_log(const TraceLog& log) {
  const Scenario& s = engine_.scenario();
  for (const CommitLogEntry& e : log.entries) {
    if (e.digest != positions_digest(e.trained, s.sample_count, s.seed))
      return violate("a logged digest is wrong");
    const auto [at, fresh] = commits_.try_emplace({e.member, e.clock}, e.trained);
    if (!fresh && at->second != e.trained) return violate("two P-slaves log one commit with other positions");
    if (!fresh) continue;
    if (logged_.intersects(e.trained)) return violate("the log commits a position twice");
    logged_.insert(e.trained);
  }
}

void LedgerChecker::at_end(Time) {
  const IntervalSet all{{0, engine_.scenario().end_position}};
  const ViewRecord& record = engine_.master().record();
  if (engine_.master().ledger() != all) return violate("the Master ended with positions missing");
  if (logged_ != all) return violate("the log ends with positions missing");
  for (const ShardRecord& s : record.shards) {
    const ServerRecord& owner = *record.find_server(s.owner);
    if (engine_.master().alive(owner) && applied_[owner.peer].positions != all)
      return violate("a P-slave ended with positions missing");
  }
}

}  // namespace convoy::sim
