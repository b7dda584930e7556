// Layers that only touch or rename what is there: ReLU and flatten.
#include "kernels/cpu/node.h"

namespace convoy::cpu {
namespace {

// Element by element over the whole buffer, whatever its layout; what pads a layout is zero and stays so.
class ReluNode final : public Node {
 public:
  ReluNode(Context& context, const Activation& input)
      : context_(context),
        input_(input),
        count_(static_cast<std::int64_t>(input.desc.get_size() / sizeof(float))) {}

  std::string implementation() const override { return "own"; }
  Desc output_desc() const override { return input_.desc; }
  void bind(const Activation& output) override { output_ = output; }

  void forward(const Step&) override {
    const float* x = input_.data;
    float* y = output_.data;
#pragma omp parallel for simd schedule(static) if (context_.threads > 1) num_threads(context_.threads)
    for (std::int64_t i = 0; i < count_; ++i) y[i] = x[i] < 0 ? 0.0f : x[i];
  }

  void backward(const Step&, Tensors<float*>) override {
    if (!input_.gradient) return;
    const float* y = output_.data;
    const float* dy = output_.gradient;
    float* dx = input_.gradient;
#pragma omp parallel for simd schedule(static) if (context_.threads > 1) num_threads(context_.threads)
    for (std::int64_t i = 0; i < count_; ++i) dx[i] = y[i] > 0 ? dy[i] : 0.0f;
  }

 private:
  Context& context_;
  const Activation input_;
  const std::int64_t count_;
  Activation output_;
};

// Renames when the input lies in nchw; otherwise the adapter's copy is the output.
class FlattenNode final : public Node {
 public:
  FlattenNode(Context& context, const Activation& input, Shape out)
      : batch_(context.batch),
        input_(context, input, image_desc(context.batch, input.shape, Tag::nchw)),
        out_(out) {}

  std::string implementation() const override { return "own"; }
  Desc output_desc() const override { return image_desc(batch_, out_, Tag::nchw); }
  void bind(const Activation&) override {}
  const Activation& view() const { return input_.view(); }

  void forward(const Step&) override { input_.forward(); }
  void backward(const Step&, Tensors<float*>) override { input_.backward(); }

 private:
  const int batch_;
  Adapter input_;
  const Shape out_;
};

}  // namespace

std::unique_ptr<Node> make_relu(Context& context, const Activation& input) {
  return std::make_unique<ReluNode>(context, input);
}

FlattenResult make_flatten(Context& context, const Activation& input, Shape out) {
  auto node = std::make_unique<FlattenNode>(context, input, out);
  Activation output{out, node->output_desc(), node->view().data, node->view().gradient};
  return {std::move(node), output};
}

}  // namespace convoy::cpu
