#include "tests/sim/support.h"

namespace convoy::sim {

std::vector<Mode> all_modes() {
  SyncOptions sync;
  sync.failure_timeout = 500ms;
  const auto with = [&](SyncMode mode, std::int64_t low, std::int64_t bound, bool pull_ahead) {
    SyncOptions s = sync;
    s.mode = mode;
    s.bound = bound;
    s.bound_low = low;
    s.pull_ahead = pull_ahead;
    return s;
  };
  return {{"bsp", with(SyncMode::kBsp, 0, 0, false)},
          {"dsp(2)", with(SyncMode::kDsp, 2, 2, false)},
          {"dsp(2) with pull-ahead", with(SyncMode::kDsp, 2, 2, true)},
          {"dynamic(0, 2)", with(SyncMode::kDynamic, 0, 2, true)},
          {"asp", with(SyncMode::kAsp, kNoBound, kNoBound, true)}};
}

Scenario small_scenario(const SyncOptions& sync, std::size_t workers, std::size_t servers,
                        std::int64_t positions) {
  Scenario s;
  s.sync = sync;
  s.sync.batch = static_cast<std::int64_t>(workers);
  s.sample_count = s.end_position = positions;
  s.test_count = 4;
  s.chunks = 3;
  s.servers = servers;
  s.min_w_slaves = workers;
  WorkerSpec worker;
  worker.samples_per_s = 100;
  s.workers.assign(workers, worker);
  return s;
}

void GrantRecorder::on_effect(Time, PeerId peer, const Effect& effect) {
  const auto* trace = std::get_if<Trace>(&effect);
  if (trace == nullptr) return;
  if (const auto* grant = std::get_if<TraceGrant>(trace))
    grants_[peer].emplace_back(grant->member, grant->clock);
}

}  // namespace convoy::sim
