// How long others stood still around a loss.
#include "node/record/recovery_watch.h"

#include "tests/unit/record/support.h"

namespace convoy::record {
namespace {

BOOST_AUTO_TEST_CASE(commits_that_come_fast_hide_no_stall_and_make_none) {
  RecoveryWatch watch;
  watch.begin(at(0));
  for (int i = 1; i <= 2000; ++i) watch.committed(at(i * 0.0005));  // to 1 s
  watch.committed(at(1.5));
  for (int i = 1; i <= 2000; ++i) watch.committed(at(1.5 + i * 0.0005));  // to 2.5 s
  watch.lost(at(2.5), std::chrono::seconds(2), "somebody", "somebody is lost");
  watch.view_changed();
  watch.finish(at(2.5));
  const std::vector<Recovery> seen = watch.take();
  BOOST_REQUIRE(seen.size() == 1u);
  BOOST_TEST(seen[0].stall_s == 0.5);

  RecoveryWatch even;
  even.begin(at(0));
  for (int i = 1; i <= 2000; ++i) even.committed(at(i * 0.001));
  even.lost(at(2), std::chrono::seconds(2), "somebody", "somebody is lost");
  even.view_changed();
  even.finish(at(2));
  BOOST_TEST(even.take().at(0).stall_s <= 0.01);
}

BOOST_AUTO_TEST_CASE(what_is_kept_of_commits_does_not_grow_with_how_many_there_are) {
  RecoveryWatch watch;
  watch.begin(at(0));
  for (int i = 1; i <= 1'000'000; ++i) watch.committed(at(i * 1e-4));
  BOOST_TEST(watch.kept() <= 20'100u);  // one in 5 ms of 100 s
}

}  // namespace
}  // namespace convoy::record
