#include "kernels/reference/reference_backend.h"

#include <algorithm>
#include <new>
#include <vector>

#include "kernels/graph/step_order.h"
#include "kernels/reference/layers.h"
#include "messages/base/check.h"

namespace convoy {
namespace {

template <class T>
class ReferencePlan final : public Plan {
 public:
  ReferencePlan(const Graph& graph, const CompileOptions& options) : graph_(graph), options_(options) {
    parameters_.resize(graph.parameter_count());
    input_.resize(options.batch * graph.input_shape().size());
    nodes_.resize(graph.layer_count());
    for (int i = 0; i < graph.layer_count(); ++i) {
      const std::int64_t size = options.batch * graph.layer_output(i).size();
      const LayerOp& op = graph.layers()[i].op;
      if (!std::holds_alternative<Flatten>(op)) nodes_[i].output.resize(size);
      if (std::holds_alternative<MaxPool2d>(op)) nodes_[i].argmax.resize(size);
      // gradient: of the layer's OUTPUT; a flatten layer shares that of the layer before.
      if (options.training && !std::holds_alternative<Flatten>(op) &&
          !std::holds_alternative<SoftmaxCrossEntropy>(op)) {
        nodes_[i].gradient.resize(size);
      }
    }
  }

  const Graph& graph() const override { return graph_; }
  const CompileOptions& options() const override { return options_; }
  Scalar scalar() const override { return scalar_of<T>(); }
  std::int64_t memory_bytes() const override {
    std::size_t count = parameters_.size() + input_.size();
    std::size_t indices = 0;
    for (const Node& node : nodes_) {
      count += node.output.size() + node.gradient.size();
      indices += node.argmax.size();
    }
    return static_cast<std::int64_t>(count * sizeof(T) + indices * sizeof(std::int32_t));
  }

  StreamEvent load_parameters(std::int64_t offset, ConstBytes values) override {
    const std::span<const T> from = elements<T>(values);
    CONVOY_CHECK(offset >= 0 && offset + static_cast<std::int64_t>(from.size()) <= graph_.parameter_count(),
                 offset, " + ", from.size());
    std::copy(from.begin(), from.end(), parameters_.begin() + offset);
    return {};
  }

  void begin(const Batch& batch) override {
    order_.begin(graph_, options_, batch);
    labels_ = batch.labels;
    std::copy(batch.images.begin(), batch.images.end(), input_.begin());
  }

  StreamEvent forward(int layer) override {
    order_.forward(layer);
    std::visit([&](const auto& op) { forward_op(layer, op); }, graph_.layers()[layer].op);
    return {};
  }

  StreamEvent backward(int layer, Bytes gradients) override {
    order_.backward(layer);
    const std::span<T> all = elements<T>(gradients);
    CONVOY_CHECK(static_cast<std::int64_t>(all.size()) == graph_.parameter_count(), all.size());
    std::visit([&](const auto& op) { backward_op(layer, op, all); }, graph_.layers()[layer].op);
    return {};
  }

  StepResult result() override {
    order_.result();
    return {.loss_sum = loss_.sum, .samples = order_.samples(), .correct = loss_.correct};
  }

 private:
  struct Node {
    std::vector<T> output;
    std::vector<T> gradient;
    std::vector<std::int32_t> argmax;
  };

  int n() const { return order_.samples(); }
  Shape in(int layer) const { return graph_.layer_input(layer); }
  Shape out(int layer) const { return graph_.layer_output(layer); }
  const T* x(int layer) const {
    do --layer;
    while (layer >= 0 && std::holds_alternative<Flatten>(graph_.layers()[layer].op));
    return layer < 0 ? input_.data() : nodes_[layer].output.data();
  }
  // Gradient of the layer's input; null when nobody needs it.
  T* dx(int layer) {
    do --layer;
    while (layer >= 0 && std::holds_alternative<Flatten>(graph_.layers()[layer].op));
    return layer < 0 ? nullptr : nodes_[layer].gradient.data();
  }
  // The layer's tensors within a flat buffer; the bias is null when there is none.
  template <class P>
  std::pair<P, P> tensors(int layer, P flat) const {
    std::pair<P, P> found{nullptr, nullptr};
    for (int t : graph_.layer_tensors(layer)) {
      const Tensor& tensor = graph_.parameters()[t];
      (tensor.is_bias ? found.second : found.first) = flat + tensor.offset;
    }
    return found;
  }

