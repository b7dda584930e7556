// Graph: a convolutional network as a value. Layers are plain structs; shapes, parameters, FLOPs and bytes
// follow from them once, when the graph is made.
//
// Owns all that it shows; copy it freely, read it from any thread. Nothing here computes a network: backend.h
// does.
//
// Layouts are PyTorch's: activations N x C x H x W, convolution weights O x I x H x W, linear weights out x
// in. All parameters of a graph form one flat buffer, tensor after tensor in forward order ("flat" below);
// gradients and optimiser state have the same layout. Offsets and counts are in elements, whatever the scalar
// type.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "messages/base/result.h"

namespace convoy {

// What one sample looks like between two layers. A flat vector of n features is {n, 1, 1}.
struct Shape {
  int channels = 0;
  int height = 1;
  int width = 1;

  std::int64_t size() const { return std::int64_t{channels} * height * width; }
  friend bool operator==(const Shape&, const Shape&) = default;
};

struct Conv2d {
  int out_channels = 0;
  int kernel_height = 1;
  int kernel_width = 1;
  int stride = 1;
  int padding = 0;  // zeros on each side
  int groups = 1;   // other values are refused for now
  bool bias = true;
};

// Windows that hang over the lower or right edge are left out, as in PyTorch (ceil_mode = False).
struct MaxPool2d {
  int kernel = 2;
  int stride = 2;
  int padding = 0;  // never the maximum; at most kernel / 2
};

// Padding counts as zeros in the mean (PyTorch's count_include_pad = True).
struct AvgPool2d {
  int kernel = 2;
  int stride = 2;
  int padding = 0;
};

struct Linear {
  int out_features = 0;
  bool bias = true;
};

struct Relu {};
struct Flatten {};
// Softmax and cross entropy against integer labels; the loss is the SUM over the samples. Last layer only.
struct SoftmaxCrossEntropy {};

using LayerOp = std::variant<Conv2d, MaxPool2d, AvgPool2d, Linear, Relu, Flatten, SoftmaxCrossEntropy>;

const char* kind_of(const LayerOp& op);  // "conv2d", "max_pool2d", ...

inline constexpr int kGraphInput = -1;

struct Layer {
  std::string name;
  LayerOp op;
  std::vector<int> inputs;  // layers that feed this one, or kGraphInput. A chain for now: {own index - 1}
};

struct ParameterRange {
  std::int64_t offset = 0;  // into flat
  std::int64_t count = 0;

  std::int64_t end() const { return offset + count; }
  friend bool operator==(const ParameterRange&, const ParameterRange&) = default;
};

struct Tensor {
  std::string name;  // as in PyTorch: "conv1.weight"
  std::vector<std::int64_t> shape;
  std::int64_t offset = 0;  // into flat
  std::int64_t count = 0;
  std::int64_t fan_in = 0;  // inputs summed into one output; a bias has that of its weight
  int layer = 0;
  bool is_bias = false;

  ParameterRange range() const { return {offset, count}; }
};

// Half-open run of layers: what one segment of a replica carries.
struct LayerRange {
  int begin = 0;
  int end = 0;

  friend bool operator==(const LayerRange&, const LayerRange&) = default;
};

class Graph {
 public:
  // Infers shapes and lays out the parameters. Names the layer and says what is wrong when the layers do not
  // fit; layers may come with empty `inputs` (then: the layer before). The last layer must be
  // SoftmaxCrossEntropy and give `classes` outputs.
  static Result<Graph> make(std::string name, Shape input, int classes, std::vector<Layer> layers);

  const std::string& name() const { return name_; }
  Shape input_shape() const { return input_; }
  int classes() const { return classes_; }

  const std::vector<Layer>& layers() const { return layers_; }
  int layer_count() const { return static_cast<int>(layers_.size()); }
  LayerRange all_layers() const { return {0, layer_count()}; }
  Shape layer_input(int layer) const;   // of one sample
  Shape layer_output(int layer) const;  // of one sample; of the loss layer: its input

  const std::vector<Tensor>& parameters() const { return parameters_; }
  std::int64_t parameter_count() const { return parameter_count_; }
  // The run of flat that a layer, or a range of layers, owns; count 0 when it has no parameters.
  ParameterRange layer_parameters(int layer) const;
  ParameterRange layer_parameters(LayerRange range) const;
  // Indices into parameters().
  std::vector<int> layer_tensors(int layer) const;

  // Floating point operations for one sample (a multiply-add is two). Backward counts both gradients; the
  // first layer needs none for its data.
  double forward_flops(int layer) const;
  double backward_flops(int layer) const;
  double step_flops() const;  // forward and backward of all layers

  // What a layer writes for one sample, in bytes of `bytes_per_element` each.
  std::int64_t activation_bytes(int layer, int bytes_per_element = 4) const;
  std::int64_t total_activation_bytes(int bytes_per_element = 4) const;  // of all layers and the input

  // Equal for graphs that compute the same function of the same flat buffer: what peers compare. Names do not
  // count.
  std::uint64_t digest() const;

 private:
  Graph() = default;

  std::string name_;
  Shape input_;
  int classes_ = 0;
  std::vector<Layer> layers_;
  std::vector<Shape> outputs_;
  std::vector<Tensor> parameters_;
  std::vector<std::pair<int, int>> layer_tensors_;  // first tensor, one past the last
  std::int64_t parameter_count_ = 0;
};

}  // namespace convoy
