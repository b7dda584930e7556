// A convolution and the max pooling behind it as one node, in AVX2; a ReLU between them moves behind the
// maximum, where it gives the same numbers.
//
// Forward: a tile holds the convolution at the taps of one pooling window for a few vectors of output
// channels, so the maximum is taken in registers and the convolution's own output never exists. Backward:
// only the tap that won has a gradient, a quarter of the positions for windows of 2 x 2. Both gradients are
// sums over those positions of rows of kernel_width x in_channels numbers that lie next to each other when
// channels are innermost (nhwc).
//
// For stride 1 without padding, and windows that do not overlap. Each sum is added up in one order for any
// number of threads: forward and data gradient share out samples, the weight gradient shares out output
// channels.
#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "kernels/cpu/node.h"
#include "kernels/cpu/pooled_conv_kernels.h"

namespace convoy::cpu {
namespace {

Geometry geometry_of(const Conv2d& op, int pool, Shape in, Shape out) {
  return {in.channels, op.out_channels, in.height, in.width, op.kernel_height, op.kernel_width,
          pool,        out.height,      out.width};
}

// With one channel nchw and nhwc are the same bytes.
Desc channels_last(const Activation& input, int batch) {
  if (input.shape.channels == 1 && input.desc == image_desc(batch, input.shape, Tag::nchw)) return input.desc;
  return image_desc(batch, input.shape, Tag::nhwc);
}

class PooledConv final : public Node {
 public:
  PooledConv(Context& context, const Conv2d& op, int pool, const Activation& input, Shape out, bool relu,
             bool plain_output)
      : context_(context),
        input_(context, input, channels_last(input, context.batch)),
        out_(out),
        relu_(relu),
        plain_output_(plain_output),
        has_bias_(op.bias),
        g_(geometry_of(op, pool, input.shape, out)) {
    // Three vectors of channels beside four taps fill the registers; a rest of one is better spread over two
    // blocks.
    for (int v = 0; v < g_.out_vectors();) {
      const int left = g_.out_vectors() - v;
      const int size = left == 4 ? 2 : std::min(left, 3);
      blocks_.push_back({v, size});
      v += size;
    }
    for (int cell = 0; cell < g_.cells(); ++cell) {
      for (int tap = 0; tap < g_.taps(); ++tap) offsets_.push_back(g_.offset(cell, tap));
    }
    const std::int64_t kernel = std::int64_t{g_.kernel_height} * g_.row();
    forward_weights_ = context.allocate(kernel * g_.padded_out());
    bias_ = context.allocate(g_.padded_out());
    taps_.resize(std::int64_t{context.batch} * g_.cells() * g_.padded_out());
    workers_.resize(context.threads);
    for (Worker& worker : workers_)
      worker.maxima = context.allocate(std::int64_t{g_.cells()} * g_.padded_out());
    context.memory_bytes += static_cast<std::int64_t>(taps_.size());
    if (!context.training) return;
    weight_gradient_ = context.allocate(std::int64_t{g_.out_channels} * g_.kernel_height * g_.padded_row());
    for (Worker& worker : workers_) worker.entries.resize(std::int64_t{g_.out_channels} * g_.cells());
    if (!input.gradient) return;
    // Down the columns: neighbours in a row overlap, and adding to what was stored a moment ago, but not on
    // the same border of a vector, stalls.
    order_.resize(offsets_.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [&](int a, int b) {
      const auto place = [&](int i) { return std::pair(offsets_[i] % g_.input_row(), offsets_[i]); };
      return place(a) < place(b);
    });
    backward_weights_ = context.allocate(std::int64_t{g_.kernel_height} * g_.out_channels * g_.padded_row());
    for (Worker& worker : workers_) {
      worker.data_gradient = context.allocate(g_.input_size());
      worker.starts.resize(std::int64_t{g_.cells()} * g_.taps() + 1);
    }
  }

  std::string implementation() const override { return relu_ ? "own pooled relu avx2" : "own pooled avx2"; }
  Desc output_desc() const override {
    return image_desc(context_.batch, out_, plain_output_ ? Tag::nchw : Tag::nhwc);
  }
  void bind(const Activation& output) override { output_ = output; }

