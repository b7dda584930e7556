// Convolution by oneDNN.
#include "kernels/cpu/node.h"

namespace convoy::cpu {
namespace {

using dnnl::algorithm;
using dnnl::prop_kind;
using DataType = dnnl::memory::data_type;

class Conv final : public Node {
 public:
  Conv(Context& context, const Conv2d& op, const Activation& input, Shape out, ConvLayout layout)
      : context_(context),
        input_(input),
        layout_(layout),
        weights_(Desc({op.out_channels, input.shape.channels, op.kernel_height, op.kernel_width},
                      DataType::f32, Tag::oihw)) {
    const Desc src = image(input.shape), dst = image(out);
    const Desc weights(weights_.dims(), DataType::f32, layout == ConvLayout::kPlain ? Tag::oihw : Tag::any);
    if (op.bias) bias_ = Desc({op.out_channels}, DataType::f32, Tag::x);
    const dnnl::memory::dims strides{op.stride, op.stride}, padding{op.padding, op.padding};
    const auto attr = user_scratchpad();
    const auto direct = algorithm::convolution_direct;
    const auto prop = context.training ? prop_kind::forward_training : prop_kind::forward_inference;
    forward_pd_ =
        op.bias
            ? dnnl::convolution_forward::primitive_desc(
                  {prop, direct, src, weights, bias_, dst, strides, padding, padding}, attr, context.engine)
            : dnnl::convolution_forward::primitive_desc(
                  {prop, direct, src, weights, dst, strides, padding, padding}, attr, context.engine);
    implementation_ = std::string("onednn ") + name_of(layout) + " " + forward_pd_.impl_info_str();
    if (!context.training) return;
    weights_pd_ = op.bias ? dnnl::convolution_backward_weights::primitive_desc(
                                {direct, src, weights, bias_, dst, strides, padding, padding}, attr,
                                context.engine, forward_pd_)
                          : dnnl::convolution_backward_weights::primitive_desc(
                                {direct, src, weights, dst, strides, padding, padding}, attr, context.engine,
                                forward_pd_);
    implementation_ += std::string(" ") + weights_pd_.impl_info_str();
    if (!input.gradient) return;
    data_pd_ = dnnl::convolution_backward_data::primitive_desc(
        {direct, src, weights, dst, strides, padding, padding}, attr, context.engine, forward_pd_);
    implementation_ += std::string(" ") + data_pd_.impl_info_str();
  }

  std::string implementation() const override { return implementation_; }
  Desc output_desc() const override { return forward_pd_.dst_desc(); }

  void bind(const Activation& output) override {
    // Forward.
    const float* src = reordered(input_.desc, input_.data, forward_pd_.src_desc(), source_, to_source_);
    forward_weights_ = context_.allocate(forward_pd_.weights_desc());
    to_forward_weights_ =
        reorder(context_, weights_, nullptr, forward_pd_.weights_desc(), forward_weights_.data());
    std::vector<std::pair<int, dnnl::memory>> args{
        {DNNL_ARG_SRC, at(context_, forward_pd_.src_desc(), src)},
        {DNNL_ARG_WEIGHTS, at(context_, forward_pd_.weights_desc(), forward_weights_.data())},
        {DNNL_ARG_DST, at(context_, forward_pd_.dst_desc(), output.data)}};
    if (has_bias()) {
      bias_values_ = context_.allocate(bias_);
      args.emplace_back(DNNL_ARG_BIAS, at(context_, bias_, bias_values_.data()));
    }
    forward_ = Call(context_, dnnl::convolution_forward(forward_pd_), forward_pd_.scratchpad_desc(),
                    std::move(args));
    if (!context_.training) return;

    // Gradient of the weights.
    const float* weights_src = weights_pd_.src_desc() == forward_pd_.src_desc()
                                   ? src
                                   : reordered(input_.desc, input_.data, weights_pd_.src_desc(),
                                               weights_source_, to_weights_source_);
    const float* weights_dst = reordered(output.desc, output.gradient, weights_pd_.diff_dst_desc(),
                                         weights_output_, to_weights_output_);
    weight_gradient_ = context_.allocate(weights_pd_.diff_weights_desc());
    args = {{DNNL_ARG_SRC, at(context_, weights_pd_.src_desc(), weights_src)},
            {DNNL_ARG_DIFF_DST, at(context_, weights_pd_.diff_dst_desc(), weights_dst)},
            {DNNL_ARG_DIFF_WEIGHTS, at(context_, weights_pd_.diff_weights_desc(), weight_gradient_.data())}};
    if (has_bias()) {
      bias_gradient_ = context_.allocate(bias_);
      args.emplace_back(DNNL_ARG_DIFF_BIAS, at(context_, bias_, bias_gradient_.data()));
    }
    backward_weights_ = Call(context_, dnnl::convolution_backward_weights(weights_pd_),
                             weights_pd_.scratchpad_desc(), std::move(args));
    from_weight_gradient_ =
        reorder(context_, weights_pd_.diff_weights_desc(), weight_gradient_.data(), weights_, nullptr);

    // Gradient of the data.
    if (!input_.gradient) return;
    const float* data_dst = data_pd_.diff_dst_desc() == weights_pd_.diff_dst_desc()
                                ? weights_dst
                                : reordered(output.desc, output.gradient, data_pd_.diff_dst_desc(),
                                            data_output_, to_data_output_);
    const float* data_weights = forward_weights_.data();
    if (data_pd_.weights_desc() != forward_pd_.weights_desc()) {
      data_weights_ = context_.allocate(data_pd_.weights_desc());
      data_weights = data_weights_.data();
      to_data_weights_ = reorder(context_, weights_, nullptr, data_pd_.weights_desc(), data_weights_.data());
    }
    float* data_gradient = input_.gradient;
    if (data_pd_.diff_src_desc() != input_.desc) {
      data_gradient_ = context_.allocate(data_pd_.diff_src_desc());
      data_gradient = data_gradient_.data();
      from_data_gradient_ =
          reorder(context_, data_pd_.diff_src_desc(), data_gradient, input_.desc, input_.gradient);
    }
    backward_data_ = Call(context_, dnnl::convolution_backward_data(data_pd_), data_pd_.scratchpad_desc(),
                          {{DNNL_ARG_DIFF_SRC, at(context_, data_pd_.diff_src_desc(), data_gradient)},
                           {DNNL_ARG_WEIGHTS, at(context_, data_pd_.weights_desc(), data_weights)},
                           {DNNL_ARG_DIFF_DST, at(context_, data_pd_.diff_dst_desc(), data_dst)}});
  }