  template <class Op>
  void forward_weighted(int layer, const Op& op) {
    const auto [weight, bias] = tensors(layer, static_cast<const T*>(parameters_.data()));
    reference::forward(op, in(layer), out(layer), n(), x(layer), weight, bias, nodes_[layer].output.data());
  }
  void forward_op(int layer, const Conv2d& op) { forward_weighted(layer, op); }
  void forward_op(int layer, const Linear& op) { forward_weighted(layer, op); }
  void forward_op(int layer, const MaxPool2d& op) {
    reference::forward(op, in(layer), out(layer), n(), x(layer), nodes_[layer].output.data(),
                       nodes_[layer].argmax.data());
  }
  void forward_op(int layer, const AvgPool2d& op) {
    reference::forward(op, in(layer), out(layer), n(), x(layer), nodes_[layer].output.data());
  }
  void forward_op(int layer, const Relu& op) {
    reference::forward(op, n() * in(layer).size(), x(layer), nodes_[layer].output.data());
  }
  void forward_op(int, const Flatten&) {}
  void forward_op(int layer, const SoftmaxCrossEntropy& op) {
    loss_ = reference::forward(op, graph_.classes(), labels_, x(layer), nodes_[layer].output.data());
  }

  template <class Op>
  void backward_weighted(int layer, const Op& op, std::span<T> gradients) {
    const T* weight = tensors(layer, static_cast<const T*>(parameters_.data())).first;
    const auto [dweight, dbias] = tensors(layer, gradients.data());
    reference::backward(op, in(layer), out(layer), n(), x(layer), weight, nodes_[layer].gradient.data(),
                        dx(layer), dweight, dbias);
  }
  void backward_op(int layer, const Conv2d& op, std::span<T> g) { backward_weighted(layer, op, g); }
  void backward_op(int layer, const Linear& op, std::span<T> g) { backward_weighted(layer, op, g); }
  void backward_op(int layer, const MaxPool2d& op, std::span<T>) {
    if (T* to = dx(layer)) {
      reference::backward(op, in(layer), out(layer), n(), nodes_[layer].gradient.data(),
                          nodes_[layer].argmax.data(), to);
    }
  }
  void backward_op(int layer, const AvgPool2d& op, std::span<T>) {
    if (T* to = dx(layer)) {
      reference::backward(op, in(layer), out(layer), n(), nodes_[layer].gradient.data(), to);
    }
  }
  void backward_op(int layer, const Relu& op, std::span<T>) {
    if (T* to = dx(layer)) {
      reference::backward(op, n() * in(layer).size(), nodes_[layer].output.data(),
                          nodes_[layer].gradient.data(), to);
    }
  }
  void backward_op(int, const Flatten&, std::span<T>) {}
  void backward_op(int layer, const SoftmaxCrossEntropy& op, std::span<T>) {
    if (T* to = dx(layer)) {
      reference::backward(op, graph_.classes(), labels_, nodes_[layer].output.data(), to);
    }
  }

  const Graph graph_;
  const CompileOptions options_;
  StepOrder order_;
  std::vector<T> parameters_;
  std::vector<T> input_;
  std::vector<Node> nodes_;
  std::span<const std::int32_t> labels_;
  reference::LossResult loss_;
};

template <class T>
class ReferenceBackend final : public Backend {
 public:
  std::string name() const override { return scalar() == Scalar::kF32 ? "reference" : "reference64"; }
  Scalar scalar() const override { return scalar_of<T>(); }

  // There is nothing to choose: the same machine code computes every batch.
  Result<std::unique_ptr<Plan>> compile(const Graph& graph, const CompileOptions& options,
                                        KernelChoices&) override {
    if (auto checked = check_compile_options(graph, options); !checked) return checked.error();
    try {
      return std::unique_ptr<Plan>(std::make_unique<ReferencePlan<T>>(graph, options));
    } catch (const std::bad_alloc&) {
      return Error{ErrorCode::kOutOfMemory, "model " + graph.name() + " with a batch of " +
                                                std::to_string(options.batch) + " does not fit into memory"};
    }
  }
};

}  // namespace

std::unique_ptr<Backend> make_reference_backend(Scalar scalar) {
  if (scalar == Scalar::kF64) return std::make_unique<ReferenceBackend<double>>();
  return std::make_unique<ReferenceBackend<float>>();
}

}  // namespace convoy
