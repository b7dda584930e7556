// Every moment once: on a small run, a fault strikes one W-slave after each event that there is. Whatever the
// moment, the run ends with each position committed once.
#include <boost/test/unit_test.hpp>

#include "tests/sim/support.h"

namespace convoy::sim {
namespace {

Scenario three_members(const SyncOptions& sync) {
  Scenario s = small_scenario(sync, 3, 2, 10);
  s.evaluate_every = 5;
  s.min_w_slaves = 2;  // the third may be gone before the start
  return s;
}

Outcome undisturbed(const Scenario& s) {
  Outcome outcome = run_checked(s);
  BOOST_REQUIRE_MESSAGE(outcome.problem.empty(), outcome.problem);
  BOOST_REQUIRE(outcome.events > 150u);
  return outcome;
}

// Strikes after every event of the undisturbed run.
void strike_everywhere(FaultKind kind, Duration lasts, const Fault& how = {}) {
  for (const Mode& mode : all_modes()) {
    Scenario s = three_members(mode.sync);
    const Outcome quiet = undisturbed(s);
    for (std::size_t victim : {0, 2}) {
      std::uint64_t changed = 0;
      for (std::uint64_t after = 1; after < quiet.events; ++after) {
        Fault fault = how;
        fault.kind = kind;
        fault.worker = victim;
        fault.after_events = after;
        fault.lasts = lasts;
        s.faults = {fault};
        const Outcome outcome = run_checked(s);
        BOOST_TEST(outcome.problem.empty(), mode.name << ", " << describe(fault) << ": " << outcome.problem);
        if (outcome.hash != quiet.hash) ++changed;
      }
      BOOST_TEST(changed > quiet.events / 2, mode.name << ": the fault hardly ever did anything");
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_member_may_die_after_any_event_and_never_return) {
  strike_everywhere(FaultKind::kCrash, Duration{});
}

BOOST_AUTO_TEST_CASE(a_member_may_die_after_any_event_and_return_before_it_is_missed) {
  strike_everywhere(FaultKind::kCrash, 20ms);
}

BOOST_AUTO_TEST_CASE(a_member_may_die_after_any_event_and_return_later) {
  strike_everywhere(FaultKind::kCrash, 300ms);
}

BOOST_AUTO_TEST_CASE(a_member_may_freeze_for_three_time_outs_after_any_event) {
  strike_everywhere(FaultKind::kFreeze, 1500ms);
}

BOOST_AUTO_TEST_CASE(a_member_may_freeze_for_a_moment_after_any_event) {
  strike_everywhere(FaultKind::kFreeze, 30ms);
}

BOOST_AUTO_TEST_CASE(a_member_may_leave_after_any_event) {
  strike_everywhere(FaultKind::kLeave, Duration{});
}

BOOST_AUTO_TEST_CASE(a_member_may_leave_after_any_event_and_return) {
  strike_everywhere(FaultKind::kLeave, 100ms);
}

BOOST_AUTO_TEST_CASE(a_member_may_be_cut_off_from_the_master_for_three_time_outs_after_any_event) {
  strike_everywhere(FaultKind::kPartition, 1500ms);
}

BOOST_AUTO_TEST_CASE(a_member_may_hear_nothing_of_the_master_for_three_time_outs_after_any_event) {
  Fault deaf;
  deaf.outbound = false;
  strike_everywhere(FaultKind::kPartition, 1500ms, deaf);
}

BOOST_AUTO_TEST_CASE(a_member_may_be_cut_off_from_a_p_slave_for_three_time_outs_after_any_event) {
  Fault from_server;
  from_server.server = 1;
  strike_everywhere(FaultKind::kPartition, 1500ms, from_server);
}

// Two members at once, one dead and one frozen, at each pair of moments of a grid.
BOOST_AUTO_TEST_CASE(two_members_may_fail_at_any_two_moments) {
  for (const Mode& mode : all_modes()) {
    Scenario s = three_members(mode.sync);
    const Outcome quiet = undisturbed(s);
    std::uint64_t runs = 0;
    for (std::uint64_t first = 1; first < quiet.events; first += 11) {
      for (std::uint64_t second = 3; second < quiet.events; second += 13) {
        Fault crash;
        crash.worker = 0;
        crash.after_events = first;
        crash.lasts = first % 2 == 0 ? Duration{} : Duration(40ms);
        Fault freeze;
        freeze.kind = FaultKind::kFreeze;
        freeze.worker = 1;
        freeze.after_events = second;
        freeze.lasts = 700ms;
        s.faults = {crash, freeze};
        const Outcome outcome = run_checked(s);
        BOOST_TEST(outcome.problem.empty(), mode.name << ", " << describe(crash) << ", " << describe(freeze)
                                                      << ": " << outcome.problem);
        ++runs;
      }
    }
    BOOST_TEST(runs > 150u);
  }
}

}  // namespace convoy::sim
