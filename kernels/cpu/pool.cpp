// Max and average pooling by loops of our own: oneDNN's take a third of a LeNet step.
//
// Every layout that a convolution may hand over is planes of height x width x inner with the channels of a
// plane innermost: nchw (inner 1), nChw8c, nChw16c, nhwc (inner = channels). One loop over the inner channels
// serves all.
#include <algorithm>
#include <optional>
#include <type_traits>

#include "kernels/cpu/node.h"

namespace convoy::cpu {
namespace {

struct Planes {
  Tag tag;
  int inner;
  std::int64_t count;  // of the whole batch
};

std::optional<Planes> planes_of(const Activation& input, int batch) {
  const int channels = input.shape.channels;
  for (const auto& [tag, inner] : {std::pair{Tag::nhwc, channels}, std::pair{Tag::nChw16c, 16},
                                   std::pair{Tag::nChw8c, 8}, std::pair{Tag::nchw, 1}}) {
    if (input.desc == image_desc(batch, input.shape, tag)) {
      return Planes{tag, inner, std::int64_t{batch} * ((channels + inner - 1) / inner)};
    }
  }
  return std::nullopt;
}

// What both kinds share: the layout, and the loop over windows. Windows of different planes never touch the
// same memory, so planes are shared out to threads.
class PoolNode : public Node {
 public:
  PoolNode(Context& context, int kernel, int stride, int padding, const Activation& input, Shape out)
      : context_(context),
        input_(
            context, input,
            planes_of(input, context.batch) ? input.desc : image_desc(context.batch, input.shape, Tag::nhwc)),
        planes_(*planes_of(input_.view(), context.batch)),
        kernel_(kernel),
        stride_(stride),
        padding_(padding),
        in_(input.shape),
        out_(out) {}

  std::string implementation() const override { return "own"; }
  Desc output_desc() const override { return image_desc(context_.batch, out_, planes_.tag); }
  void bind(const Activation& output) override { output_ = output; }

 protected:
  std::int64_t in_plane() const { return std::int64_t{in_.height} * in_.width * planes_.inner; }
  std::int64_t out_plane() const { return std::int64_t{out_.height} * out_.width * planes_.inner; }

  // window(out offset, first row, end row, first column, end column) within a plane.
  template <class Window>
  void for_each_window(Window window) const {
    for (int oh = 0; oh < out_.height; ++oh) {
      const int row = oh * stride_ - padding_;
      for (int ow = 0; ow < out_.width; ++ow) {
        const int column = ow * stride_ - padding_;
        window((std::int64_t{oh} * out_.width + ow) * planes_.inner, std::max(row, 0),
               std::min(row + kernel_, in_.height), std::max(column, 0),
               std::min(column + kernel_, in_.width));
      }
    }
  }
  // plane(p, inner): `inner` is a constant for the layouts in blocks, so that the loops over it become
  // vectors.
  template <class Plane>
  void for_each_plane(Plane plane) const {
    if (planes_.inner == 16) return share_out(plane, std::integral_constant<int, 16>{});
    if (planes_.inner == 8) return share_out(plane, std::integral_constant<int, 8>{});
    share_out(plane, planes_.inner);
  }
  template <class Plane, class Inner>
  void share_out(const Plane& plane, Inner inner) const {
#pragma omp parallel for schedule(static) if (context_.threads > 1) num_threads(context_.threads)
    for (std::int64_t p = 0; p < planes_.count; ++p) plane(p, inner);
  }

  Context& context_;
  Adapter input_;
  const Planes planes_;
  const int kernel_, stride_, padding_;
  const Shape in_, out_;
  Activation output_;
};

class MaxPool final : public PoolNode {
 public:
  using PoolNode::PoolNode;

  void bind(const Activation& output) override {
    PoolNode::bind(output);
    argmax_.assign(planes_.count * out_plane(), 0);
    context_.memory_bytes += static_cast<std::int64_t>(argmax_.size() * sizeof(std::int32_t));
  }

