#include "kernels/graph/graph.h"

#include <algorithm>
#include <set>

#include "messages/base/check.h"
#include "messages/base/sampling.h"

namespace convoy {
namespace {

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

std::string to_text(Shape s) {
  return std::to_string(s.channels) + "x" + std::to_string(s.height) + "x" + std::to_string(s.width);
}

// Bounds that keep every product below in 64 bits, whatever a model file says.
constexpr int kMaxExtent = 1 << 20;
constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;

Result<int> windows(const char* what, int size, int kernel, int stride, int padding) {
  if (size + 2 * padding < kernel) {
    return Error{ErrorCode::kUsage, std::string(what) + " " + std::to_string(size) + " with padding " +
                                        std::to_string(padding) + " is smaller than the kernel, " +
                                        std::to_string(kernel)};
  }
  return (size + 2 * padding - kernel) / stride + 1;
}

bool in_range(int value, int low) {
  return value >= low && value <= kMaxExtent;
}

Result<Shape> window_shape(Shape in, int channels, int kernel_height, int kernel_width, int stride,
                           int padding) {
  if (!in_range(channels, 1) || !in_range(kernel_height, 1) || !in_range(kernel_width, 1) ||
      !in_range(stride, 1) || !in_range(padding, 0)) {
    return Error{ErrorCode::kUsage, "channels, kernel and stride must be at least 1, padding at least 0"};
  }
  auto height = windows("input height", in.height, kernel_height, stride, padding);
  if (!height) return height.error();
  auto width = windows("input width", in.width, kernel_width, stride, padding);
  if (!width) return width.error();
  return Shape{channels, *height, *width};
}

Result<Shape> pool_shape(Shape in, int kernel, int stride, int padding) {
  // A window that lies in the padding alone has no maximum.
  if (padding > kernel / 2) {
    return Error{ErrorCode::kUsage, "padding may be at most half the kernel"};
  }
  return window_shape(in, in.channels, kernel, kernel, stride, padding);
}

Result<Shape> output_shape(const LayerOp& op, Shape in, int classes) {
  return std::visit(
      Overloaded{
          [&](const Conv2d& c) -> Result<Shape> {
            if (c.groups != 1)
              return Error{ErrorCode::kUnsupported, "groups other than 1 are not supported yet"};
            return window_shape(in, c.out_channels, c.kernel_height, c.kernel_width, c.stride, c.padding);
          },
          [&](const MaxPool2d& p) { return pool_shape(in, p.kernel, p.stride, p.padding); },
          [&](const AvgPool2d& p) { return pool_shape(in, p.kernel, p.stride, p.padding); },
          [&](const Linear& l) -> Result<Shape> {
            if (!in_range(l.out_features, 1))
              return Error{ErrorCode::kUsage, "out_features must be at least 1"};
            if (in.height != 1 || in.width != 1) {
              return Error{ErrorCode::kUsage, "a linear layer needs a flat input, got " + to_text(in) +
                                                  ": put a flatten layer before it"};
            }
            return Shape{l.out_features, 1, 1};
          },
          [&](const Relu&) -> Result<Shape> { return in; },
          [&](const Flatten&) -> Result<Shape> {
            if (in.size() > kMaxExtent) return Error{ErrorCode::kUsage, "too many features: " + to_text(in)};
            return Shape{static_cast<int>(in.size()), 1, 1};
          },
          [&](const SoftmaxCrossEntropy&) -> Result<Shape> {
            if (in != Shape{classes, 1, 1}) {
              return Error{ErrorCode::kUsage, "the loss needs one input a class (" + std::to_string(classes) +
                                                  "), got " + to_text(in)};
            }
            return in;
          },
      },
      op);
}

}  // namespace

const char* kind_of(const LayerOp& op) {
  static constexpr const char* kNames[] = {"conv2d", "max_pool2d", "avg_pool2d",           "linear",
                                           "relu",   "flatten",    "softmax_cross_entropy"};
  static_assert(std::size(kNames) == std::variant_size_v<LayerOp>);
  return kNames[op.index()];
}

Result<Graph> Graph::make(std::string name, Shape input, int classes, std::vector<Layer> layers) {
  auto wrong = [&](const std::string& what) {
    return Error{ErrorCode::kUsage, "model " + name + ": " + what};
  };
  if (!in_range(input.channels, 1) || !in_range(input.height, 1) || !in_range(input.width, 1) ||
      input.size() > kMaxElements) {
    return wrong("bad input shape " + to_text(input));
  }
  if (!in_range(classes, 2)) return wrong("needs at least two classes");
  if (layers.empty()) return wrong("has no layers");

  Graph graph;
  graph.name_ = name;
  graph.input_ = input;
  graph.classes_ = classes;
  std::set<std::string> names;
  Shape shape = input;
  for (int i = 0; i < static_cast<int>(layers.size()); ++i) {
    Layer& layer = layers[i];
    const bool last = i + 1 == static_cast<int>(layers.size());
    auto wrong_layer = [&](const std::string& what) {
      return wrong("layer " + std::to_string(i) + " (" + layer.name + ", " + kind_of(layer.op) +
                   "): " + what);
    };
    if (layer.name.empty() || !names.insert(layer.name).second) {
      return wrong_layer("every layer needs a name of its own");
    }
    const int before = i == 0 ? kGraphInput : i - 1;
    if (layer.inputs.empty()) layer.inputs = {before};
    if (layer.inputs != std::vector<int>{before}) {
      return wrong_layer("only chains are supported yet: its input must be the layer before");
    }
    if (std::holds_alternative<SoftmaxCrossEntropy>(layer.op) != last) {
      return wrong_layer(last ? "the last layer must be softmax_cross_entropy"
                              : "the loss must be the last layer");
    }
    auto out = output_shape(layer.op, shape, classes);
    if (!out) return Error{out.error().code, wrong_layer(out.error().message).message};
    if (out->size() > kMaxElements) return wrong_layer("output " + to_text(*out) + " is too large");

    const int first = static_cast<int>(graph.parameters_.size());
    auto add = [&](const char* suffix, std::vector<std::int64_t> dims, std::int64_t fan_in, bool is_bias) {
      Tensor t;
      t.name = layer.name + suffix;
      t.shape = std::move(dims);
      t.offset = graph.parameter_count_;
      t.count = 1;
      for (std::int64_t d : t.shape) t.count *= d;
      t.fan_in = fan_in;
      t.layer = i;
      t.is_bias = is_bias;
      graph.parameter_count_ += t.count;
      graph.parameters_.push_back(std::move(t));
    };
    if (const auto* c = std::get_if<Conv2d>(&layer.op)) {
      const double weights = 1.0 * c->out_channels * shape.channels * c->kernel_height * c->kernel_width;
      if (weights > static_cast<double>(kMaxElements)) return wrong_layer("has too many weights");
      const std::int64_t fan_in = std::int64_t{shape.channels} * c->kernel_height * c->kernel_width;
      add(".weight", {c->out_channels, shape.channels, c->kernel_height, c->kernel_width}, fan_in, false);
      if (c->bias) add(".bias", {c->out_channels}, fan_in, true);
    } else if (const auto* l = std::get_if<Linear>(&layer.op)) {
      add(".weight", {l->out_features, shape.channels}, shape.channels, false);
      if (l->bias) add(".bias", {l->out_features}, shape.channels, true);
    }
    if (graph.parameter_count_ > kMaxElements) return wrong_layer("the model has too many parameters");
    graph.layer_tensors_.emplace_back(first, static_cast<int>(graph.parameters_.size()));
    graph.outputs_.push_back(*out);
    shape = *out;
  }
  graph.layers_ = std::move(layers);
  return graph;
}

Shape Graph::layer_input(int layer) const {
  CONVOY_CHECK(layer >= 0 && layer < layer_count(), layer);
  return layer == 0 ? input_ : outputs_[layer - 1];
}

Shape Graph::layer_output(int layer) const {
  CONVOY_CHECK(layer >= 0 && layer < layer_count(), layer);
  return outputs_[layer];
}

ParameterRange Graph::layer_parameters(int layer) const {
  return layer_parameters(LayerRange{layer, layer + 1});
}

ParameterRange Graph::layer_parameters(LayerRange range) const {
  CONVOY_CHECK(range.begin >= 0 && range.begin < range.end && range.end <= layer_count(), range.begin, " ",
               range.end);
  const int first = layer_tensors_[range.begin].first;
  const int end = layer_tensors_[range.end - 1].second;
  const std::int64_t offset =
      first < static_cast<int>(parameters_.size()) ? parameters_[first].offset : parameter_count_;
  const std::int64_t stop = first == end ? offset : parameters_[end - 1].range().end();
  return {offset, stop - offset};
}

std::vector<int> Graph::layer_tensors(int layer) const {
  CONVOY_CHECK(layer >= 0 && layer < layer_count(), layer);
  std::vector<int> tensors;
  for (int t = layer_tensors_[layer].first; t < layer_tensors_[layer].second; ++t) tensors.push_back(t);
  return tensors;
}

double Graph::forward_flops(int layer) const {
  const Shape in = layer_input(layer);
  const double out = static_cast<double>(layer_output(layer).size());
  return std::visit(Overloaded{
                        [&](const Conv2d& c) {
                          return out *
                                 (2.0 * in.channels * c.kernel_height * c.kernel_width + (c.bias ? 1 : 0));
                        },
                        [&](const MaxPool2d& p) { return out * p.kernel * p.kernel; },
                        [&](const AvgPool2d& p) { return out * p.kernel * p.kernel; },
                        [&](const Linear& l) { return out * (2.0 * in.channels + (l.bias ? 1 : 0)); },
                        [&](const Relu&) { return out; },
                        [&](const Flatten&) { return 0.0; },
                        [&](const SoftmaxCrossEntropy&) { return 4 * out; },
                    },
                    layers_[layer].op);
}

double Graph::backward_flops(int layer) const {
  const bool weighted = layer_parameters(layer).count > 0;
  const double gradients = weighted ? (layer == 0 ? 1 : 2) : 1;
  return gradients * forward_flops(layer);
}

double Graph::step_flops() const {
  double sum = 0;
  for (int i = 0; i < layer_count(); ++i) sum += forward_flops(i) + backward_flops(i);
  return sum;
}

std::int64_t Graph::activation_bytes(int layer, int bytes_per_element) const {
  if (std::holds_alternative<Flatten>(layers_[layer].op)) return 0;  // a view of its input
  return layer_output(layer).size() * bytes_per_element;
}

std::int64_t Graph::total_activation_bytes(int bytes_per_element) const {
  std::int64_t sum = input_.size() * bytes_per_element;
  for (int i = 0; i < layer_count(); ++i) sum += activation_bytes(i, bytes_per_element);
  return sum;
}

std::uint64_t Graph::digest() const {
  std::uint64_t hash = mix64(static_cast<std::uint64_t>(classes_));
  auto add = [&](std::int64_t word) { hash = mix64(hash ^ static_cast<std::uint64_t>(word)); };
  auto add_shape = [&](Shape s) { add(s.channels), add(s.height), add(s.width); };
  add_shape(input_);
  for (int i = 0; i < layer_count(); ++i) {
    add(static_cast<std::int64_t>(layers_[i].op.index()));
    for (int input : layers_[i].inputs) add(input);
    std::visit(Overloaded{
                   [&](const Conv2d& c) {
                     for (int v : {c.out_channels, c.kernel_height, c.kernel_width, c.stride, c.padding,
                                   c.groups, c.bias ? 1 : 0}) {
                       add(v);
                     }
                   },
                   [&](const MaxPool2d& p) { add(p.kernel), add(p.stride), add(p.padding); },
                   [&](const AvgPool2d& p) { add(p.kernel), add(p.stride), add(p.padding); },
                   [&](const Linear& l) { add(l.out_features), add(l.bias ? 1 : 0); },
                   [&](const auto&) {},
               },
               layers_[i].op);
    add_shape(outputs_[i]);
  }
  return hash;
}

}  // namespace convoy
