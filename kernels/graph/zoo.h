// The models that have names. Values; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/graph/graph.h"
#include "messages/base/result.h"

namespace convoy {

// Caffe's LeNet for 28 x 28 grey images and 10 classes: 431,080 parameters.
Graph lenet();
// The smallest chain with every kind of layer, 12 x 12 grey images and 10 classes: for tests that want a fast
// step on something with convolutions. 512 parameters.
Graph tiny_cnn();
// One linear layer on 28 x 28 grey images: multinomial regression, 7,850 parameters.
Graph linear_mnist();
// Linear, ReLU, linear on 4 features and 3 classes: for tests that follow single numbers. 43 parameters.
Graph tiny_mlp();

// What `model.name` may say, sorted.
std::vector<std::string> model_names();
// kUsage, naming what there is, when nothing has that name.
Result<Graph> model_by_name(std::string_view name);

}  // namespace convoy
