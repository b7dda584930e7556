// The optimiser as functions on spans: what a P-slave does to a chunk. fp32 and fp64.
//
// No state, no allocation, any thread. Element by element, without contraction or reordering: the result for
// an element does not depend on where a tensor is cut, so any chunking gives the same bits.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/graph/graph.h"

namespace convoy {

// One application of a gradient SUM g over `samples` samples that stands for the share `weight` of a clock:
//
//   ghat = g / samples + weight_decay * w
//   v   <- mu^weight * v + (1 - mu^weight) / (1 - mu) * ghat
//   w   <- w - learning_rate * weight * v                               (plain)
//   w   <- w - learning_rate * weight * ((1 - mu^weight) / (1 - mu) * ghat + mu^weight * v)   (Nesterov)
//   average <- d^weight * average + (1 - d^weight) * w                  (when an average is kept)
//
// weight = 1 (bsp: samples of the whole clock) is PyTorch's SGD. Otherwise weight = samples / B; a
// delay-aware factor goes into learning_rate.
struct SgdStep {
  double learning_rate = 0;
  double momentum = 0;  // mu, in [0, 1)
  double weight_decay = 0;
  bool nesterov = false;
  double average_decay = 0;  // d, in [0, 1); looked at only when `average` is given
  std::int64_t samples = 1;  // > 0
  double weight = 1;         // > 0
};

// REQUIRES: w and gradient equally long; velocity as long or, when momentum is 0, possibly empty; average as
// long, or empty for none. No two of them overlap.
void sgd_step(const SgdStep& step, std::span<const float> gradient, std::span<float> w,
              std::span<float> velocity, std::span<float> average = {});
void sgd_step(const SgdStep& step, std::span<const double> gradient, std::span<double> w,
              std::span<double> velocity, std::span<double> average = {});

// Where momentum alone will have carried w when `delay` clocks' worth of steps of share `weight` each have
// been taken:
//
//   out = w - learning_rate * weight * mu^weight (1 - mu^delay) / (1 - mu^weight) * v
//
// A gradient taken there is due where it will be applied (look-ahead: Hakimi et al. 2019, DANA). `out` may be
// w. REQUIRES: all equally long; weight > 0, delay >= 0.
void look_ahead(const SgdStep& step, double delay, std::span<const float> w, std::span<const float> velocity,
                std::span<float> out);
void look_ahead(const SgdStep& step, double delay, std::span<const double> w,
                std::span<const double> velocity, std::span<double> out);

// out = y + factor * x. `out` may be y. REQUIRES: all equally long.
void add_scaled(double factor, std::span<const float> x, std::span<const float> y, std::span<float> out);
void add_scaled(double factor, std::span<const double> x, std::span<const double> y, std::span<double> out);

// out = parts[0] + parts[1] + ..., added in this order for every element: bsp's sum in member order. One
// pass. `out` may be parts[0] itself; otherwise nothing overlaps. REQUIRES: at least one part, all as long as
// `out`.
void sum_in_order(std::span<float> out, std::span<const std::span<const float>> parts);
void sum_in_order(std::span<double> out, std::span<const std::span<const double>> parts);

// Fills the run of flat [offset, offset + out.size()) with starting values: weights and biases uniform in
// +-1/sqrt(fan_in), PyTorch's default. Each element is a function of (seed, tensor, element), so any chunk
// can be made anywhere. The fp32 values are the fp64 ones rounded.
void initialise(const Graph& graph, std::uint64_t seed, std::int64_t offset, std::span<float> out);
void initialise(const Graph& graph, std::uint64_t seed, std::int64_t offset, std::span<double> out);

}  // namespace convoy