  void load(Tensors<const float*> parameters) override {
    const int area = g_.kernel_height * g_.kernel_width;
    auto canonical = [&](int oc, int kh, int k) {  // k: column and channel
      return parameters.weight[(oc * g_.in_channels + k % g_.in_channels) * area + kh * g_.kernel_width +
                               k / g_.in_channels];
    };
    float* to = forward_weights_.data();
    for (const Block& block : blocks_) {
      for (int kh = 0; kh < g_.kernel_height; ++kh) {
        for (int k = 0; k < g_.row(); ++k) {
          for (int lane = 0; lane < block.vectors * kVector; ++lane) {
            const int oc = block.first * kVector + lane;
            *to++ = oc < g_.out_channels ? canonical(oc, kh, k) : 0.0f;
          }
        }
      }
    }
    if (has_bias_) std::copy_n(parameters.bias, g_.out_channels, bias_.data());
    if (!backward_weights_.data()) return;
    for (int kh = 0; kh < g_.kernel_height; ++kh) {
      for (int oc = 0; oc < g_.out_channels; ++oc) {
        float* row = backward_weights_.data() + (std::int64_t{kh} * g_.out_channels + oc) * g_.padded_row();
        for (int k = 0; k < g_.row(); ++k) row[k] = canonical(oc, kh, k);
      }
    }
  }

  void forward(const Step& step) override {
    input_.forward();
#pragma omp parallel for schedule(static) if (context_.threads > 1) num_threads(context_.threads)
    for (int t = 0; t < context_.threads; ++t) {
      for (int n = begin_of(t, step.samples); n < begin_of(t + 1, step.samples); ++n)
        forward_sample(workers_[t], n);
    }
    // What lies behind the samples stays as it was: finite, and without a gradient.
  }

  void backward(const Step& step, Tensors<float*> gradients) override {
    if (relu_) {
      const float* y = output_.data;
      float* dy = output_.gradient;
      for (std::int64_t i = 0; i < step.samples * out_.size(); ++i) dy[i] = y[i] > 0 ? dy[i] : 0.0f;
    }
#pragma omp parallel for schedule(static) if (context_.threads > 1) num_threads(context_.threads)
    for (int t = 0; t < context_.threads; ++t) {
      weight_gradient(workers_[t], step.samples, begin_of(t, g_.out_channels),
                      begin_of(t + 1, g_.out_channels), gradients);
    }
    if (!input_.view().gradient) return;
#pragma omp parallel for schedule(static) if (context_.threads > 1) num_threads(context_.threads)
    for (int t = 0; t < context_.threads; ++t) {
      for (int n = begin_of(t, step.samples); n < begin_of(t + 1, step.samples); ++n) {
        data_gradient(workers_[t], n);
      }
    }
    std::fill(input_.view().gradient + step.samples * g_.input_size(),
              input_.view().gradient + context_.batch * g_.input_size(), 0.0f);
    input_.backward();
  }

 private:
  struct Block {
    int first, vectors;
  };
  // What one thread needs for itself.
  struct Worker {
    Buffer maxima;
    Buffer data_gradient;
    std::vector<Entry> entries;
    std::vector<int> starts;  // of the entries of each cell and tap
  };

  int begin_of(int thread, int count) const {
    return static_cast<int>(std::int64_t{count} * thread / context_.threads);
  }
  const float* input_of(int n) const {
    return input_.view().data + n * g_.input_size();
  }
  const std::uint8_t* taps_of(int n) const {
    return taps_.data() + std::int64_t{n} * g_.cells() * g_.padded_out();
  }
  int cell_stride() const {
    return plain_output_ ? 1 : g_.out_channels;
  }
  int channel_stride() const {
    return plain_output_ ? g_.cells() : 1;
  }

