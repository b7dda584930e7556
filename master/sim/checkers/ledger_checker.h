// Invariant 7: each position is committed once, at every P-slave; the log that reaches the Master says the
// same, with digests of the samples that stand there; at the end nothing is missing.
#pragma once

#include <map>

#include "master/sim/engine.h"

namespace convoy::sim {

class LedgerChecker : public Watcher {
 public:
  explicit LedgerChecker(const Engine& engine) : engine_(engine) {}
  const char* name() const override { return "ledger"; }

  void on_effect(Time now, PeerId peer, const Effect& effect) override;
  void at_end(Time now) override;

 private:
  struct Applied {
    bool owns = false;  // since the last cut
    IntervalSet positions;
  };
  void on_log(const TraceLog& log);

  const Engine& engine_;
  std::map<PeerId, Applied> applied_;                           // by the owned copy
  std::map<std::pair<MemberKey, Clock>, IntervalSet> commits_;  // as logged by anybody
  IntervalSet logged_;
};

}  // namespace convoy::sim
