#include "kernels/cpu/cpu_backend.h"

#include <omp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "kernels/cpu/node.h"
#include "kernels/graph/step_order.h"
#include "kernels/reference/layers.h"
#include "messages/base/check.h"
#include "messages/base/sampling.h"

namespace convoy {
namespace cpu {
namespace {

template <class P>
Tensors<P> tensors_of(const Graph& graph, int layer, P flat) {
  Tensors<P> found;
  for (int t : graph.layer_tensors(layer)) {
    const Tensor& tensor = graph.parameters()[t];
    (tensor.is_bias ? found.bias : found.weight) = flat + tensor.offset;
  }
  return found;
}

// One way to compute a layer, or, with layers > 1, a layer and those behind it.
struct Candidate {
  std::function<std::unique_ptr<Node>(Context&, const Activation& input)> make;
  int layers = 1;
};

std::vector<Candidate> candidates_for(const Graph& graph, int layer) {
  const Shape out = graph.layer_output(layer);
  const LayerOp& op = graph.layers()[layer].op;
  if (const auto* conv = std::get_if<Conv2d>(&op)) {
    std::vector<Candidate> all;
    // The loss is last, so there is a layer behind each of these.
    const bool relu = std::holds_alternative<Relu>(graph.layers()[layer + 1].op);
    const int pool_layer = layer + (relu ? 2 : 1);
    const auto* pool = std::get_if<MaxPool2d>(&graph.layers()[pool_layer].op);
    if (pool && can_pool_conv(*conv, *pool)) {
      const Shape pooled = graph.layer_output(pool_layer);
      const bool plain = std::holds_alternative<Flatten>(graph.layers()[pool_layer + 1].op);
      all.push_back({[=](Context& c, const Activation& in) {
                       return make_pooled_conv(c, *conv, *pool, in, pooled, relu, plain);
                     },
                     pool_layer + 1 - layer});
    }
    for (ConvLayout layout : {ConvLayout::kAny, ConvLayout::kPlain, ConvLayout::kChannelsLast}) {
      all.push_back({[=](Context& c, const Activation& in) { return make_conv(c, *conv, in, out, layout); }});
    }
    return all;
  }
  if (const auto* linear = std::get_if<Linear>(&op)) {
    // Plain first: as fast as the others where it was measured, and the only one without reorders.
    return {{[=](Context& c, const Activation& in) { return make_linear(c, *linear, in, out, false); }},
            {[=](Context& c, const Activation& in) { return make_linear(c, *linear, in, out, true); }}};
  }
  if (const auto* pool = std::get_if<MaxPool2d>(&op)) {
    return {{[=](Context& c, const Activation& in) { return make_max_pool(c, *pool, in, out); }}};
  }
  if (const auto* average = std::get_if<AvgPool2d>(&op)) {
    return {{[=](Context& c, const Activation& in) { return make_avg_pool(c, *average, in, out); }}};
  }
  CONVOY_CHECK(std::holds_alternative<Relu>(op), kind_of(op));
  return {{[](Context& c, const Activation& in) { return make_relu(c, in); }}};
}

// Null when oneDNN does not have it.
std::unique_ptr<Node> try_make(const Candidate& candidate, Context& context, const Activation& input) {
  try {
    return candidate.make(context, input);
  } catch (const dnnl::error& error) {
    if (error.status != dnnl_unimplemented) throw;
    return nullptr;
  }
}

void fill(Buffer& buffer, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    buffer.data()[i] = static_cast<float>(2 * to_unit(random_word(1, 2, static_cast<std::uint64_t>(i))) - 1);
  }
}

// Memory of a chain of nodes outside any plan, to time them in.
class Trial {
 public:
  Trial(const Context& like, const Graph& graph) : graph_(graph) {
    context_.engine = like.engine;
    context_.stream = like.stream;
    context_.threads = like.threads;
    context_.batch = like.batch;
    context_.training = like.training;
    flat_ = Buffer(graph.parameter_count());
    fill(flat_, graph.parameter_count());
  }

