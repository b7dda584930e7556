#include "kernels/reference/optimiser.h"

#include <algorithm>
#include <cmath>

#include "messages/base/check.h"
#include "messages/base/sampling.h"

namespace convoy {
namespace {

template <class T>
struct Factors {
  T per_sample, decay, keep, take, rate, keep_average, take_average;
};

template <class T>
Factors<T> factors_of(const SgdStep& step) {
  const double mu = step.momentum, keep = std::pow(mu, step.weight);
  // At weight 1 the quotient is 1, but not always to the last bit.
  const double take = step.weight == 1 ? 1.0 : (1 - keep) / (1 - mu);
  const double keep_average = std::pow(step.average_decay, step.weight);
  return {static_cast<T>(1.0 / static_cast<double>(step.samples)),
          static_cast<T>(step.weight_decay),
          static_cast<T>(keep),
          static_cast<T>(take),
          static_cast<T>(step.learning_rate * step.weight),
          static_cast<T>(keep_average),
          static_cast<T>(1 - keep_average)};
}

// One pass over memory. The branches are on template arguments, so that each loop vectorises.
template <class T, bool kMomentum, bool kNesterov, bool kAverage>
void step_loop(const Factors<T> f, std::int64_t count, const T* __restrict g, T* __restrict w,
               T* __restrict v, T* __restrict average) {
  for (std::int64_t i = 0; i < count; ++i) {
    const T ghat = g[i] * f.per_sample + f.decay * w[i];
    T direction = f.take * ghat;
    if constexpr (kMomentum) {
      v[i] = f.keep * v[i] + f.take * ghat;
      direction = kNesterov ? f.take * ghat + f.keep * v[i] : v[i];
    }
    w[i] -= f.rate * direction;
    if constexpr (kAverage) average[i] = f.keep_average * average[i] + f.take_average * w[i];
  }
}

template <class T>
void step_any(const SgdStep& step, std::span<const T> g, std::span<T> w, std::span<T> v,
              std::span<T> average) {
  CONVOY_CHECK(step.samples > 0 && step.weight > 0, step.samples, " ", step.weight);
  CONVOY_CHECK(step.momentum >= 0 && step.momentum < 1, step.momentum);
  CONVOY_CHECK(average.empty() || (step.average_decay >= 0 && step.average_decay < 1), step.average_decay);
  CONVOY_CHECK(g.size() == w.size(), g.size(), " ", w.size());
  CONVOY_CHECK(v.size() == w.size() || (v.empty() && step.momentum == 0), v.size(), " ", w.size());
  CONVOY_CHECK(average.empty() || average.size() == w.size(), average.size(), " ", w.size());
  const Factors<T> f = factors_of<T>(step);
  const auto count = static_cast<std::int64_t>(w.size());
  auto run = [&](auto loop) { loop(f, count, g.data(), w.data(), v.data(), average.data()); };
  const bool averaged = !average.empty();
  if (step.momentum == 0) {
    averaged ? run(step_loop<T, false, false, true>) : run(step_loop<T, false, false, false>);
  } else if (step.nesterov) {
    averaged ? run(step_loop<T, true, true, true>) : run(step_loop<T, true, true, false>);
  } else {
    averaged ? run(step_loop<T, true, false, true>) : run(step_loop<T, true, false, false>);
  }
}

template <class T>
void look_ahead_as(const SgdStep& step, double delay, std::span<const T> w, std::span<const T> v,
                   std::span<T> out) {
  CONVOY_CHECK(w.size() == v.size() && w.size() == out.size(), w.size(), " ", v.size(), " ", out.size());
  CONVOY_CHECK(step.weight > 0 && delay >= 0, step.weight, " ", delay);
  const double mu = step.momentum, keep = std::pow(mu, step.weight);
  const double steps = mu == 0 ? 0 : keep * (1 - std::pow(mu, delay)) / (1 - keep);
  const T factor = static_cast<T>(step.learning_rate * step.weight * steps);
  for (std::size_t i = 0; i < w.size(); ++i) out[i] = w[i] - factor * v[i];
}

template <class T>
void add_scaled_as(double factor, std::span<const T> x, std::span<const T> y, std::span<T> out) {
  CONVOY_CHECK(x.size() == y.size() && x.size() == out.size(), x.size(), " ", y.size(), " ", out.size());
  const T f = static_cast<T>(factor);
  for (std::size_t i = 0; i < x.size(); ++i) out[i] = y[i] + f * x[i];
}

template <class T>
void sum_any(std::span<T> out, std::span<const std::span<const T>> parts) {
  CONVOY_CHECK(!parts.empty());
  for (const auto& part : parts) CONVOY_CHECK(part.size() == out.size(), part.size(), " ", out.size());
  // Block by block, so that the running sum stays in the cache.
  constexpr std::size_t kBlock = 2048;
  for (std::size_t begin = 0; begin < out.size(); begin += kBlock) {
    const std::size_t end = std::min(out.size(), begin + kBlock);
    T* to = out.data();
    if (parts[0].data() != to) std::copy(parts[0].begin() + begin, parts[0].begin() + end, to + begin);
    for (std::size_t p = 1; p < parts.size(); ++p) {
      const T* from = parts[p].data();
      for (std::size_t i = begin; i < end; ++i) to[i] += from[i];
    }
  }
}

template <class T>
void initialise_any(const Graph& graph, std::uint64_t seed, std::int64_t offset, std::span<T> out) {
  const std::int64_t end = offset + static_cast<std::int64_t>(out.size());
  CONVOY_CHECK(offset >= 0 && end <= graph.parameter_count(), offset, " ", end);
  for (std::size_t t = 0; t < graph.parameters().size(); ++t) {
    const Tensor& tensor = graph.parameters()[t];
    const double bound = 1.0 / std::sqrt(static_cast<double>(tensor.fan_in));
    const std::int64_t first = std::max(offset, tensor.offset), last = std::min(end, tensor.range().end());
    for (std::int64_t i = first; i < last; ++i) {
      const double unit = to_unit(random_word(seed, t, static_cast<std::uint64_t>(i - tensor.offset)));
      out[i - offset] = static_cast<T>((2 * unit - 1) * bound);
    }
  }
}

}  // namespace

void sgd_step(const SgdStep& step, std::span<const float> gradient, std::span<float> w,
              std::span<float> velocity, std::span<float> average) {
  step_any<float>(step, gradient, w, velocity, average);
}
void sgd_step(const SgdStep& step, std::span<const double> gradient, std::span<double> w,
              std::span<double> velocity, std::span<double> average) {
  step_any<double>(step, gradient, w, velocity, average);
}

void look_ahead(const SgdStep& step, double delay, std::span<const float> w, std::span<const float> velocity,
                std::span<float> out) {
  look_ahead_as(step, delay, w, velocity, out);
}
void look_ahead(const SgdStep& step, double delay, std::span<const double> w,
                std::span<const double> velocity, std::span<double> out) {
  look_ahead_as(step, delay, w, velocity, out);
}

void add_scaled(double factor, std::span<const float> x, std::span<const float> y, std::span<float> out) {
  add_scaled_as(factor, x, y, out);
}
void add_scaled(double factor, std::span<const double> x, std::span<const double> y, std::span<double> out) {
  add_scaled_as(factor, x, y, out);
}

void sum_in_order(std::span<float> out, std::span<const std::span<const float>> parts) {
  sum_any<float>(out, parts);
}
void sum_in_order(std::span<double> out, std::span<const std::span<const double>> parts) {
  sum_any<double>(out, parts);
}

void initialise(const Graph& graph, std::uint64_t seed, std::int64_t offset, std::span<float> out) {
  initialise_any<float>(graph, seed, offset, out);
}
void initialise(const Graph& graph, std::uint64_t seed, std::int64_t offset, std::span<double> out) {
  initialise_any<double>(graph, seed, offset, out);
}

}  // namespace convoy
