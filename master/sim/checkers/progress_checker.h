// Invariant 6, the rest of it: after the last fault the run ends within a time that its work and its
// time-outs allow.
#pragma once

#include "master/sim/engine.h"

namespace convoy::sim {

class ProgressChecker : public Watcher {
 public:
  explicit ProgressChecker(const Engine& engine);

  void after_step(Time now, PeerId peer) override;
  Time deadline() const { return deadline_; }

 private:
  const Engine& engine_;
  Time deadline_;
};

}  // namespace convoy::sim
