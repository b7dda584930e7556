#include "master/sim/checkers/ledger_checker.h"

#include <sstream>

#include "messages/base/sampling.h"

namespace convoy::sim {

void LedgerChecker::on_effect(Time, PeerId peer, const Effect& effect) {
  const auto* trace = std::get_if<Trace>(&effect);
  if (trace == nullptr) return;
  if (const auto* t = std::get_if<TraceApply>(trace)) {
    IntervalSet& done = applied_[peer];
    if (t->trained.empty() || done.intersects(t->trained)) {
      std::ostringstream text;
      text << t->member << " clock " << t->clock << " commits " << t->trained << " again at " << peer;
      return violate(text.str());
    }
    done.insert(t->trained);
  } else if (const auto* log = std::get_if<TraceLog>(trace)) {
    IntervalSet& done = logged_[log->server];
    const Scenario& s = engine_.scenario();
    for (const CommitLogEntry& e : log->entries) {
      if (done.intersects(e.trained)) return violate("the log commits a position twice");
      if (e.digest != positions_digest(e.trained, s.sample_count, s.seed))
        return violate("a logged digest is wrong");
      done.insert(e.trained);
    }
  }
}

void LedgerChecker::at_end(Time) {
  const IntervalSet all{{0, engine_.scenario().end_position}};
  if (engine_.master().ledger() != all) return violate("the Master ended with positions missing");
  for (const ServerRecord& s : engine_.master().record().servers) {
    if (applied_[s.peer] != all) return violate("a P-slave ended with positions missing");
    if (logged_[s.id] != all) return violate("the log of a P-slave ends with positions missing");
  }
}

}  // namespace convoy::sim