  // Seconds of one forward and backward pass through `candidate` for `layer` and whatever else computes up to
  // `end`; nothing when it cannot be had.
  std::optional<double> seconds(const Candidate& candidate, int layer, int end, const Activation& input) {
    Activation from = input;
    from.data = make_buffer(input.desc);
    if (input.gradient) from.gradient = make_buffer(input.desc);
    std::vector<std::pair<int, std::unique_ptr<Node>>> nodes;
    for (int at = layer; at < end;) {
      const Candidate next = at == layer ? candidate : candidates_for(graph_, at).front();
      auto node = try_make(next, context_, from);
      if (!node) return std::nullopt;
      Activation to{graph_.layer_output(at + next.layers - 1), node->output_desc(), nullptr, nullptr};
      to.data = make_buffer(to.desc);
      if (context_.training) to.gradient = make_buffer(to.desc);
      node->bind(to);
      nodes.emplace_back(at, std::move(node));
      from = to;
      at += next.layers;
    }
    reserve_scratchpad(context_);
    const std::vector<std::int32_t> labels(context_.batch, 0);
    const Step step{context_.batch, labels};
    Buffer gradients(graph_.parameter_count());
    for (auto& [at, node] : nodes) node->load(tensors_of<const float*>(graph_, at, flat_.data()));
    double best = 1e9;
    for (int round = 0; round < 5; ++round) {
      const auto start = std::chrono::steady_clock::now();
      for (auto& [at, node] : nodes) node->forward(step);
      for (auto it = nodes.rbegin(); context_.training && it != nodes.rend(); ++it) {
        it->second->backward(step, tensors_of<float*>(graph_, it->first, gradients.data()));
      }
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      if (round > 0) best = std::min(best, taken.count());
    }
    return best;
  }

 private:
  float* make_buffer(const Desc& desc) {
    buffers_.push_back(context_.allocate(desc));
    fill(buffers_.back(), static_cast<std::int64_t>(desc.get_size() / sizeof(float)));
    return buffers_.back().data();
  }

  const Graph& graph_;
  Context context_;
  Buffer flat_;
  std::vector<Buffer> buffers_;
};

class CpuPlan final : public Plan {
 public:
  CpuPlan(const dnnl::engine& engine, const dnnl::stream& stream, const CpuOptions& settings,
          const Graph& graph, const CompileOptions& options)
      : settings_(settings), graph_(graph), options_(options) {
    context_.engine = engine;
    context_.stream = stream;
    context_.threads = settings.threads;
    context_.batch = options.batch;
    context_.training = options.training;
  }

  // Everything that can fail. Throws dnnl::error and std::bad_alloc.
  Result<void> build(KernelChoices& choices) {
    flat_ = context_.allocate(graph_.parameter_count());
    dirty_.assign(graph_.layer_count(), true);
    nodes_.resize(graph_.layer_count());
    allocate_gradients();

    Activation current{graph_.input_shape(), image_desc(options_.batch, graph_.input_shape(), Tag::nchw),
                       nullptr, nullptr};
    current.data = keep(context_.allocate(current.desc));
    input_ = current.data;
    const int loss = graph_.layer_count() - 1;
    for (int layer = 0; layer < loss;) {
      const LayerOp& op = graph_.layers()[layer].op;
      if (std::holds_alternative<Flatten>(op)) {
        auto flat = make_flatten(context_, current, graph_.layer_output(layer));
        nodes_[layer] = std::move(flat.node);
        current = flat.output;
        ++layer;
        continue;
      }
      auto chosen = choose(layer, current, choices);
      if (!chosen) return chosen.error();
      auto& [node, layers] = *chosen;
      Activation next{graph_.layer_output(layer + layers - 1), node->output_desc(), nullptr, nullptr};
      if (std::holds_alternative<Relu>(op) && layer > 0) {
        next = current;
      } else {
        next.data = keep(context_.allocate(next.desc));
        if (options_.training) next.gradient = gradients_[gradient_turn_ ^= 1].data();
      }
      node->bind(next);
      nodes_[layer] = std::move(node);
      current = next;
      layer += layers;
    }
    loss_input_.emplace(context_, current, image_desc(options_.batch, current.shape, Tag::nchw));
    probabilities_ = context_.allocate(std::int64_t{options_.batch} * graph_.classes());
    reserve_scratchpad(context_);
    return {};
  }

  const Graph& graph() const override { return graph_; }
  const CompileOptions& options() const override { return options_; }
  Scalar scalar() const override { return Scalar::kF32; }
  std::int64_t memory_bytes() const override { return context_.memory_bytes; }

