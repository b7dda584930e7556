#include "actors/worker.h"
#include "node/process/addresses.h"
#include "node/process/build_id.h"
#include "node/process/slave_base.h"
#include "node/process/slaves.h"
#include "node/run/worker_executor.h"

namespace convoy {
namespace {

class WorkerProcess final : public SlaveBase {
 public:
  WorkerProcess(const WorkerProcessOptions& options, Ending& ending, NodeClock clock)
      : SlaveBase(options.slave, ending, clock),
        executor_(options.device, options.data_dir),
        device_(options.device) {}

  Result<void> start(ActorHouse& house) {
    const PeerId peer = random_peer_id();
    TransportOptions transport;
    transport.self = peer;
    if (Result<void> started = start_link(std::move(transport)); !started) return started.error();
    work_.set(house.spawn_executor());
    WorkerOptions role;
    role.self = peer;
    role.name = options_.name;
    role.host = host_name();
    role.device = config::to_string(device_.device);
    role.build_id = build_id();
    role_.set(house.spawn_role(std::make_shared<Worker>(std::move(role)), *this, clock_));
    return dial();
  }

  void carry_out(Effect effect) override {
    if (carry_out_common(effect)) return;
    if (const auto* warm_up = std::get_if<WarmUp>(&effect)) {
      run_on(work_, [this, command = *warm_up] { run(command); });
    } else if (const auto* prefetch = std::get_if<Prefetch>(&effect)) {
      executor_.prefetch(prefetch->lease);
    } else if (const auto* compute = std::get_if<Compute>(&effect)) {
      run_on(work_, [this, command = *compute] { answer(executor_.compute(command)); });
    } else if (const auto* slice = std::get_if<EvaluateSlice>(&effect)) {
      run_on(work_, [this, command = *slice] { answer(executor_.evaluate(command)); });
    }
  }

 protected:
  void stop_work() override { executor_.stop(); }
  void slow_down(double factor, Duration lasts) override { executor_.slow_down(factor, lasts); }

 private:
  void run(const WarmUp& command) {
    spdlog::info("{}: welcomed; loading data, compiling and measuring", options_.name);
    Result<double> speed = executor_.warm_up(command);
    if (!speed) return fail(speed.error());
    learn_setup(*executor_.setup());
    spdlog::info("{}: ready, {:.0f} samples/s alone", options_.name, *speed);
    tell(role_, WarmedUp{*speed});
  }

  template <class T>
  void answer(Result<T> result) {
    if (!result) return fail(result.error());
    tell(role_, std::move(*result));
  }

  WorkerExecutor executor_;
  config::WSlaveOptions device_;
};

}  // namespace

Result<std::unique_ptr<RunningRole>> start_worker(const WorkerProcessOptions& options, ActorHouse& house,
                                                  Ending& ending, NodeClock clock) {
  auto process = std::make_unique<WorkerProcess>(options, ending, clock);
  if (Result<void> started = process->start(house); !started) {
    process->stop();
    return started.error();
  }
  return std::unique_ptr<RunningRole>(std::move(process));
}

}  // namespace convoy