  void forward_sample(Worker& worker, int n) {
    std::uint8_t* taps = taps_.data() + std::int64_t{n} * g_.cells() * g_.padded_out();
    const float* weights = forward_weights_.data();
    for (const Block& block : blocks_) {
      const int first = block.first * kVector;
      const auto run = block.vectors == 3   ? forward_block<3>
                       : block.vectors == 2 ? forward_block<2>
                                            : forward_block<1>;
      run(g_, input_of(n), offsets_.data(), weights, bias_.data() + first, worker.maxima.data() + first,
          taps + first);
      weights += std::int64_t{g_.kernel_height} * g_.row() * block.vectors * kVector;
    }
    float* to = output_.data + n * out_.size();
    float* from = worker.maxima.data();
    for (int i = 0; relu_ && i < g_.cells() * g_.padded_out(); ++i) from[i] = from[i] < 0 ? 0.0f : from[i];
    for (int cell = 0; cell < g_.cells(); ++cell, from += g_.padded_out()) {
      if (!plain_output_) {
        std::copy_n(from, g_.out_channels, to + cell * g_.out_channels);
      } else {
        for (int oc = 0; oc < g_.out_channels; ++oc) to[oc * g_.cells() + cell] = from[oc];
      }
    }
  }

  // For output channels [first, end), over all samples.
  void weight_gradient(Worker& worker, int samples, int first, int end, Tensors<float*> gradients) {
    const int row = g_.padded_row(), kernel = g_.kernel_height * row;
    float* sums = weight_gradient_.data();
    std::fill(sums + std::int64_t{first} * kernel, sums + std::int64_t{end} * kernel, 0.0f);
    if (has_bias_) std::fill(gradients.bias + first, gradients.bias + end, 0.0f);
    for (int n = 0; n < samples; ++n) {
      const float* x = input_of(n);
      const std::uint8_t* taps = taps_of(n);
      const float* dy = output_.gradient + n * out_.size();
      for (int oc = first; oc < end; ++oc) {
        Entry* const entries = worker.entries.data();
        const std::int32_t* offsets = offsets_.data();
        const float* from = dy + oc * channel_stride();
        const std::uint8_t* tap = taps + oc;
        int count = 0;
        for (int cell = 0; cell < g_.cells(); ++cell) {
          const float gradient = *from;
          entries[count] = {gradient, offsets[*tap]};
          count += gradient != 0;  // a ReLU behind the pooling leaves many zeros
          from += cell_stride();
          tap += g_.padded_out();
          offsets += g_.taps();
        }
        add_entries(x, entries, count, sums + std::int64_t{oc} * kernel);
      }
      if (has_bias_) add_bias_gradient(dy, first, end, gradients.bias);
    }
    const int area = g_.kernel_height * g_.kernel_width;
    for (int oc = first; oc < end; ++oc) {
      for (int kh = 0; kh < g_.kernel_height; ++kh) {
        const float* from = sums + std::int64_t{oc} * kernel + kh * row;
        for (int k = 0; k < g_.row(); ++k) {
          gradients.weight[(oc * g_.in_channels + k % g_.in_channels) * area + kh * g_.kernel_width +
                           k / g_.in_channels] = from[k];
        }
      }
    }
  }

  void add_bias_gradient(const float* dy, int first, int end, float* sums) const {
    for (int cell = 0; !plain_output_ && cell < g_.cells(); ++cell) {
      for (int oc = first; oc < end; ++oc) sums[oc] += dy[cell * g_.out_channels + oc];
    }
    for (int oc = first; plain_output_ && oc < end; ++oc) {
      float sum = 0;
      for (int cell = 0; cell < g_.cells(); ++cell) sum += dy[oc * g_.cells() + cell];
      sums[oc] += sum;
    }
  }

  // All rows under the kernel, in pieces that fit into the registers.
  void add_entries(const float* x, const Entry* entries, int count, float* sums) const {
    const int row = g_.padded_row();
    if (g_.row_vectors() == 1) {
      for (int kh = 0; kh < g_.kernel_height; kh += kMostAccumulators) {
        const int rows = std::min(g_.kernel_height - kh, kMostAccumulators);
        kOneVector[rows - 1](x + kh * g_.input_row(), g_.input_row(), entries, count, sums + kh * row, row);
      }
      return;
    }
    for (int kh = 0; kh < g_.kernel_height; ++kh) {
      for (int v = 0; v < g_.row_vectors(); v += kMostAccumulators) {
        const int vectors = std::min(g_.row_vectors() - v, kMostAccumulators);
        kOneRow[vectors - 1](x + kh * g_.input_row() + v * kVector, g_.input_row(), entries, count,
                             sums + kh * row + v * kVector, row);
      }
    }
  }