  StreamEvent load_parameters(std::int64_t offset, ConstBytes values) override {
    const std::span<const float> from = elements<float>(values);
    const std::int64_t end = offset + static_cast<std::int64_t>(from.size());
    CONVOY_CHECK(offset >= 0 && end <= graph_.parameter_count(), offset, " ", end);
    std::copy(from.begin(), from.end(), flat_.data() + offset);
    for (int i = 0; i < graph_.layer_count(); ++i) {
      const ParameterRange range = graph_.layer_parameters(i);
      if (range.count > 0 && range.offset < end && offset < range.end()) dirty_[i] = true;
    }
    return {};
  }

  void begin(const Batch& batch) override {
    order_.begin(graph_, options_, batch);
    step_ = {order_.samples(), batch.labels};
    std::copy(batch.images.begin(), batch.images.end(), input_);
    const std::int64_t sample = graph_.input_shape().size();
    if (step_.samples < filled_) std::fill(input_ + step_.samples * sample, input_ + filled_ * sample, 0.0f);
    filled_ = step_.samples;
  }

  StreamEvent forward(int layer) override {
    order_.forward(layer);
    omp_set_num_threads(settings_.threads);
    if (layer == graph_.layer_count() - 1) {
      loss_input_->forward();
      loss_ = reference::forward(SoftmaxCrossEntropy{}, graph_.classes(), step_.labels,
                                 loss_input_->view().data, probabilities_.data());
    } else if (nodes_[layer]) {
      if (dirty_[layer]) nodes_[layer]->load(tensors_of<const float*>(graph_, layer, flat_.data()));
      dirty_[layer] = false;
      nodes_[layer]->forward(step_);
    }
    return {};
  }

  StreamEvent backward(int layer, Bytes gradients) override {
    order_.backward(layer);
    omp_set_num_threads(settings_.threads);
    const std::span<float> flat = elements<float>(gradients);
    CONVOY_CHECK(static_cast<std::int64_t>(flat.size()) == graph_.parameter_count(), flat.size());
    if (layer == graph_.layer_count() - 1) {
      const Activation& scores = loss_input_->view();
      if (!scores.gradient) return {};
      reference::backward(SoftmaxCrossEntropy{}, graph_.classes(), step_.labels, probabilities_.data(),
                          scores.gradient);
      std::fill(scores.gradient + std::int64_t{step_.samples} * graph_.classes(),
                scores.gradient + std::int64_t{options_.batch} * graph_.classes(), 0.0f);
      loss_input_->backward();
    } else if (nodes_[layer]) {
      nodes_[layer]->backward(step_, tensors_of<float*>(graph_, layer, flat.data()));
    }
    return {};
  }

  StepResult result() override {
    order_.result();
    return {.loss_sum = loss_.sum, .samples = step_.samples, .correct = loss_.correct};
  }

 private:
  struct Chosen {
    std::unique_ptr<Node> node;
    int layers = 1;
  };

  float* keep(Buffer buffer) {
    buffers_.push_back(std::move(buffer));
    return buffers_.back().data();
  }

  // The gradient of an activation is needed while one node runs, so two buffers take turns. No layout pads
  // channels to more than a multiple of 16.
  void allocate_gradients() {
    if (!options_.training) return;
    std::int64_t most = 0;
    for (int i = 0; i < graph_.layer_count(); ++i) {
      const Shape s = graph_.layer_output(i);
      most =
          std::max(most, std::int64_t{options_.batch} * ((s.channels + 15) / 16 * 16) * s.height * s.width);
    }
    for (Buffer& buffer : gradients_) buffer = context_.allocate(most);
  }

  std::string key_of(int layer) const {
    return "cpu " + graph_.name() + " " + graph_.layers()[layer].name + " b" +
           std::to_string(options_.batch) + " t" + std::to_string(settings_.threads) +
           (options_.training ? "" : " eval");
  }

