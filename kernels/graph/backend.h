// Backend and Plan: how a device computes a graph. One interface for the reference, oneDNN and, later, a GPU.
//
//   auto backend = make_cpu_backend({.threads = 1});    // kernels/cpu/cpu_backend.h
//   auto plan = backend->compile(graph, {.layers = graph.all_layers(), .batch = 64}, choices);
//   plan->load_parameters(0, to_bytes(parameters));     // or chunk by chunk, as they arrive
//   plan->begin({images, labels});
//   plan->forward_all();
//   plan->backward_all(to_bytes(gradients), sink);      // sink hears of each layer's gradient
//   StepResult result = plan->result();
//
// A Backend is one in-order stream of one device. Calls of its plans enqueue work on it; what a call returns
// is a StreamEvent that is ready when the work is done. On the CPU work is done before the call returns and
// every event is ready. Memory handed in (samples, parameters, gradient buffer) belongs to the caller and
// must stay untouched until then.
//
// A Backend and all its plans are used by one thread at a time, for the CPU always the same one (its OpenMP
// settings are that thread's). A plan must not outlive its back end.
//
// Loss and gradients are SUMS over the samples, never means: who applies them divides (optimiser.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "kernels/graph/choices.h"
#include "kernels/graph/graph.h"
#include "kernels/graph/scalar.h"
#include "messages/base/result.h"

namespace convoy {

// A moment on a stream. Copies mean the same moment. The default one is ready.
class StreamEvent {
 public:
  class State {
   public:
    virtual ~State() = default;
    virtual bool ready() const = 0;
    virtual void wait() = 0;
  };

  StreamEvent() = default;
  explicit StreamEvent(std::shared_ptr<State> state) : state_(std::move(state)) {}

  bool ready() const { return !state_ || state_->ready(); }
  void wait() const {
    if (state_) state_->wait();
  }

 private:
  std::shared_ptr<State> state_;
};

struct CompileOptions {
  LayerRange layers;     // all of the graph for now; anything else is refused
  int batch = 0;         // the most samples that one step takes, at least 1
  bool training = true;  // false: forward only, without the memory that backward needs
};

// Samples are fp32 whatever the scalar type, in N x C x H x W; as many as there are labels. A label is in [0,
// classes); the data loader has checked that.
struct Batch {
  std::span<const float> images;
  std::span<const std::int32_t> labels;
};

struct StepResult {
  double loss_sum = 0;
  std::int64_t samples = 0;
  std::int64_t correct = 0;  // samples whose first largest output is the label
};

// Called in backward order, once for each layer that has parameters: when `event` is ready, `range` (of flat)
// of the gradient buffer holds the layer's gradient.
using GradientSink = std::function<void(int layer, ParameterRange range, const StreamEvent& event)>;

// One graph compiled for one batch size: every descriptor built, all memory laid out. Nothing below
// allocates.
//
// Order of calls: load_parameters (any part, before the forward pass of its layer), begin, forward of each
// layer in order, backward of each layer in reverse order, result. Layers may be computed as they like
// inside: a layer's gradient is there after ITS backward call and its parameters are read at the earliest in
// ITS forward call, so a caller can start when the first chunks are there and send while the rest computes.
//
// A step with fewer samples than `batch` is right but costs as much as a full one on some back ends; what
// compiling costs stands with each back end. Keep a plan for each batch size in use. Each plan has its own
// copy of the parameters: load them into the plan that runs next.
class Plan {
 public:
  virtual ~Plan() = default;

  virtual const Graph& graph() const = 0;
  virtual const CompileOptions& options() const = 0;
  virtual Scalar scalar() const = 0;
  virtual std::int64_t memory_bytes() const = 0;

  // Copies `values` to the run of flat that starts at `offset`. Layers that have seen forward() of the
  // current step keep computing with what they had: load before or after a step, not between a layer's
  // forward and its backward.
  virtual StreamEvent load_parameters(std::int64_t offset, ConstBytes values) = 0;

  // Starts a step. REQUIRES: 1 <= labels.size() <= batch, images.size() == labels.size() *
  // input_shape().size().
  virtual void begin(const Batch& batch) = 0;
  virtual StreamEvent forward(int layer) = 0;
  // Writes (does not add) the layer's gradient into its range of `gradients`, a buffer of the whole of flat.
  // Leaves the rest of the buffer alone. REQUIRES: options().training, all layers forward, later layers
  // backward.
  virtual StreamEvent backward(int layer, Bytes gradients) = 0;
  // Of the step that begin() started; waits for its forward pass.
  virtual StepResult result() = 0;

  // The loops over the layers that most callers want.
  void forward_all();
  void backward_all(Bytes gradients, const GradientSink& sink = nullptr);
  // begin, forward_all, result.
  StepResult evaluate(const Batch& batch);
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string name() const = 0;  // "cpu", "reference", "reference64"
  virtual Scalar scalar() const = 0;

  // Builds a plan. Choices of kernels that `choices` holds are taken from there (kUnsupported when this
  // machine or build cannot follow one), all others are made here and added to it: keep `choices` and hand it
  // in again to repeat a run bit for bit.
  virtual Result<std::unique_ptr<Plan>> compile(const Graph& graph, const CompileOptions& options,
                                                KernelChoices& choices) = 0;
};

}  // namespace convoy
