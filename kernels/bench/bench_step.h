// `convoy bench step`: how fast a back end trains when nothing is in its way. Forward, backward and update
// with momentum, data in memory.
//
// Runs in the calling thread, which becomes the back end's thread.
#pragma once

#include <cstdint>

#include "kernels/graph/backend.h"
#include "kernels/graph/graph.h"
#include "messages/base/result.h"

namespace convoy {

struct StepBench {
  double samples_per_s = 0;  // median of the rounds
  double ms_per_step = 0;    // median of the rounds
  double gflops = 0;         // forward and backward, as the graph counts them
  double peak_rss_mb = 0;    // of the process
  double compile_ms = 0;
};

struct StepBenchOptions {
  int batch = 64;
  int rounds = 5;
  double round_s = 0.5;  // at least so long, at least three steps
  // Samples to train on; made up when empty.
  Batch data = {};
};

Result<StepBench> bench_step(Backend& backend, const Graph& graph, const StepBenchOptions& options,
                             KernelChoices& choices);

}  // namespace convoy
