#include "master/sim/checkers/checkers.h"

#include "master/sim/checkers/atomicity_checker.h"
#include "master/sim/checkers/gate_checker.h"
#include "master/sim/checkers/ledger_checker.h"
#include "master/sim/checkers/progress_checker.h"

namespace convoy::sim {

Outcome run_checked(const Scenario& scenario, const std::vector<Watcher*>& also) {
  Engine engine(scenario);
  GateChecker gate(engine);
  AtomicityChecker atomicity(engine);
  LedgerChecker ledger(engine);
  ProgressChecker progress(engine);
  engine.watch(gate);
  engine.watch(atomicity);
  engine.watch(ledger);
  engine.watch(progress);
  for (Watcher* w : also) engine.watch(*w);
  return engine.run();
}

}  // namespace convoy::sim
