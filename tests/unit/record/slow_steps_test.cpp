// Members whose steps are long beside the failure time-out.
#include "node/record/slow_steps.h"

#include "tests/unit/record/support.h"

namespace convoy::record {
namespace {

MasterStatus::Member member(std::uint32_t id, std::int64_t batch, double samples_per_s) {
  MasterStatus::Member m;
  m.key = {MemberId(id), Incarnation(1)};
  m.name = "node-" + std::to_string(id);
  m.in_view = true;
  m.batch = batch;
  m.samples_per_s = samples_per_s;
  return m;
}

BOOST_AUTO_TEST_CASE(a_step_that_is_near_the_time_out_is_told_in_words) {
  SlowSteps slow(std::chrono::seconds(2));
  MasterStatus status;
  status.members = {member(0, 64, 100), member(1, 110, 100), member(2, 300, 100)};
  const std::vector<std::string> lines = slow.see(status);
  BOOST_REQUIRE(lines.size() == 2u);
  BOOST_TEST(contains(lines[0], "node-1: a step takes 1.1 s (a batch of 110), which is near"));
  BOOST_TEST(contains(lines[1], "node-2: a step takes 3.0 s (a batch of 300), which is longer than"));
  BOOST_TEST(contains(lines[1], "cluster.failure_timeout_s = 2.0"));
  BOOST_TEST(contains(lines[1], "set the time-out to 6.0 or more"));
}

BOOST_AUTO_TEST_CASE(it_is_told_once_a_life) {
  SlowSteps slow(std::chrono::seconds(2));
  MasterStatus status;
  status.members = {member(0, 300, 100)};
  BOOST_TEST(slow.see(status).size() == 1u);
  BOOST_TEST(slow.see(status).empty());
  status.members[0].in_view = false;
  BOOST_TEST(slow.see(status).empty());
  status.members[0].in_view = true;
  BOOST_TEST(slow.see(status).empty());
  status.members[0].key.incarnation = Incarnation(2);
  BOOST_TEST(slow.see(status).size() == 1u);
}

BOOST_AUTO_TEST_CASE(nothing_is_said_of_members_that_are_not_measured_or_not_in) {
  SlowSteps slow(std::chrono::seconds(2));
  MasterStatus status;
  status.members = {member(0, 300, 0), member(1, 0, 100), member(2, 300, 100)};
  status.members[2].in_view = false;
  BOOST_TEST(slow.see(status).empty());
}

}  // namespace
}  // namespace convoy::record
