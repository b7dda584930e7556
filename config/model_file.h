// The network that a run file names, as a graph: a name of the zoo, or a model file.
//
//   name = "small"
//   input = [1, 28, 28]          # channels, height, width
//   classes = 10
//   [[layer]]
//   kind = "conv2d"              # conv2d, max_pool2d, avg_pool2d, linear, relu, flatten,
//   softmax_cross_entropy name = "conv1"               # default: kind and number out_channels = 20 kernel =
//   5                   # conv2d: or [height, width]
//
// Other keys: conv2d stride, padding, groups, bias; pools kernel, stride (default: the kernel), padding;
// linear out_features, bias. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "config/run_options.h"
#include "kernels/graph/graph.h"
#include "messages/base/result.h"

namespace convoy::config {

// REQUIRES: options as a reader gave them; errors are as of a run file (kUsage), ONNX is kUnsupported.
Result<Graph> make_graph(const ModelOptions& options);

// The same of a model file's text; `name` stands for the file in messages.
Result<Graph> parse_model_file(std::string_view text, const std::string& name);

}  // namespace convoy::config
