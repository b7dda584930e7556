// Invariant 5: dsp(0), dsp(infinity) and dynamic(s, s) grant exactly as bsp, asp and dsp(s) do. Shown on a
// network without loss or noise, where the only difference between two runs is the mode.
#include <boost/test/unit_test.hpp>

#include "tests/sim/support.h"

namespace convoy::sim {
namespace {

// Members at different speeds; each has the same number of clocks to do, so that the last leases, which bsp
// cuts by clock and the others by request, do not differ.
Scenario quiet_scenario(std::uint64_t seed) {
  Scenario s = random_scenario(seed, {8, 3});
  s.network = Network{};
  s.network.latency = 200us;
  s.faults.clear();
  s.more_servers.clear();
  s.jitter = 0;
  s.test_count = 0;
  s.equal_partition = true;
  s.executor = Executor::kTimes;
  s.sync.failure_timeout = 3600s;
  const auto workers = static_cast<std::int64_t>(s.workers.size());
  s.sync.batch = workers * (1 + static_cast<std::int64_t>(seed % 3));
  s.sample_count = s.end_position = s.sync.batch * (5 + static_cast<std::int64_t>(seed % 16));
  for (WorkerSpec& w : s.workers) {
    w.starts = {};
    w.after_samples = 0;
  }
  s.min_w_slaves = s.workers.size();
  return s;
}

std::map<PeerId, Grants> grants_of(const Scenario& s) {
  GrantRecorder recorder;
  const Outcome outcome = run_checked(s, {&recorder});
  BOOST_REQUIRE_MESSAGE(outcome.problem.empty(), describe(s) << ": " << outcome.problem);
  return recorder.grants();
}

void set_mode(Scenario& s, SyncMode mode, std::int64_t low, std::int64_t bound) {
  s.sync.mode = mode;
  s.sync.bound_low = low;
  s.sync.bound = bound;
}

constexpr std::uint64_t kSeeds = 200;

}  // namespace

BOOST_AUTO_TEST_CASE(dsp_0_grants_as_bsp) {
  std::size_t grants = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Scenario s = quiet_scenario(seed);
    s.sync.pull_ahead = false;
    set_mode(s, SyncMode::kBsp, 0, 0);
    const auto bsp = grants_of(s);
    set_mode(s, SyncMode::kDsp, 0, 0);
    const auto dsp = grants_of(s);
    BOOST_TEST((bsp == dsp), "seed " << seed);
    grants += bsp.begin()->second.size();
  }
  BOOST_TEST(grants > 10 * kSeeds);
}

BOOST_AUTO_TEST_CASE(dsp_without_end_grants_as_asp) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Scenario s = quiet_scenario(seed);
    s.sync.pull_ahead = seed % 2 == 0;
    set_mode(s, SyncMode::kAsp, kNoBound, kNoBound);
    const auto asp = grants_of(s);
    set_mode(s, SyncMode::kDsp, kNoBound, kNoBound);
    BOOST_TEST((grants_of(s) == asp), "seed " << seed);
    // Any bound that is never reached is none.
    set_mode(s, SyncMode::kDsp, 1'000'000, 1'000'000);
    BOOST_TEST((grants_of(s) == asp), "seed " << seed);
  }
}

BOOST_AUTO_TEST_CASE(dynamic_s_s_grants_as_dsp_s) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Scenario s = quiet_scenario(seed);
    const auto bound = static_cast<std::int64_t>(seed % 5);
    s.sync.pull_ahead = bound > 0 && seed % 2 == 0;
    set_mode(s, SyncMode::kDsp, bound, bound);
    const auto dsp = grants_of(s);
    set_mode(s, SyncMode::kDynamic, bound, bound);
    BOOST_TEST((grants_of(s) == dsp), "seed " << seed << " bound " << bound);
  }
}

BOOST_AUTO_TEST_CASE(dynamic_between_its_bounds_grants_differently) {
  // The other way round, so that the comparisons above are known to be able to fail.
  std::size_t different = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Scenario s = quiet_scenario(seed);
    s.sync.pull_ahead = false;
    set_mode(s, SyncMode::kDsp, 3, 3);
    const auto dsp = grants_of(s);
    set_mode(s, SyncMode::kDynamic, 0, 3);
    different += grants_of(s) == dsp ? 0 : 1;
  }
  BOOST_TEST(different > kSeeds / 10);
}

}  // namespace convoy::sim
