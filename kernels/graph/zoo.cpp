#include "kernels/graph/zoo.h"

namespace convoy {
namespace {

struct Entry {
  const char* name;
  Graph (*make)();
};
constexpr Entry kZoo[] = {
    {"lenet", lenet}, {"linear-mnist", linear_mnist}, {"tiny-cnn", tiny_cnn}, {"tiny-mlp", tiny_mlp}};

Graph must(Result<Graph> graph) {
  CONVOY_CHECK(graph.ok(), graph.ok() ? "" : graph.error().message);
  return std::move(graph).value();
}

}  // namespace

Graph lenet() {
  return must(Graph::make("lenet", {1, 28, 28}, 10,
                          {{"conv1", Conv2d{.out_channels = 20, .kernel_height = 5, .kernel_width = 5}, {}},
                           {"pool1", MaxPool2d{.kernel = 2, .stride = 2}, {}},
                           {"conv2", Conv2d{.out_channels = 50, .kernel_height = 5, .kernel_width = 5}, {}},
                           {"pool2", MaxPool2d{.kernel = 2, .stride = 2}, {}},
                           {"flatten", Flatten{}, {}},
                           {"fc1", Linear{.out_features = 500}, {}},
                           {"relu1", Relu{}, {}},
                           {"fc2", Linear{.out_features = 10}, {}},
                           {"loss", SoftmaxCrossEntropy{}, {}}}));
}

Graph tiny_cnn() {
  return must(Graph::make(
      "tiny-cnn", {1, 12, 12}, 10,
      {{"conv1", Conv2d{.out_channels = 4, .kernel_height = 3, .kernel_width = 3, .padding = 1}, {}},
       {"relu1", Relu{}, {}},
       {"pool1", MaxPool2d{.kernel = 2, .stride = 2}, {}},
       {"conv2", Conv2d{.out_channels = 6, .kernel_height = 3, .kernel_width = 3}, {}},
       {"pool2", AvgPool2d{.kernel = 2, .stride = 2}, {}},
       {"flatten", Flatten{}, {}},
       {"fc1", Linear{.out_features = 10}, {}},
       {"loss", SoftmaxCrossEntropy{}, {}}}));
}

Graph linear_mnist() {
  return must(Graph::make("linear-mnist", {1, 28, 28}, 10,
                          {{"flatten", Flatten{}, {}},
                           {"fc1", Linear{.out_features = 10}, {}},
                           {"loss", SoftmaxCrossEntropy{}, {}}}));
}

Graph tiny_mlp() {
  return must(Graph::make("tiny-mlp", {4, 1, 1}, 3,
                          {{"fc1", Linear{.out_features = 5}, {}},
                           {"relu1", Relu{}, {}},
                           {"fc2", Linear{.out_features = 3}, {}},
                           {"loss", SoftmaxCrossEntropy{}, {}}}));
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kZoo) names.emplace_back(entry.name);
  return names;
}

Result<Graph> model_by_name(std::string_view name) {
  std::string known;
  for (const Entry& entry : kZoo) {
    if (name == entry.name) return entry.make();
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  return Error{ErrorCode::kUsage,
               "there is no model named \"" + std::string(name) + "\"; there are " + known};
}

}  // namespace convoy
