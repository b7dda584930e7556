// Invariant 6, the rest of it: after the last fault the run ends within a time that its work, its messages
// and its time-outs allow. The allowance is worked out term by term; `used` tells how near a run came to it.
#pragma once

#include "master/sim/engine.h"

namespace convoy::sim {

class ProgressChecker : public Watcher {
 public:
  explicit ProgressChecker(const Engine& engine);
  const char* name() const override { return "progress"; }

  void after_step(Time now, PeerId peer) override;
  void at_end(Time now) override;

  Duration allowed() const { return allowed_; }
  // Part of the allowance that a run without violation took.
  double used() const { return used_; }

 private:
  const Engine& engine_;
  Duration allowed_;
  double used_ = 0;
};

}  // namespace convoy::sim