  void data_gradient(Worker& worker, int n) {
    sort_entries(worker, n);
    // A buffer of this thread's own: the last vector of a row reaches beyond it, with zeros, but a zero added
    // to what another thread is writing would undo that.
    float* const dx = worker.data_gradient.data();
    std::fill_n(dx, g_.input_size(), 0.0f);
    for (int kh = 0; kh < g_.kernel_height; ++kh) {
      const float* weights = backward_weights_.data() + std::int64_t{kh} * g_.out_channels * g_.padded_row();
      for (int position : order_) {
        const int start = worker.starts[position], count = worker.starts[position + 1] - start;
        if (count == 0) continue;
        const Entry* entries = worker.entries.data() + start;
        float* to = dx + offsets_[position] + kh * g_.input_row();
        for (int v = 0; v < g_.row_vectors(); v += kMostAccumulators) {
          const int vectors = std::min(g_.row_vectors() - v, kMostAccumulators);
          kAddWeighted[vectors - 1](weights + v * kVector, entries, count, to + v * kVector);
        }
      }
    }
    std::copy_n(dx, g_.input_size(), input_.view().gradient + n * g_.input_size());
  }

  // Entries grouped by cell and tap; `where` points to the channel's row in backward_weights_.
  void sort_entries(Worker& worker, int n) const {
    const std::uint8_t* taps = taps_of(n);
    const float* dy = output_.gradient + n * out_.size();
    int* start = worker.starts.data();
    int next = 0;
    for (int cell = 0; cell < g_.cells(); ++cell, taps += g_.padded_out(), start += g_.taps()) {
      const float* gradients = dy + cell * cell_stride();
      std::array<int, 256> place{};
      for (int oc = 0; oc < g_.out_channels; ++oc) place[taps[oc]] += gradients[oc * channel_stride()] != 0;
      for (int tap = 0; tap < g_.taps(); ++tap) {
        start[tap] = next;
        next += std::exchange(place[tap], next);
      }
      for (int oc = 0; oc < g_.out_channels; ++oc) {
        const float gradient = gradients[oc * channel_stride()];
        if (gradient != 0) worker.entries[place[taps[oc]]++] = {gradient, oc * g_.padded_row()};
      }
    }
    *start = next;
  }

  Context& context_;
  Adapter input_;
  const Shape out_;
  const bool relu_;
  const bool plain_output_;
  const bool has_bias_;
  const Geometry g_;
  std::vector<Block> blocks_;
  std::vector<std::int32_t> offsets_;  // Geometry::offset of each cell and tap
  std::vector<int> order_;             // of cells and taps in which the data gradient visits them
  Activation output_;
  Buffer forward_weights_;   // block, kernel row, column and input channel, output channel
  Buffer backward_weights_;  // kernel row, output channel, column and input channel
  Buffer weight_gradient_;   // output channel, kernel row, column and input channel
  Buffer bias_;
  std::vector<std::uint8_t> taps_;  // the winning tap: sample, cell, output channel
  std::vector<Worker> workers_;
};

}  // namespace

bool can_pool_conv(const Conv2d& conv, const MaxPool2d& pool) {
  return conv.stride == 1 && conv.padding == 0 && conv.groups == 1 && pool.padding == 0 &&
         pool.stride == pool.kernel && pool.kernel <= 15;  // a tap fits into a byte
}

std::unique_ptr<Node> make_pooled_conv(Context& context, const Conv2d& conv, const MaxPool2d& pool,
                                       const Activation& input, Shape out, bool relu, bool plain_output) {
  CONVOY_CHECK(can_pool_conv(conv, pool));
  return std::make_unique<PooledConv>(context, conv, pool.kernel, input, out, relu, plain_output);
}

}  // namespace convoy::cpu
