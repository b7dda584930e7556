#include "master/sim/checkers/checkers.h"

#include "master/sim/checkers/atomicity_checker.h"
#include "master/sim/checkers/durability_checker.h"
#include "master/sim/checkers/gate_checker.h"
#include "master/sim/checkers/lease_checker.h"
#include "master/sim/checkers/ledger_checker.h"
#include "master/sim/checkers/ownership_checker.h"
#include "master/sim/checkers/progress_checker.h"
#include "master/sim/checkers/promise_checker.h"
#include "master/sim/checkers/view_checker.h"

namespace convoy::sim {

Outcome run_checked(const Scenario& scenario, const std::vector<Watcher*>& also) {
  Engine engine(scenario);
  GateChecker gate(engine);
  AtomicityChecker atomicity(engine);
  LedgerChecker ledger(engine);
  LeaseChecker leases(engine);
  PromiseChecker promises(engine);
  ViewChecker views(engine);
  OwnershipChecker ownership(engine);
  DurabilityChecker durability(engine);
  ProgressChecker progress(engine);
  for (Watcher* w : std::initializer_list<Watcher*>{&gate, &atomicity, &ledger, &leases, &promises, &views,
                                                    &ownership, &durability, &progress})
    engine.watch(*w);
  for (Watcher* w : also) engine.watch(*w);
  Outcome outcome = engine.run();
  outcome.allowance_used = progress.used();
  return outcome;
}

}  // namespace convoy::sim
