#include "kernels/bench/bench_step.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <vector>

#include "kernels/reference/optimiser.h"
#include "messages/base/sampling.h"

namespace convoy {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double peak_rss_mb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::stod(line.substr(6)) / 1024;
  }
  return 0;
}

// Samples that look like nothing, enough of them that a step finds its batch outside the nearest caches.
struct MadeUp {
  std::vector<float> images;
  std::vector<std::int32_t> labels;
};
MadeUp make_up(const Graph& graph, int batch) {
  MadeUp data;
  const std::size_t samples = static_cast<std::size_t>(batch) * 8;
  data.images.resize(samples * graph.input_shape().size());
  data.labels.resize(samples);
  for (std::size_t i = 0; i < data.images.size(); ++i) {
    data.images[i] = static_cast<float>(2 * to_unit(random_word(1, 1, i)) - 1);
  }
  for (std::size_t i = 0; i < samples; ++i) {
    data.labels[i] =
        static_cast<std::int32_t>(random_word(1, 2, i) % static_cast<std::uint64_t>(graph.classes()));
  }
  return data;
}

template <class T>
Result<StepBench> bench(Backend& backend, const Graph& graph, const StepBenchOptions& options,
                        const Batch& data, KernelChoices& choices) {
  StepBench bench;
  auto start = std::chrono::steady_clock::now();
  auto compiled = backend.compile(graph, {.layers = graph.all_layers(), .batch = options.batch}, choices);
  if (!compiled) return compiled.error();
  bench.compile_ms = seconds_since(start) * 1e3;
  Plan& plan = **compiled;

  std::vector<T> parameters(graph.parameter_count()), velocity(parameters.size()),
      gradients(parameters.size());
  initialise(graph, 1, 0, std::span<T>(parameters));
  const SgdStep sgd{.learning_rate = 0.001, .momentum = 0.9, .samples = options.batch};
  const std::size_t batch = static_cast<std::size_t>(options.batch), sample = graph.input_shape().size();
  const std::size_t batches = data.labels.size() / batch;
  std::size_t next = 0;
  auto step = [&] {
    const std::size_t first = next++ % batches * batch;
    plan.load_parameters(0, to_bytes(parameters)).wait();
    plan.begin({data.images.subspan(first * sample, batch * sample), data.labels.subspan(first, batch)});
    plan.forward_all();
    plan.backward_all(to_bytes(gradients), [&](int, ParameterRange range, const StreamEvent& event) {
      event.wait();
      sgd_step(sgd, std::span<const T>(gradients).subspan(range.offset, range.count),
               std::span<T>(parameters).subspan(range.offset, range.count),
               std::span<T>(velocity).subspan(range.offset, range.count));
    });
    plan.result();
  };
  // Warm up, and find how many steps fill a round.
  start = std::chrono::steady_clock::now();
  int steps = 0;
  do {
    step();
    ++steps;
  } while (steps < 3 || seconds_since(start) < options.round_s / 2);
  const int steps_a_round = std::max(3, static_cast<int>(options.round_s * steps / seconds_since(start)));

  std::vector<double> ms;
  for (int round = 0; round < options.rounds; ++round) {
    start = std::chrono::steady_clock::now();
    for (int i = 0; i < steps_a_round; ++i) step();
    ms.push_back(seconds_since(start) * 1e3 / steps_a_round);
  }
  std::nth_element(ms.begin(), ms.begin() + ms.size() / 2, ms.end());
  bench.ms_per_step = ms[ms.size() / 2];
  bench.samples_per_s = options.batch / bench.ms_per_step * 1e3;
  bench.gflops = graph.step_flops() * bench.samples_per_s / 1e9;
  bench.peak_rss_mb = peak_rss_mb();
  return bench;
}

}  // namespace

Result<StepBench> bench_step(Backend& backend, const Graph& graph, const StepBenchOptions& options,
                             KernelChoices& choices) {
  if (options.batch < 1 || options.rounds < 1) {
    return Error{ErrorCode::kUsage, "a benchmark needs at least one sample a step and one round"};
  }
  MadeUp made_up;
  Batch data = options.data;
  if (data.labels.empty()) {
    made_up = make_up(graph, options.batch);
    data = {made_up.images, made_up.labels};
  }
  if (data.labels.size() < static_cast<std::size_t>(options.batch)) {
    return Error{ErrorCode::kUsage,
                 "the data set has fewer samples than the batch, " + std::to_string(options.batch)};
  }
  return backend.scalar() == Scalar::kF32 ? bench<float>(backend, graph, options, data, choices)
                                          : bench<double>(backend, graph, options, data, choices);
}

}  // namespace convoy
