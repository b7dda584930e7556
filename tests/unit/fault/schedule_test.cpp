// When faults happen: a value of file, seed and progress.
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <ostream>
#include <set>
#include <vector>

#include "node/fault/schedule.h"

namespace convoy {

std::ostream& boost_test_print_type(std::ostream& out, const DueFault& due) {
  return out << due.fault << "#" << due.occurrence;
}

namespace {

using config::FaultMoment;
using config::FaultOptions;
using Unit = config::FaultMoment::Unit;

FaultOptions kill_at(Unit unit, double value) {
  FaultOptions fault;
  fault.at = FaultMoment{unit, value};
  return fault;
}

FaultOptions kill_every(Unit unit, double value) {
  FaultOptions fault;
  fault.every = FaultMoment{unit, value};
  return fault;
}

void expect(const std::vector<DueFault>& due, const std::vector<DueFault>& expected) {
  BOOST_CHECK_EQUAL_COLLECTIONS(due.begin(), due.end(), expected.begin(), expected.end());
}

// All that happens on the way through `steps` clocks.
std::vector<DueFault> through(FaultSchedule& schedule, std::int64_t steps) {
  std::vector<DueFault> all;
  for (std::int64_t clock = 1; clock <= steps; ++clock) {
    for (const DueFault& due : schedule.due({0, clock, 0})) all.push_back(due);
  }
  return all;
}

BOOST_AUTO_TEST_CASE(each_fault_waits_for_its_time_clock_or_epoch_and_happens_once) {
  FaultSchedule schedule({kill_at(Unit::kSeconds, 3), kill_at(Unit::kClock, 50), kill_at(Unit::kEpoch, 0.5)},
                         1);
  expect(schedule.due({2.9, 49, 0.4}), {});
  expect(schedule.due({3.0, 49, 0.4}), {{0, 0}});
  expect(schedule.due({9.0, 50, 0.4}), {{1, 0}});
  BOOST_TEST(!schedule.over());
  expect(schedule.due({9.0, 99, 0.5}), {{2, 0}});
  expect(schedule.due({99, 99, 99}), {});
  BOOST_TEST(schedule.over());
}

BOOST_AUTO_TEST_CASE(every_occurrence_that_was_passed_happens_and_progress_that_falls_back_repeats_none) {
  FaultSchedule schedule({kill_every(Unit::kSeconds, 30)}, 1);
  expect(schedule.due({29, 0, 0}), {});
  expect(schedule.due({65, 0, 0}), {{0, 1}, {0, 2}});
  expect(schedule.due({31, 0, 0}), {});
  expect(schedule.due({90, 0, 0}), {{0, 3}});
  BOOST_TEST(!schedule.over());
}

BOOST_AUTO_TEST_CASE(the_same_seeds_bring_the_same_faults_to_the_same_targets_and_others_bring_others) {
  FaultOptions now_and_then = kill_every(Unit::kClock, 1);
  now_and_then.probability = 0.2;
  FaultSchedule a({now_and_then}, 7);
  FaultSchedule b({now_and_then}, 7);
  FaultSchedule of_another_run({now_and_then}, 8);
  now_and_then.seed = 1;
  FaultSchedule of_another_seed({now_and_then}, 7);
  const auto faults = through(a, 500);
  BOOST_TEST((faults.size() > 60 && faults.size() < 140), faults.size());
  expect(through(b, 500), faults);
  BOOST_TEST((through(of_another_run, 500) != faults));
  BOOST_TEST((through(of_another_seed, 500) != faults));
  std::set<std::size_t> whom;
  for (const DueFault& due : faults) {
    BOOST_TEST(a.choose(due, 4) == b.choose(due, 4));
    BOOST_TEST(a.seed(due) == b.seed(due));
    whom.insert(a.choose(due, 4));
  }
  BOOST_TEST(whom.size() == 4u);
}

BOOST_AUTO_TEST_CASE(the_same_faults_come_however_often_progress_is_looked_at) {
  FaultOptions now_and_then = kill_every(Unit::kClock, 2);
  now_and_then.probability = 0.5;
  FaultSchedule often({now_and_then}, 3);
  FaultSchedule once({now_and_then}, 3);
  expect(once.due({0, 300, 0}), through(often, 300));
}

BOOST_AUTO_TEST_CASE(a_probability_alone_is_one_a_clock_for_processes_and_one_a_message_for_links) {
  FaultOptions kill;
  kill.probability = 0.5;
  FaultOptions drop;
  drop.kind = FaultKind::kDrop;
  drop.probability = 0.5;
  FaultSchedule schedule({kill, drop}, 5);
  expect(schedule.due({}), {{1, 0}});
  BOOST_TEST(through(schedule, 100).size() > 20u);
}

}  // namespace
}  // namespace convoy
