// What every plan checks of its caller: options at compile time, the order of calls in a step. For back ends
// only.
//
// Owned by a plan; the plan's thread.
#pragma once

#include "kernels/graph/backend.h"
#include "kernels/graph/graph.h"
#include "messages/base/result.h"

namespace convoy {

// kUnsupported or kUsage in words when no back end can compile this.
Result<void> check_compile_options(const Graph& graph, const CompileOptions& options);

class StepOrder {
 public:
  void begin(const Graph& graph, const CompileOptions& options, const Batch& batch);
  void forward(int layer);
  void backward(int layer);
  // REQUIRES: the forward pass is complete.
  void result() const;

  int samples() const { return samples_; }

 private:
  LayerRange layers_;
  bool training_ = false;
  int samples_ = 0;
  int next_forward_ = 0;
  int next_backward_ = -1;
};

}  // namespace convoy
