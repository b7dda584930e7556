#include "kernels/reference/layers.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace convoy::reference {
namespace {

// Output columns (or rows) whose window, at kernel offset k, reads inside an input of `size`.
struct Inside {
  int begin, end;
};
Inside inside(int k, int stride, int padding, int size, int out) {
  // in = o * stride - padding + k, 0 <= in < size
  const int low = padding - k;
  const int begin = low <= 0 ? 0 : (low + stride - 1) / stride;
  const int high = size - 1 + padding - k;
  const int end = high < 0 ? 0 : std::min(out, high / stride + 1);
  return {begin, std::max(begin, end)};
}

// Calls row(oc, ic, kh, kw, oh, ih, columns) for every row of multiplications of a convolution of one sample.
template <class Row>
void for_each_row(const Conv2d& op, Shape in, Shape out, Row row) {
  for (int oc = 0; oc < out.channels; ++oc) {
    for (int ic = 0; ic < in.channels; ++ic) {
      for (int kh = 0; kh < op.kernel_height; ++kh) {
        const Inside rows = inside(kh, op.stride, op.padding, in.height, out.height);
        for (int kw = 0; kw < op.kernel_width; ++kw) {
          const Inside columns = inside(kw, op.stride, op.padding, in.width, out.width);
          for (int oh = rows.begin; oh < rows.end; ++oh) {
            row(oc, ic, kh, kw, oh, oh * op.stride - op.padding + kh, columns);
          }
        }
      }
    }
  }
}

// Sums in eight lanes: quick enough to train with, and closer than one running sum.
template <class T>
T dot(const T* a, const T* b, std::int64_t count) {
  T lanes[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (int lane = 0; lane < 8; ++lane) lanes[lane] += a[i + lane] * b[i + lane];
  }
  for (; i < count; ++i) lanes[0] += a[i] * b[i];
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

}  // namespace

template <class T>
void forward(const Conv2d& op, Shape in, Shape out, int n, const T* x, const T* weight, const T* bias, T* y) {
  const std::int64_t in_plane = std::int64_t{in.height} * in.width,
                     out_plane = std::int64_t{out.height} * out.width;
  for (int s = 0; s < n; ++s, x += in.size(), y += out.size()) {
    for (int oc = 0; oc < out.channels; ++oc) {
      std::fill_n(y + oc * out_plane, out_plane, bias ? bias[oc] : T{0});
    }
    for_each_row(op, in, out, [&](int oc, int ic, int kh, int kw, int oh, int ih, Inside columns) {
      const T w =
          weight[((std::int64_t{oc} * in.channels + ic) * op.kernel_height + kh) * op.kernel_width + kw];
      const T* from = x + ic * in_plane + std::int64_t{ih} * in.width - op.padding + kw;
      T* to = y + oc * out_plane + std::int64_t{oh} * out.width;
      for (int ow = columns.begin; ow < columns.end; ++ow) to[ow] += w * from[ow * op.stride];
    });
  }
}

template <class T>
void backward(const Conv2d& op, Shape in, Shape out, int n, const T* x, const T* weight, const T* dy, T* dx,
              T* dweight, T* dbias) {
  const std::int64_t in_plane = std::int64_t{in.height} * in.width,
                     out_plane = std::int64_t{out.height} * out.width;
  const std::int64_t weights = std::int64_t{out.channels} * in.channels * op.kernel_height * op.kernel_width;
  std::fill_n(dweight, weights, T{0});
  if (dbias) std::fill_n(dbias, out.channels, T{0});
  if (dx) std::fill_n(dx, n * in.size(), T{0});
  for (int s = 0; s < n; ++s, x += in.size(), dy += out.size()) {
    for (int oc = 0; dbias && oc < out.channels; ++oc) {
      T sum = 0;
      for (std::int64_t i = 0; i < out_plane; ++i) sum += dy[oc * out_plane + i];
      dbias[oc] += sum;
    }
    for_each_row(op, in, out, [&](int oc, int ic, int kh, int kw, int oh, int ih, Inside columns) {
      const std::int64_t w =
          ((std::int64_t{oc} * in.channels + ic) * op.kernel_height + kh) * op.kernel_width + kw;
      const std::int64_t row = ic * in_plane + std::int64_t{ih} * in.width - op.padding + kw;
      const T* from = dy + oc * out_plane + std::int64_t{oh} * out.width;
      T sum = 0;
      for (int ow = columns.begin; ow < columns.end; ++ow) sum += from[ow] * x[row + ow * op.stride];
      dweight[w] += sum;
      if (dx) {
        for (int ow = columns.begin; ow < columns.end; ++ow) dx[row + ow * op.stride] += from[ow] * weight[w];
      }
    });
    if (dx) dx += in.size();
  }
}

template <class T>
void forward(const Linear&, Shape in, Shape out, int n, const T* x, const T* weight, const T* bias, T* y) {
  for (int s = 0; s < n; ++s) {
    for (int o = 0; o < out.channels; ++o) {
      *y++ = dot(x + s * in.size(), weight + o * in.size(), in.size()) + (bias ? bias[o] : T{0});
    }
  }
}

template <class T>
void backward(const Linear&, Shape in, Shape out, int n, const T* x, const T* weight, const T* dy, T* dx,
              T* dweight, T* dbias) {
  std::fill_n(dweight, in.size() * out.size(), T{0});
  if (dbias) std::fill_n(dbias, out.size(), T{0});
  if (dx) std::fill_n(dx, n * in.size(), T{0});
  for (int s = 0; s < n; ++s) {
    for (int o = 0; o < out.channels; ++o) {
      const T g = dy[s * out.size() + o];
      if (dbias) dbias[o] += g;
      for (std::int64_t i = 0; i < in.size(); ++i) dweight[o * in.size() + i] += g * x[s * in.size() + i];
      if (dx) {
        for (std::int64_t i = 0; i < in.size(); ++i) dx[s * in.size() + i] += g * weight[o * in.size() + i];
      }
    }
  }
}

template <class T>
void forward(const MaxPool2d& op, Shape in, Shape out, int n, const T* x, T* y, std::int32_t* argmax) {
  const std::int64_t planes = std::int64_t{n} * in.channels;
  for (std::int64_t p = 0; p < planes; ++p, x += std::int64_t{in.height} * in.width) {
    for (int oh = 0; oh < out.height; ++oh) {
      for (int ow = 0; ow < out.width; ++ow) {
        std::int32_t best = -1;
        for (int kh = 0; kh < op.kernel; ++kh) {
          for (int kw = 0; kw < op.kernel; ++kw) {
            const int ih = oh * op.stride - op.padding + kh, iw = ow * op.stride - op.padding + kw;
            if (ih < 0 || iw < 0 || ih >= in.height || iw >= in.width) continue;
            const std::int32_t here = ih * in.width + iw;
            if (best < 0 || x[here] > x[best]) best = here;
          }
        }
        *y++ = x[best];
        *argmax++ = best;
      }
    }
  }
}

template <class T>
void backward(const MaxPool2d&, Shape in, Shape out, int n, const T* dy, const std::int32_t* argmax, T* dx) {
  const std::int64_t planes = std::int64_t{n} * in.channels, in_plane = std::int64_t{in.height} * in.width;
  std::fill_n(dx, planes * in_plane, T{0});
  for (std::int64_t p = 0; p < planes; ++p, dx += in_plane) {
    for (int i = 0; i < out.height * out.width; ++i) dx[*argmax++] += *dy++;
  }
}

template <class T>
void forward(const AvgPool2d& op, Shape in, Shape out, int n, const T* x, T* y) {
  const std::int64_t planes = std::int64_t{n} * in.channels;
  const T scale = T{1} / static_cast<T>(op.kernel * op.kernel);
  for (std::int64_t p = 0; p < planes; ++p, x += std::int64_t{in.height} * in.width) {
    for (int oh = 0; oh < out.height; ++oh) {
      for (int ow = 0; ow < out.width; ++ow) {
        T sum = 0;
        for (int kh = 0; kh < op.kernel; ++kh) {
          for (int kw = 0; kw < op.kernel; ++kw) {
            const int ih = oh * op.stride - op.padding + kh, iw = ow * op.stride - op.padding + kw;
            if (ih >= 0 && iw >= 0 && ih < in.height && iw < in.width) sum += x[ih * in.width + iw];
          }
        }
        *y++ = sum * scale;
      }
    }
  }
}

template <class T>
void backward(const AvgPool2d& op, Shape in, Shape out, int n, const T* dy, T* dx) {
  const std::int64_t planes = std::int64_t{n} * in.channels, in_plane = std::int64_t{in.height} * in.width;
  const T scale = T{1} / static_cast<T>(op.kernel * op.kernel);
  std::fill_n(dx, planes * in_plane, T{0});
  for (std::int64_t p = 0; p < planes; ++p, dx += in_plane) {
    for (int oh = 0; oh < out.height; ++oh) {
      for (int ow = 0; ow < out.width; ++ow) {
        const T g = *dy++ * scale;
        for (int kh = 0; kh < op.kernel; ++kh) {
          for (int kw = 0; kw < op.kernel; ++kw) {
            const int ih = oh * op.stride - op.padding + kh, iw = ow * op.stride - op.padding + kw;
            if (ih >= 0 && iw >= 0 && ih < in.height && iw < in.width) dx[ih * in.width + iw] += g;
          }
        }
      }
    }
  }
}

template <class T>
void forward(const Relu&, std::int64_t count, const T* x, T* y) {
  // Written so that a NaN goes through: a diverged run must show.
  for (std::int64_t i = 0; i < count; ++i) y[i] = x[i] < T{0} ? T{0} : x[i];
}

template <class T>
void backward(const Relu&, std::int64_t count, const T* y, const T* dy, T* dx) {
  for (std::int64_t i = 0; i < count; ++i) dx[i] = y[i] > T{0} ? dy[i] : T{0};
}

template <class T>
LossResult forward(const SoftmaxCrossEntropy&, int classes, std::span<const std::int32_t> labels, const T* x,
                   T* probabilities) {
  LossResult result;
  for (std::int32_t label : labels) {
    const auto best = std::max_element(x, x + classes) - x;
    T sum = 0;
    for (int c = 0; c < classes; ++c) {
      probabilities[c] = std::exp(x[c] - x[best]);
      sum += probabilities[c];
    }
    for (int c = 0; c < classes; ++c) probabilities[c] /= sum;
    result.sum += static_cast<double>(std::log(sum) + x[best] - x[label]);
    result.correct += best == label;
    x += classes;
    probabilities += classes;
  }
  return result;
}

template <class T>
void backward(const SoftmaxCrossEntropy&, int classes, std::span<const std::int32_t> labels,
              const T* probabilities, T* dx) {
  for (std::int32_t label : labels) {
    for (int c = 0; c < classes; ++c) dx[c] = probabilities[c] - (c == label ? T{1} : T{0});
    probabilities += classes;
    dx += classes;
  }
}

#define CONVOY_INSTANTIATE(T)                                                                              \
  template void forward<T>(const Conv2d&, Shape, Shape, int, const T*, const T*, const T*, T*);            \
  template void backward<T>(const Conv2d&, Shape, Shape, int, const T*, const T*, const T*, T*, T*, T*);   \
  template void forward<T>(const Linear&, Shape, Shape, int, const T*, const T*, const T*, T*);            \
  template void backward<T>(const Linear&, Shape, Shape, int, const T*, const T*, const T*, T*, T*, T*);   \
  template void forward<T>(const MaxPool2d&, Shape, Shape, int, const T*, T*, std::int32_t*);              \
  template void backward<T>(const MaxPool2d&, Shape, Shape, int, const T*, const std::int32_t*, T*);       \
  template void forward<T>(const AvgPool2d&, Shape, Shape, int, const T*, T*);                             \
  template void backward<T>(const AvgPool2d&, Shape, Shape, int, const T*, T*);                            \
  template void forward<T>(const Relu&, std::int64_t, const T*, T*);                                       \
  template void backward<T>(const Relu&, std::int64_t, const T*, const T*, T*);                            \
  template LossResult forward<T>(const SoftmaxCrossEntropy&, int, std::span<const std::int32_t>, const T*, \
                                 T*);                                                                      \
  template void backward<T>(const SoftmaxCrossEntropy&, int, std::span<const std::int32_t>, const T*, T*)
CONVOY_INSTANTIATE(float);
CONVOY_INSTANTIATE(double);

}  // namespace convoy::reference
