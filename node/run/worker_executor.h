// What a W-slave computes, on one thread that is this class's for its whole life: warm-up, clocks,
// evaluation.
//
// It owns the data set, the back end, a plan for each batch size in use, and the gradient buffers. Frames
// that it makes point into those buffers, which are used again when the frames are gone. Nothing here knows
// the protocol.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "actors/role.h"
#include "config/common_options.h"
#include "kernels/graph/backend.h"
#include "node/data/loader.h"
#include "node/run/run_setup.h"
#include "node/run/shared_buffer.h"

namespace convoy {

class WorkerExecutor {
 public:
  // `data_dir`: where the node keeps data sets; empty: as the run file says.
  WorkerExecutor(config::WSlaveOptions device, std::string data_dir)
      : device_(device), data_dir_(std::move(data_dir)) {}

  // Parses the run, loads the data, compiles, measures. Samples/s, slowdown included.
  Result<double> warm_up(const WarmUp& command);

  // Any thread, before compute(): have these positions ready.
  void prefetch(const Lease& lease);

  // REQUIRES: warm_up succeeded.
  Result<Gradients> compute(const Compute& command);
  Result<Evaluated> evaluate(const EvaluateSlice& command);

  // Any thread: steps that begin from now on take `factor` times as long, on top of the device's own
  // slowdown, for a while; zero: to the end.
  void slow_down(double factor, Duration lasts);

  // Any thread: ends a waiting slowdown and whatever waits for data. Results after it are void.
  void stop();

  const RunSetup* setup() const { return setup_ ? &*setup_ : nullptr; }

 private:
  struct CachedPlan {
    std::unique_ptr<Plan> plan;
    std::uint64_t used = 0;
  };

  Result<Plan*> plan_for(int batch, bool training);
  Result<void> load(Plan& plan, const std::vector<ChunkData>& parameters,
                    const std::vector<double>& ahead_rates);
  // The chunk, stepped ahead along our last mean gradient (docs/asynchrony.md).
  ConstBytes stepped_ahead(const ChunkData& chunk, double rate);
  void wait_out_slowdown(Duration started_wall, Duration started_cpu);
  Result<void> read_choices();
  Result<void> write_choices() const;

  config::WSlaveOptions device_;
  std::string data_dir_;
  std::optional<RunSetup> setup_;
  std::shared_ptr<const data::Dataset> dataset_;
  std::unique_ptr<Backend> backend_;
  KernelChoices choices_;
  std::map<std::pair<int, bool>, CachedPlan> plans_;
  std::uint64_t uses_ = 0;
  std::unique_ptr<BufferPool> gradients_;
  std::shared_ptr<AlignedBuffer> last_gradient_;  // of the clock that was computed last
  std::int64_t last_samples_ = 0;
  std::vector<std::byte> corrected_;  // a chunk that was stepped ahead

  std::mutex mutex_;  // over the loader's pointer, its tickets, and what follows
  std::unique_ptr<data::Loader> loader_;
  std::deque<std::pair<LeaseId, data::Loader::Ticket>> tickets_;
  bool stopped_ = false;
  double extra_slowdown_ = 1;
  Duration extra_until_{};  // on the steady clock
  std::condition_variable stop_signal_;
};

}  // namespace convoy