  void forward(const Step&) override {
    input_.forward();
    for_each_plane([&](std::int64_t p, auto inner) {
      const float* from = input_.view().data + p * in_plane();
      float* to = output_.data + p * out_plane();
      std::int32_t* arg = argmax_.data() + p * out_plane();
      for_each_window([&](std::int64_t o, int row, int row_end, int column, int column_end) {
        const std::int32_t first = row * in_.width + column;
        const float* __restrict corner = from + std::int64_t{first} * inner;
        float* __restrict best = to + o;
        std::int32_t* __restrict winner = arg + o;
        for (int c = 0; c < inner; ++c) best[c] = corner[c], winner[c] = first;
        for (int r = row; r < row_end; ++r) {
          for (int w = column; w < column_end; ++w) {
            const std::int32_t here = r * in_.width + w;
            const float* __restrict x = from + std::int64_t{here} * inner;
            for (int c = 0; c < inner; ++c) {
              const bool larger = x[c] > best[c];
              best[c] = larger ? x[c] : best[c];
              winner[c] = larger ? here : winner[c];
            }
          }
        }
      });
    });
  }

  void backward(const Step&, Tensors<float*>) override {
    if (!input_.view().gradient) return;
    for_each_plane([&](std::int64_t p, auto inner) {
      float* to = input_.view().gradient + p * in_plane();
      const float* from = output_.gradient + p * out_plane();
      const std::int32_t* arg = argmax_.data() + p * out_plane();
      std::fill_n(to, in_plane(), 0.0f);
      for_each_window([&](std::int64_t o, int row, int row_end, int column, int column_end) {
        for (int r = row; r < row_end; ++r) {
          for (int w = column; w < column_end; ++w) {
            const std::int32_t here = r * in_.width + w;
            float* __restrict dx = to + std::int64_t{here} * inner;
            const float* __restrict dy = from + o;
            for (int c = 0; c < inner; ++c) dx[c] += arg[o + c] == here ? dy[c] : 0.0f;
          }
        }
      });
    });
    input_.backward();
  }

 private:
  std::vector<std::int32_t> argmax_;  // pixel within the plane
};

class AvgPool final : public PoolNode {
 public:
  using PoolNode::PoolNode;

  void forward(const Step&) override {
    input_.forward();
    const float scale = 1.0f / static_cast<float>(kernel_ * kernel_);
    for_each_plane([&](std::int64_t p, auto inner) {
      const float* from = input_.view().data + p * in_plane();
      float* to = output_.data + p * out_plane();
      for_each_window([&](std::int64_t o, int row, int row_end, int column, int column_end) {
        std::fill_n(to + o, inner, 0.0f);
        for (int r = row; r < row_end; ++r) {
          for (int w = column; w < column_end; ++w) {
            const float* x = from + (std::int64_t{r} * in_.width + w) * inner;
            for (int c = 0; c < inner; ++c) to[o + c] += x[c];
          }
        }
        for (int c = 0; c < inner; ++c) to[o + c] *= scale;
      });
    });
  }

  void backward(const Step&, Tensors<float*>) override {
    if (!input_.view().gradient) return;
    const float scale = 1.0f / static_cast<float>(kernel_ * kernel_);
    for_each_plane([&](std::int64_t p, auto inner) {
      float* to = input_.view().gradient + p * in_plane();
      const float* from = output_.gradient + p * out_plane();
      std::fill_n(to, in_plane(), 0.0f);
      for_each_window([&](std::int64_t o, int row, int row_end, int column, int column_end) {
        for (int r = row; r < row_end; ++r) {
          for (int w = column; w < column_end; ++w) {
            float* dx = to + (std::int64_t{r} * in_.width + w) * inner;
            for (int c = 0; c < inner; ++c) dx[c] += from[o + c] * scale;
          }
        }
      });
    });
    input_.backward();
  }
};

}  // namespace

std::unique_ptr<Node> make_max_pool(Context& context, const MaxPool2d& op, const Activation& input,
                                    Shape out) {
  return std::make_unique<MaxPool>(context, op.kernel, op.stride, op.padding, input, out);
}

std::unique_ptr<Node> make_avg_pool(Context& context, const AvgPool2d& op, const Activation& input,
                                    Shape out) {
  return std::make_unique<AvgPool>(context, op.kernel, op.stride, op.padding, input, out);
}

}  // namespace convoy::cpu
