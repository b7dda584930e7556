// The same scenario is the same run, event for event; another seed is another run.
#include <boost/test/unit_test.hpp>
#include <set>

#include "tests/sim/support.h"

namespace convoy::sim {

BOOST_AUTO_TEST_CASE(the_same_seed_twice_gives_the_same_event_hash) {
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Outcome first = run_checked(random_scenario(seed, {}));
    const Outcome second = run_checked(random_scenario(seed, {}));
    BOOST_REQUIRE_MESSAGE(first.problem.empty(), "seed " << seed << ": " << first.problem);
    BOOST_TEST(first.events == second.events);
    BOOST_TEST(first.hash == second.hash, "seed " << seed);
    hashes.insert(first.hash);
  }
  BOOST_TEST(hashes.size() == 50u);
}

BOOST_AUTO_TEST_CASE(a_run_in_bsp_gives_the_same_updates_whatever_the_network_does) {
  // Leases are cut by clock and member, so every clock of every member trains the same positions.
  using Updates = std::map<std::pair<MemberKey, Clock>, IntervalSet>;
  struct Recorder : Watcher {
    Updates updates;
    void on_effect(Time, PeerId, const Effect& effect) override {
      const auto* trace = std::get_if<Trace>(&effect);
      const auto* apply = trace == nullptr ? nullptr : std::get_if<TraceApply>(trace);
      if (apply != nullptr) updates[{apply->member, apply->clock}] = apply->trained;
    }
  };
  std::optional<Updates> expected;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Scenario s = small_scenario(all_modes().front().sync, 3, 1 + seed % 3, 60);
    s.seed = seed;
    s.sync.batch = 7;
    s.jitter = 0.9;
    s.network.jitter = 3ms;
    s.network.reorder = 0.2;
    s.network.loss = seed % 2 == 0 ? 0.05 : 0;
    s.sync.failure_timeout = 60s;  // so that nobody is lost to the losses
    Recorder recorder;
    const Outcome outcome = run_checked(s, {&recorder});
    BOOST_REQUIRE_MESSAGE(outcome.problem.empty(), "seed " << seed << ": " << outcome.problem);
    if (!expected) expected = recorder.updates;
    BOOST_TEST((recorder.updates == *expected), "seed " << seed);
  }
  BOOST_TEST(expected->size() > 20u);
}

}  // namespace convoy::sim
