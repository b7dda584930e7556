// Node: one layer, or a few fused ones, of a compiled plan; and the activations that lie between nodes.
//
// Nodes belong to a plan and are used by its thread. They borrow the activations on both sides, which the
// plan owns.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "kernels/cpu/onednn.h"
#include "kernels/graph/graph.h"

namespace convoy::cpu {

// What flows between two nodes: a batch of images in the layout that its producer likes, four dimensions
// always. `gradient` has the same layout; null when nobody needs it.
struct Activation {
  Shape shape;
  Desc desc;
  float* data = nullptr;
  float* gradient = nullptr;
};

// The layer's parameters (or gradients) within flat; bias null when there is none.
template <class P>
struct Tensors {
  P weight = nullptr;
  P bias = nullptr;
};

struct Step {
  int samples = 0;  // at most the batch; what lies behind them is zero in data and in gradients
  std::span<const std::int32_t> labels;
};

class Node {
 public:
  virtual ~Node() = default;

  // Which implementation this is, as KernelChoices records it.
  virtual std::string implementation() const = 0;
  // The layout that this node writes.
  virtual Desc output_desc() const = 0;
  // Before anything runs: the output's memory. REQUIRES: output.desc == output_desc().
  virtual void bind(const Activation& output) = 0;

  // The canonical parameters have changed.
  virtual void load(Tensors<const float*>) {}
  virtual void forward(const Step& step) = 0;
  // Writes the gradient of the input, if it has one, and those of the parameters.
  virtual void backward(const Step& step, Tensors<float*> gradients) = 0;
};

// An activation as `wanted`: itself when it has that layout, else a copy that forward() fills and whose
// gradient backward() brings home.
class Adapter {
 public:
  Adapter(Context& context, const Activation& from, const Desc& wanted) : view_(from) {
    if (from.desc == wanted) return;
    data_ = context.allocate(wanted);
    view_.desc = wanted;
    view_.data = data_.data();
    forward_ = reorder(context, from.desc, from.data, wanted, view_.data);
    if (from.gradient) {
      gradient_ = context.allocate(wanted);
      view_.gradient = gradient_.data();
      backward_ = reorder(context, wanted, view_.gradient, from.desc, from.gradient);
    }
  }

  const Activation& view() const { return view_; }
  void forward() {
    if (forward_) forward_.run();
  }
  void backward() {
    if (backward_) backward_.run();
  }

 private:
  Activation view_;
  Buffer data_, gradient_;
  Call forward_, backward_;
};

enum class ConvLayout { kAny, kPlain, kChannelsLast };

// What makes nodes. `input` is bound when they are called. They throw dnnl::error when oneDNN cannot.
std::unique_ptr<Node> make_conv(Context& context, const Conv2d& op, const Activation& input, Shape out,
                                ConvLayout layout);
// A convolution and the pooling behind it in one, with or without a ReLU between them; see pooled_conv.cpp.
// `out`: of the pooling. Writes nchw when `plain_output`, else nhwc. REQUIRES: can_pool_conv.
bool can_pool_conv(const Conv2d& conv, const MaxPool2d& pool);
std::unique_ptr<Node> make_pooled_conv(Context& context, const Conv2d& conv, const MaxPool2d& pool,
                                       const Activation& input, Shape out, bool relu, bool plain_output);
std::unique_ptr<Node> make_linear(Context& context, const Linear& op, const Activation& input, Shape out,
                                  bool any_layout);
std::unique_ptr<Node> make_max_pool(Context& context, const MaxPool2d& op, const Activation& input,
                                    Shape out);
std::unique_ptr<Node> make_avg_pool(Context& context, const AvgPool2d& op, const Activation& input,
                                    Shape out);
// Works in place as well: the output may share the input's memory.
std::unique_ptr<Node> make_relu(Context& context, const Activation& input);
// Brings its output along: it is the input's memory, or a copy of its own in nchw.
struct FlattenResult {
  std::unique_ptr<Node> node;
  Activation output;
};
FlattenResult make_flatten(Context& context, const Activation& input, Shape out);

}  // namespace convoy::cpu
