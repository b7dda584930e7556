// What the kernel tests share: made-up data, graphs that cover the layers, error measures. Values; any
// thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/graph/backend.h"
#include "kernels/graph/graph.h"
#include "kernels/graph/zoo.h"
#include "kernels/reference/optimiser.h"
#include "messages/base/sampling.h"

namespace convoy::testing {

struct Data {
  std::vector<float> images;
  std::vector<std::int32_t> labels;

  Batch batch() const { return {images, labels}; }
};

inline double uniform(std::uint64_t seed, std::uint64_t a, std::uint64_t b) {
  return 2 * to_unit(random_word(seed, a, b)) - 1;
}

inline Data make_data(const Graph& graph, int samples, std::uint64_t seed) {
  Data data;
  data.images.resize(samples * graph.input_shape().size());
  data.labels.resize(samples);
  for (std::size_t i = 0; i < data.images.size(); ++i)
    data.images[i] = static_cast<float>(uniform(seed, 1, i));
  for (std::size_t i = 0; i < data.labels.size(); ++i) {
    data.labels[i] = static_cast<std::int32_t>(random_word(seed, 2, i) % graph.classes());
  }
  return data;
}

template <class T>
std::vector<T> make_parameters(const Graph& graph, std::uint64_t seed) {
  std::vector<T> parameters(graph.parameter_count());
  initialise(graph, seed, 0, std::span<T>(parameters));
  return parameters;
}

// |a - b| over |b|, both as Euclidean norms of the run.
template <class A, class B>
double normalised_error(const std::vector<A>& a, const std::vector<B>& b, ParameterRange range) {
  double difference = 0, size = 0;
  for (std::int64_t i = range.offset; i < range.end(); ++i) {
    const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    difference += d * d;
    size += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return std::sqrt(difference) / std::max(std::sqrt(size), 1e-30);
}

// A chain that ends in flatten, a linear layer on `classes` and the loss.
inline Graph chain(std::string name, Shape input, std::vector<Layer> layers, int classes = 5) {
  layers.push_back({"flatten", Flatten{}, {}});
  layers.push_back({"last", Linear{.out_features = classes}, {}});
  layers.push_back({"loss", SoftmaxCrossEntropy{}, {}});
  auto graph = Graph::make(std::move(name), input, classes, std::move(layers));
  CONVOY_CHECK(graph.ok(), graph.ok() ? "" : graph.error().message);
  return std::move(graph).value();
}

inline Conv2d conv(int out, int kernel, int stride = 1, int padding = 0, bool bias = true) {
  return {.out_channels = out,
          .kernel_height = kernel,
          .kernel_width = kernel,
          .stride = stride,
          .padding = padding,
          .bias = bias};
}

// Every layer with the options that make a difference, small enough for finite differences. A convolution
// stands before and behind what is tested, so that its data gradient counts.
inline std::vector<Graph> layer_zoo() {
  const Conv2d wide{.out_channels = 3, .kernel_height = 2, .kernel_width = 3};
  return {
      chain("conv", {2, 7, 6}, {{"c1", conv(3, 3), {}}, {"c2", conv(4, 2), {}}}),
      chain("conv strided and padded", {2, 9, 8},
            {{"c1", conv(3, 3, 2, 1), {}}, {"c2", conv(3, 3, 2, 2), {}}}),
      chain("conv without bias", {1, 6, 6},
            {{"c1", conv(3, 3, 1, 0, false), {}}, {"c2", conv(2, 2, 1, 0, false), {}}}),
      chain("conv oblong", {1, 7, 8}, {{"c1", wide, {}}, {"c2", wide, {}}}),
      chain("conv 1x1", {3, 4, 4}, {{"c1", conv(4, 1), {}}, {"c2", conv(3, 1, 2), {}}}),
      chain("max pool", {1, 8, 8},
            {{"c1", conv(3, 3), {}}, {"p", MaxPool2d{2, 2, 0}, {}}, {"c2", conv(3, 2), {}}}),
      chain("max pool hanging over", {1, 7, 9},
            {{"c1", conv(3, 3), {}}, {"p", MaxPool2d{2, 2, 0}, {}}, {"c2", conv(3, 2), {}}}),
      chain("max pool overlapping and padded", {1, 7, 7},
            {{"c1", conv(3, 3, 1, 1), {}}, {"p", MaxPool2d{3, 2, 1}, {}}, {"c2", conv(3, 2), {}}}),
      chain("max pool first", {2, 6, 6}, {{"p", MaxPool2d{2, 2, 0}, {}}, {"c2", conv(3, 2), {}}}),
      chain("avg pool", {1, 8, 8},
            {{"c1", conv(3, 3), {}}, {"p", AvgPool2d{2, 2, 0}, {}}, {"c2", conv(3, 2), {}}}),
      chain("avg pool overlapping and padded", {1, 7, 7},
            {{"c1", conv(3, 3, 1, 1), {}}, {"p", AvgPool2d{3, 2, 1}, {}}, {"c2", conv(3, 2), {}}}),
      chain(
          "conv, relu, max pool", {1, 9, 8},
          {{"c1", conv(4, 3), {}}, {"r", Relu{}, {}}, {"p", MaxPool2d{2, 2, 0}, {}}, {"c2", conv(3, 2), {}}}),
      chain(
          "conv, max pool of three, relu", {2, 11, 8},
          {{"c1", conv(9, 3), {}}, {"p", MaxPool2d{3, 3, 0}, {}}, {"r", Relu{}, {}}, {"c2", conv(3, 2), {}}}),
      chain("conv and max pool at the end", {1, 8, 8},
            {{"c1", conv(10, 3), {}},
             {"c2", conv(9, 3, 1, 0, false), {}},
             {"r", Relu{}, {}},
             {"p", MaxPool2d{2, 2, 0}, {}}}),
      chain("relu", {1, 6, 6}, {{"c1", conv(4, 3), {}}, {"r", Relu{}, {}}, {"c2", conv(3, 2), {}}}),
      chain("relu first and behind pools", {1, 8, 8},
            {{"r1", Relu{}, {}}, {"c1", conv(4, 3), {}}, {"p", MaxPool2d{2, 2, 0}, {}}, {"r2", Relu{}, {}}}),
      chain("linear", {7, 1, 1},
            {{"l1", Linear{.out_features = 9}, {}},
             {"r", Relu{}, {}},
             {"l2", Linear{.out_features = 4, .bias = false}, {}}}),
      tiny_mlp(),
  };
}

}  // namespace convoy::testing
