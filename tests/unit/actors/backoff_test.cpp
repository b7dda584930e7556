// Backoff: when an unanswered request is repeated.
#include <boost/test/unit_test.hpp>

#include "actors/role.h"

namespace convoy {

BOOST_AUTO_TEST_CASE(repeats_come_after_one_two_four_and_then_every_eight_intervals) {
  Backoff backoff;
  Time now{};
  backoff.start(now, 1s);
  for (const std::int64_t gap : {1, 2, 4, 8, 8, 8}) {
    const Time due = now + std::chrono::seconds(gap);
    BOOST_TEST(!backoff.due(due - 1ns));
    BOOST_REQUIRE((backoff.at() == due));
    BOOST_TEST(backoff.due(due));
    now = due;
    backoff.again(now);
  }
}

BOOST_AUTO_TEST_CASE(a_stopped_backoff_is_never_due_and_starts_from_the_first_interval) {
  Backoff backoff;
  BOOST_TEST(!backoff.running());
  backoff.start(Time{}, 1s);
  backoff.again(Time{1s});
  backoff.stop();
  BOOST_TEST(!backoff.running());
  BOOST_TEST(!backoff.due(Time{1000s}));
  backoff.start(Time{10s}, 2s);
  BOOST_TEST((backoff.at() == Time{12s}));
}

BOOST_AUTO_TEST_CASE(time_outs_derive_from_one_setting) {
  const Timing timing = Timing::from(5s);
  BOOST_TEST((timing.heartbeat == 1s));
  BOOST_TEST((timing.retry == 1s));
  BOOST_TEST((timing.grace == 500ms));
}

}  // namespace convoy