  void load(Tensors<const float*> parameters) override {
    for (Call* call : {&to_forward_weights_, &to_data_weights_}) {
      if (!*call) continue;
      call->set(DNNL_ARG_FROM, const_cast<float*>(parameters.weight));
      call->run();
    }
    if (has_bias()) std::memcpy(bias_values_.data(), parameters.bias, bias_.get_size());
  }

  void forward(const Step&) override {
    run(to_source_);
    forward_.run();
  }

  void backward(const Step&, Tensors<float*> gradients) override {
    run(to_weights_source_);
    run(to_weights_output_);
    backward_weights_.run();
    from_weight_gradient_.set(DNNL_ARG_TO, gradients.weight);
    from_weight_gradient_.run();
    if (has_bias()) std::memcpy(gradients.bias, bias_gradient_.data(), bias_.get_size());
    if (!backward_data_) return;
    run(to_data_output_);
    backward_data_.run();
    run(from_data_gradient_);
  }

 private:
  static const char* name_of(ConvLayout layout) {
    return layout == ConvLayout::kAny ? "any" : layout == ConvLayout::kPlain ? "plain" : "nhwc";
  }
  static void run(Call& call) {
    if (call) call.run();
  }

  bool has_bias() const { return bias_.get_size() > 0; }
  Desc image(Shape shape) const {
    const Tag tag = layout_ == ConvLayout::kAny     ? Tag::any
                    : layout_ == ConvLayout::kPlain ? Tag::nchw
                                                    : Tag::nhwc;
    return image_desc(context_.batch, shape, tag);
  }
  // `data` as `wanted`: itself, or `buffer`, which `call` fills.
  const float* reordered(const Desc& from, const float* data, const Desc& wanted, Buffer& buffer,
                         Call& call) {
    if (from == wanted) return data;
    buffer = context_.allocate(wanted);
    call = reorder(context_, from, data, wanted, buffer.data());
    return buffer.data();
  }

  Context& context_;
  const Activation input_;
  const ConvLayout layout_;
  const Desc weights_;  // canonical
  Desc bias_;
  std::string implementation_;
  dnnl::convolution_forward::primitive_desc forward_pd_;
  dnnl::convolution_backward_weights::primitive_desc weights_pd_;
  dnnl::convolution_backward_data::primitive_desc data_pd_;

  Buffer source_, weights_source_, weights_output_, data_output_;
  Buffer forward_weights_, data_weights_, bias_values_, weight_gradient_, bias_gradient_, data_gradient_;
  Call to_source_, to_weights_source_, to_weights_output_, to_data_output_;
  Call to_forward_weights_, to_data_weights_, from_weight_gradient_, from_data_gradient_;
  Call forward_, backward_weights_, backward_data_;
};

}  // namespace

std::unique_ptr<Node> make_conv(Context& context, const Conv2d& op, const Activation& input, Shape out,
                                ConvLayout layout) {
  return std::make_unique<Conv>(context, op, input, out, layout);
}

}  // namespace convoy::cpu
