#include "config/model_file.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include "config/toml_reader.h"
#include "kernels/graph/zoo.h"

namespace convoy::config {
namespace {

enum class LayerKind { kConv2d, kMaxPool2d, kAvgPool2d, kLinear, kRelu, kFlatten, kSoftmaxCrossEntropy };

constexpr detail::IntegerRange kExtent{1, 1 << 20};
constexpr detail::IntegerRange kFromZero{0, 1 << 20};

}  // namespace

template <>
struct detail::Names<LayerKind> {
  static constexpr std::array<const char*, 7> values{"conv2d", "max_pool2d", "avg_pool2d",           "linear",
                                                     "relu",   "flatten",    "softmax_cross_entropy"};
};

namespace {

using detail::TomlReader;

LayerOp read_conv(TomlReader& r) {
  Conv2d conv;
  r.integer("out_channels", conv.out_channels, kExtent);
  std::array<int, 2> kernel{1, 1};
  r.integers("kernel", kernel, kExtent, true);
  conv.kernel_height = kernel[0];
  conv.kernel_width = kernel[1];
  r.integer("stride", conv.stride, kExtent);
  r.integer("padding", conv.padding, kFromZero);
  r.integer("groups", conv.groups, kExtent);
  r.boolean("bias", conv.bias);
  return conv;
}

template <class Pool>
LayerOp read_pool(TomlReader& r) {
  Pool pool;
  r.integer("kernel", pool.kernel, kExtent);
  pool.stride = pool.kernel;
  r.integer("stride", pool.stride, kExtent);
  r.integer("padding", pool.padding, kFromZero);
  return pool;
}

LayerOp read_linear(TomlReader& r) {
  Linear linear;
  r.integer("out_features", linear.out_features, kExtent);
  r.boolean("bias", linear.bias);
  return linear;
}

LayerOp read_op(TomlReader& r, LayerKind kind) {
  switch (kind) {
    case LayerKind::kConv2d:
      return read_conv(r);
    case LayerKind::kMaxPool2d:
      return read_pool<MaxPool2d>(r);
    case LayerKind::kAvgPool2d:
      return read_pool<AvgPool2d>(r);
    case LayerKind::kLinear:
      return read_linear(r);
    case LayerKind::kRelu:
      return Relu{};
    case LayerKind::kFlatten:
      return Flatten{};
    case LayerKind::kSoftmaxCrossEntropy:
      return SoftmaxCrossEntropy{};
  }
  return Relu{};
}

struct LayerEntry {
  std::string name;
  LayerOp op = Relu{};
};

// Where Graph::make found fault: it names layers by their number, "layer 3 (".
std::string path_of(const std::string& message) {
  const auto at = message.find("layer ");
  if (at == std::string::npos) return "layer";
  const auto digits = message.substr(at + 6, message.find_first_not_of("0123456789", at + 6) - at - 6);
  return digits.empty() ? "layer" : "layer[" + digits + "]";
}

}  // namespace

Result<Graph> parse_model_file(std::string_view text, const std::string& name) {
  TomlReader reader(text, name, {});
  std::string title = std::filesystem::path(name).stem().string();
  std::array<int, 3> input{0, 0, 0};
  int classes = 0;
  std::vector<LayerEntry> entries;
  reader.text("name", title);
  reader.integers("input", input, kExtent, false);
  reader.integer("classes", classes, {2, 1 << 20});
  std::size_t number = 0;
  reader.tables("layer", entries, [&](LayerEntry& entry) {
    LayerKind kind = LayerKind::kRelu;
    reader.choice("kind", kind);
    entry.name = std::string(detail::name_of(kind)) + "-" + std::to_string(++number);
    reader.text("name", entry.name);
    entry.op = read_op(reader, kind);
  });
  for (const char* key : {"input", "classes", "layer"}) {
    if (!reader.given(key))
      reader.error(key, "is missing", "input = [channels, height, width], classes, [[layer]]");
  }
  const auto require = [&reader](std::size_t i, const char* key) {
    const std::string path = "layer[" + std::to_string(i) + "]." + key;
    if (!reader.given(path)) reader.error(path, "is missing");
  };
  for (std::size_t i = 0; i < entries.size(); ++i) {
    require(i, "kind");
    if (std::holds_alternative<Conv2d>(entries[i].op)) {
      require(i, "out_channels");
      require(i, "kernel");
    }
    if (std::holds_alternative<Linear>(entries[i].op)) require(i, "out_features");
  }
  std::string errors = reader.take_errors();
  if (!errors.empty()) return Error{ErrorCode::kUsage, std::move(errors)};

  std::vector<Layer> layers;
  for (LayerEntry& entry : entries) layers.push_back({std::move(entry.name), entry.op, {}});
  auto graph = Graph::make(std::move(title), Shape{input[0], input[1], input[2]}, classes, std::move(layers));
  if (!graph) {
    reader.error(path_of(graph.error().message), graph.error().message);
    return Error{ErrorCode::kUsage, reader.take_errors()};
  }
  return graph;
}

Result<Graph> make_graph(const ModelOptions& options) {
  if (!options.definition.empty()) {
    return parse_model_file(options.definition, options.file.empty() ? "model.definition" : options.file);
  }
  if (!options.onnx.empty()) return Error{ErrorCode::kUnsupported, "reading ONNX is not available yet"};
  return model_by_name(options.name);
}

}  // namespace convoy::config
