#include "kernels/graph/backend.h"

namespace convoy {

void Plan::forward_all() {
  for (int i = options().layers.begin; i < options().layers.end; ++i) forward(i);
}

void Plan::backward_all(Bytes gradients, const GradientSink& sink) {
  for (int i = options().layers.end - 1; i >= options().layers.begin; --i) {
    const StreamEvent event = backward(i, gradients);
    const ParameterRange range = graph().layer_parameters(i);
    if (sink && range.count > 0) sink(i, range, event);
  }
}

StepResult Plan::evaluate(const Batch& batch) {
  begin(batch);
  forward_all();
  return result();
}

}  // namespace convoy
