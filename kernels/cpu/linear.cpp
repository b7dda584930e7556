// Linear layers by oneDNN's inner product. The plain layout is the canonical one: its weights are read where
// the plan keeps the parameters and its gradient is written straight into the caller's buffer.
#include "kernels/cpu/node.h"

namespace convoy::cpu {
namespace {

using dnnl::prop_kind;
using DataType = dnnl::memory::data_type;

class LinearNode final : public Node {
 public:
  LinearNode(Context& context, const Linear& op, const Activation& input, Shape out, bool any_layout)
      : context_(context),
        input_(context, input, image_desc(context.batch, input.shape, Tag::nchw)),
        out_(out),
        src_({context.batch, input.shape.channels}, DataType::f32, Tag::nc),
        dst_({context.batch, out.channels}, DataType::f32, Tag::nc),
        canonical_({out.channels, input.shape.channels}, DataType::f32, Tag::oi) {
    const Desc weights(canonical_.dims(), DataType::f32, any_layout ? Tag::any : Tag::oi);
    if (op.bias) bias_ = Desc({out.channels}, DataType::f32, Tag::x);
    const auto attr = user_scratchpad();
    const auto prop = context.training ? prop_kind::forward_training : prop_kind::forward_inference;
    forward_pd_ = op.bias ? dnnl::inner_product_forward::primitive_desc({prop, src_, weights, bias_, dst_},
                                                                        attr, context.engine)
                          : dnnl::inner_product_forward::primitive_desc({prop, src_, weights, dst_}, attr,
                                                                        context.engine);
    implementation_ = std::string(any_layout ? "onednn any " : "onednn plain ") + forward_pd_.impl_info_str();
    if (!context.training) return;
    weights_pd_ = op.bias ? dnnl::inner_product_backward_weights::primitive_desc(
                                {src_, weights, bias_, dst_}, attr, context.engine, forward_pd_)
                          : dnnl::inner_product_backward_weights::primitive_desc({src_, weights, dst_}, attr,
                                                                                 context.engine, forward_pd_);
    implementation_ += std::string(" ") + weights_pd_.impl_info_str();
    if (!input.gradient) return;
    data_pd_ = dnnl::inner_product_backward_data::primitive_desc({src_, weights, dst_}, attr, context.engine,
                                                                 forward_pd_);
    implementation_ += std::string(" ") + data_pd_.impl_info_str();
  }

  std::string implementation() const override { return implementation_; }
  Desc output_desc() const override { return image_desc(context_.batch, out_, Tag::nchw); }

  void bind(const Activation& output) override {
    const Activation& input = input_.view();
    forward_ =
        Call(context_, dnnl::inner_product_forward(forward_pd_), forward_pd_.scratchpad_desc(),
             with_bias(DNNL_ARG_BIAS, {{DNNL_ARG_SRC, at(context_, src_, input.data)},
                                       {DNNL_ARG_WEIGHTS, at(context_, forward_pd_.weights_desc(), nullptr)},
                                       {DNNL_ARG_DST, at(context_, dst_, output.data)}}));
    prepare(forward_pd_.weights_desc(), forward_weights_, to_forward_weights_);
    if (!context_.training) return;
    const Desc gradient = weights_pd_.diff_weights_desc();
    backward_weights_ =
        Call(context_, dnnl::inner_product_backward_weights(weights_pd_), weights_pd_.scratchpad_desc(),
             with_bias(DNNL_ARG_DIFF_BIAS, {{DNNL_ARG_SRC, at(context_, src_, input.data)},
                                            {DNNL_ARG_DIFF_DST, at(context_, dst_, output.gradient)},
                                            {DNNL_ARG_DIFF_WEIGHTS, at(context_, gradient, nullptr)}}));
    if (gradient != canonical_) {
      weight_gradient_ = context_.allocate(gradient);
      from_weight_gradient_ = reorder(context_, gradient, weight_gradient_.data(), canonical_, nullptr);
      backward_weights_.set(DNNL_ARG_DIFF_WEIGHTS, weight_gradient_.data());
    }
    if (!input.gradient) return;
    backward_data_ = Call(context_, dnnl::inner_product_backward_data(data_pd_), data_pd_.scratchpad_desc(),
                          {{DNNL_ARG_DIFF_SRC, at(context_, src_, input.gradient)},
                           {DNNL_ARG_WEIGHTS, at(context_, data_pd_.weights_desc(), nullptr)},
                           {DNNL_ARG_DIFF_DST, at(context_, dst_, output.gradient)}});
    prepare(data_pd_.weights_desc(), data_weights_, to_data_weights_);
  }

  void load(Tensors<const float*> parameters) override {
    place(parameters.weight, forward_, forward_weights_, to_forward_weights_);
    if (backward_data_) place(parameters.weight, backward_data_, data_weights_, to_data_weights_);
    if (has_bias()) forward_.set(DNNL_ARG_BIAS, const_cast<float*>(parameters.bias));
  }

  void forward(const Step&) override {
    input_.forward();
    forward_.run();
  }

  void backward(const Step&, Tensors<float*> gradients) override {
    if (has_bias()) backward_weights_.set(DNNL_ARG_DIFF_BIAS, gradients.bias);
    if (from_weight_gradient_) {
      backward_weights_.run();
      from_weight_gradient_.set(DNNL_ARG_TO, gradients.weight);
      from_weight_gradient_.run();
    } else {
      backward_weights_.set(DNNL_ARG_DIFF_WEIGHTS, gradients.weight);
      backward_weights_.run();
    }
    if (!backward_data_) return;
    backward_data_.run();
    input_.backward();
  }

 private:
  using Args = std::vector<std::pair<int, dnnl::memory>>;

  bool has_bias() const { return bias_.get_size() > 0; }
  Args with_bias(int index, Args args) {
    if (has_bias()) args.emplace_back(index, at(context_, bias_, nullptr));
    return args;
  }
  void prepare(const Desc& weights, Buffer& buffer, Call& call) {
    if (weights == canonical_) return;
    buffer = context_.allocate(weights);
    call = reorder(context_, canonical_, nullptr, weights, buffer.data());
  }
  static void place(const float* weight, Call& user, Buffer& buffer, Call& to_buffer) {
    if (!to_buffer) return user.set(DNNL_ARG_WEIGHTS, const_cast<float*>(weight));
    to_buffer.set(DNNL_ARG_FROM, const_cast<float*>(weight));
    to_buffer.run();
    user.set(DNNL_ARG_WEIGHTS, buffer.data());
  }

  Context& context_;
  Adapter input_;
  const Shape out_;
  const Desc src_, dst_, canonical_;
  Desc bias_;
  std::string implementation_;
  dnnl::inner_product_forward::primitive_desc forward_pd_;
  dnnl::inner_product_backward_weights::primitive_desc weights_pd_;
  dnnl::inner_product_backward_data::primitive_desc data_pd_;
  Buffer forward_weights_, data_weights_, weight_gradient_;
  Call to_forward_weights_, to_data_weights_, from_weight_gradient_;
  Call forward_, backward_weights_, backward_data_;
};

}  // namespace

std::unique_ptr<Node> make_linear(Context& context, const Linear& op, const Activation& input, Shape out,
                                  bool any_layout) {
  return std::make_unique<LinearNode>(context, op, input, out, any_layout);
}

}  // namespace convoy::cpu