  Result<Chosen> choose(int layer, const Activation& input, KernelChoices& choices) {
    const std::vector<Candidate> candidates = candidates_for(graph_, layer);
    if (candidates.size() == 1) return Chosen{candidates[0].make(context_, input), candidates[0].layers};
    const std::string key = key_of(layer);
    if (const std::string* recorded = choices.find(key)) {
      for (const Candidate& candidate : candidates) {
        auto node = try_make(candidate, context_, input);
        if (node && node->implementation() == *recorded) return Chosen{std::move(node), candidate.layers};
      }
      return Error{ErrorCode::kUnsupported,
                   "the recorded kernel choice \"" + key + " = " + *recorded +
                       "\" is not to be had on this machine with this build; record anew"};
    }
    const Candidate* best = nullptr;
    if (settings_.measure) best = fastest(candidates, layer, input);
    for (const Candidate& candidate : candidates) {
      if (best && best != &candidate) continue;
      if (auto node = try_make(candidate, context_, input)) {
        choices.set(key, node->implementation());
        return Chosen{std::move(node), candidate.layers};
      }
    }
    return Error{
        ErrorCode::kUnsupported,
        "model " + graph_.name() + ": oneDNN has no implementation of layer " + graph_.layers()[layer].name};
  }

  // Candidates that also compute the next layer are compared with those that leave it to another node.
  const Candidate* fastest(const std::vector<Candidate>& candidates, int layer, const Activation& input) {
    int layers = 1;
    for (const Candidate& candidate : candidates) layers = std::max(layers, candidate.layers);
    const Candidate* best = nullptr;
    double least = 0;
    for (const Candidate& candidate : candidates) {
      const auto taken = Trial(context_, graph_).seconds(candidate, layer, layer + layers, input);
      if (taken && (!best || *taken < least)) best = &candidate, least = *taken;
    }
    return best;
  }

  const CpuOptions settings_;
  const Graph graph_;
  const CompileOptions options_;
  Context context_;
  StepOrder order_;
  Step step_;
  Buffer flat_;  // canonical parameters
  std::vector<bool> dirty_;
  std::vector<std::unique_ptr<Node>> nodes_;  // null where the node of an earlier layer computes this one too
  std::vector<Buffer> buffers_;
  std::array<Buffer, 2> gradients_;
  int gradient_turn_ = 0;
  float* input_ = nullptr;
  int filled_ = 0;  // samples that the input buffer holds
  std::optional<Adapter> loss_input_;
  Buffer probabilities_;
  reference::LossResult loss_;
};

class CpuBackend final : public Backend {
 public:
  CpuBackend(const CpuOptions& options, dnnl::engine engine)
      : options_(options), engine_(std::move(engine)), stream_(engine_) {}

  std::string name() const override { return "cpu"; }
  Scalar scalar() const override { return Scalar::kF32; }

  Result<std::unique_ptr<Plan>> compile(const Graph& graph, const CompileOptions& options,
                                        KernelChoices& choices) override {
    if (auto checked = check_compile_options(graph, options); !checked) return checked.error();
    // oneDNN decides by the number of threads that it finds at compile time.
    omp_set_num_threads(options_.threads);
    const std::string what = "model " + graph.name() + " with a batch of " + std::to_string(options.batch);
    try {
      auto plan = std::make_unique<CpuPlan>(engine_, stream_, options_, graph, options);
      if (auto built = plan->build(choices); !built) return built.error();
      return std::unique_ptr<Plan>(std::move(plan));
    } catch (const dnnl::error& error) {
      const bool memory = error.status == dnnl_out_of_memory;
      return Error{memory ? ErrorCode::kOutOfMemory : ErrorCode::kUnsupported,
                   what + ": oneDNN cannot compile it: " + error.what()};
    } catch (const std::bad_alloc&) {
      return Error{ErrorCode::kOutOfMemory, what + " does not fit into memory"};
    }
  }

 private:
  const CpuOptions options_;
  dnnl::engine engine_;
  dnnl::stream stream_;
};

}  // namespace
}  // namespace cpu

Result<std::unique_ptr<Backend>> make_cpu_backend(const CpuOptions& options) {
  if (options.threads < 1) return Error{ErrorCode::kUsage, "a CPU device needs at least one thread"};
  try {
    return std::unique_ptr<Backend>(
        std::make_unique<cpu::CpuBackend>(options, dnnl::engine(dnnl::engine::kind::cpu, 0)));
  } catch (const dnnl::error& error) {
    return Error{ErrorCode::kUnsupported, std::string("oneDNN finds no CPU to compute on: ") + error.what()};
  }
}

}  // namespace convoy
