#include "kernels/graph/step_order.h"

#include <string>

#include "messages/base/check.h"

namespace convoy {

Result<void> check_compile_options(const Graph& graph, const CompileOptions& options) {
  if (options.layers != graph.all_layers()) {
    return Error{ErrorCode::kUnsupported,
                 "model " + graph.name() + ": only all layers together can be compiled yet"};
  }
  constexpr int kMostSamples = 1 << 16;
  if (options.batch < 1 || options.batch > kMostSamples) {
    return Error{ErrorCode::kUsage,
                 "model " + graph.name() + ": a batch of " + std::to_string(options.batch) +
                     " cannot be compiled; between 1 and " + std::to_string(kMostSamples) + " can"};
  }
  return {};
}

void StepOrder::begin(const Graph& graph, const CompileOptions& options, const Batch& batch) {
  const auto samples = static_cast<std::int64_t>(batch.labels.size());
  CONVOY_CHECK(samples >= 1 && samples <= options.batch, samples, " of ", options.batch);
  CONVOY_CHECK(static_cast<std::int64_t>(batch.images.size()) == samples * graph.input_shape().size(),
               batch.images.size(), " for ", samples);
  for (std::int32_t label : batch.labels) CONVOY_CHECK(label >= 0 && label < graph.classes(), label);
  layers_ = options.layers;
  training_ = options.training;
  samples_ = static_cast<int>(samples);
  next_forward_ = layers_.begin;
  next_backward_ = layers_.begin - 1;
}

void StepOrder::forward(int layer) {
  CONVOY_CHECK(samples_ > 0 && layer == next_forward_ && layer < layers_.end, layer, " after ",
               next_forward_ - 1);
  if (++next_forward_ == layers_.end) next_backward_ = layers_.end - 1;
}

void StepOrder::backward(int layer) {
  CONVOY_CHECK(training_, "a plan compiled without training");
  CONVOY_CHECK(layer == next_backward_ && layer >= layers_.begin, layer, " instead of ", next_backward_);
  --next_backward_;
}

void StepOrder::result() const {
  CONVOY_CHECK(samples_ > 0 && next_forward_ == layers_.end, "forward pass stands before layer ",
               next_forward_);
}

}  // namespace convoy
