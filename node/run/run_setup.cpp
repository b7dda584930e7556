#include "node/run/run_setup.h"

#include <algorithm>
#include <cmath>

#include "config/model_file.h"
#include "config/run_file.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/reference/reference_backend.h"

namespace convoy {
namespace {

SyncMode mode_of(config::SyncMode mode) {
  switch (mode) {
    case config::SyncMode::kBsp:
      return SyncMode::kBsp;
    case config::SyncMode::kDsp:
      return SyncMode::kDsp;
    case config::SyncMode::kDynamic:
      return SyncMode::kDynamic;
    case config::SyncMode::kAsp:
      return SyncMode::kAsp;
  }
  return SyncMode::kDsp;
}

// fp64 end to end when the run's own W-slaves compute in it.
Scalar scalar_of_run(const config::RunOptions& options) {
  const auto& devices = options.local.w_slaves;
  const bool f64 = !devices.empty() && std::all_of(devices.begin(), devices.end(), [](const auto& d) {
    return d.device.kind == config::DeviceKind::kReference64;
  });
  return f64 ? Scalar::kF64 : Scalar::kF32;
}

}  // namespace

Result<RunSetup> make_setup(const config::RunOptions& options) {
  Result<Graph> graph = config::make_graph(options.model);
  if (!graph) return graph.error();
  ChunkTable chunks = make_chunks(*graph);
  return RunSetup{options, std::move(*graph), std::move(chunks), scalar_of_run(options)};
}

Result<RunSetup> parse_setup(const std::string& run_text) {
  Result<config::RunFile> file = config::parse_run_file(run_text, "the run as the Master sent it");
  if (!file) return file.error();
  return make_setup(file->options);
}

SyncOptions protocol_options(const config::RunOptions& options, std::int64_t sample_count) {
  SyncOptions sync;
  sync.mode = mode_of(options.sync.mode);
  sync.bound = options.sync.bound.value_or(kNoBound);
  sync.bound_low = sync.mode == SyncMode::kDynamic ? options.sync.bound_low : sync.bound;
  sync.pull_ahead = options.sync.pull_ahead.value_or(true) && sync.bound > 0;
  sync.pull_ahead_alone = !options.sync.pull_ahead.has_value();
  sync.batch = options.train.batch;
  sync.failure_timeout = from_seconds(options.cluster.failure_timeout_s);
  sync.sample_count = sample_count;
  sync.end_position =
      static_cast<std::int64_t>(std::llround(options.train.epochs * static_cast<double>(sample_count)));
  return sync;
}

Schedule schedule_of(const config::RunOptions& options) {
  const config::ScheduleOptions& from = options.train.schedule;
  Schedule schedule;
  switch (from.kind) {
    case config::ScheduleKind::kConstant:
      schedule.kind = ScheduleKind::kConstant;
      break;
    case config::ScheduleKind::kStep:
      schedule.kind = ScheduleKind::kStep;
      break;
    case config::ScheduleKind::kCosine:
      schedule.kind = ScheduleKind::kCosine;
      break;
    case config::ScheduleKind::kLinear:
      schedule.kind = ScheduleKind::kLinear;
      break;
    case config::ScheduleKind::kOneCycle:
      schedule.kind = ScheduleKind::kOneCycle;
      break;
  }
  schedule.lr = options.train.lr;
  schedule.warmup_fraction = from.warmup;
  schedule.start_factor = from.warmup_from;
  schedule.final_factor = from.final;
  // The file counts steps in epochs, the schedule in shares of what follows the warm-up.
  schedule.step_fraction = from.step_epochs / (options.train.epochs * (1 - from.warmup));
  schedule.step_factor = from.step_factor;
  return schedule;
}

Encoding encoding_of(Scalar scalar) {
  return scalar == Scalar::kF64 ? Encoding::kF64 : Encoding::kF32;
}

Result<std::unique_ptr<Backend>> make_backend(const config::WSlaveOptions& device, Scalar scalar,
                                              bool measure) {
  std::unique_ptr<Backend> backend;
  switch (device.device.kind) {
    case config::DeviceKind::kCpu: {
      auto cpu = make_cpu_backend({.threads = device.threads, .measure = measure});
      if (!cpu) return cpu.error();
      backend = std::move(*cpu);
      break;
    }
    case config::DeviceKind::kReference:
      backend = make_reference_backend(Scalar::kF32);
      break;
    case config::DeviceKind::kReference64:
      backend = make_reference_backend(Scalar::kF64);
      break;
    case config::DeviceKind::kCuda:
      return Error{ErrorCode::kUnsupported, "This build has no CUDA back end yet: device " +
                                                config::to_string(device.device) +
                                                " cannot be used; take device = \"cpu\"."};
  }
  if (backend->scalar() != scalar) {
    return Error{ErrorCode::kUnsupported, std::string("This run computes in ") + to_string(scalar) +
                                              ", device " + config::to_string(device.device) + " in " +
                                              to_string(backend->scalar()) +
                                              "; the run file's [[local.w_slave]] devices decide."};
  }
  return backend;
}

Result<void> check_tensors(const Message& message, const RunSetup& setup) {
  const auto check = [&](Encoding encoding, const std::vector<ChunkData>& chunks,
                         std::size_t parts = 1) -> Result<void> {
    if (encoding != encoding_of(setup.scalar)) {
      return Error{ErrorCode::kCorrupt, "The tensors come in another encoding than the run's."};
    }
    for (const ChunkData& c : chunks) {
      if (c.chunk.value >= static_cast<std::uint32_t>(setup.chunks.size())) {
        return Error{ErrorCode::kCorrupt, "The model has no chunk " + std::to_string(c.chunk.value) + "."};
      }
      const auto expected = static_cast<std::size_t>(setup.chunks[c.chunk].count) *
                            static_cast<std::size_t>(bytes_of(setup.scalar)) * parts;
      if (c.bytes.size() != expected) {
        return Error{ErrorCode::kCorrupt, "Chunk " + std::to_string(c.chunk.value) + " has " +
                                              std::to_string(c.bytes.size()) + " bytes instead of " +
                                              std::to_string(expected) + "."};
      }
    }
    return {};
  };
  if (const auto* m = std::get_if<Push>(&message)) return check(m->encoding, m->chunks);
  if (const auto* m = std::get_if<PullReply>(&message)) return check(m->encoding, m->chunks);
  if (const auto* m = std::get_if<SnapshotReply>(&message)) return check(m->encoding, m->chunks);
  if (const auto* m = std::get_if<ChunkStates>(&message))
    return check(m->encoding, m->chunks, state_parts(setup.options));
  if (const auto* m = std::get_if<Replicate>(&message)) {
    if (const auto* push = std::get_if<Push>(&m->entry)) return check(push->encoding, push->chunks);
  }
  return {};
}

std::size_t state_parts(const config::RunOptions& options) {
  return std::size_t{1} + (options.train.momentum > 0 ? 1 : 0) + (options.eval.average > 0 ? 1 : 0);
}

}  // namespace convoy
