// The CPU back end: oneDNN, and kernels of our own where it is slow. fp32. See README.md for what is whose.
//
// A Backend instance computes with `threads` OpenMP threads of the thread that calls it; several instances in
// several threads do not share them. Threads wait passively only if the process was started so: see openmp.h.
#pragma once

#include <memory>

#include "kernels/graph/backend.h"

namespace convoy {

struct CpuOptions {
  int threads = 1;
  // Time the candidates for each convolution while compiling (some tenths of a second a batch size) instead
  // of taking the one that is usually best. What wins is recorded in the choices and may differ from run to
  // run.
  bool measure = false;
};

// kUnsupported, with the reason, when oneDNN cannot be used here.
Result<std::unique_ptr<Backend>> make_cpu_backend(const CpuOptions& options);

}  // namespace convoy
