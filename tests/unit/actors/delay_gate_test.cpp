// DelayGate: by example, and against the rule itself on random clocks.
#include "actors/delay_gate.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <random>

namespace convoy {
namespace {

SyncOptions options(SyncMode mode, std::int64_t low, std::int64_t bound) {
  SyncOptions o;
  o.mode = mode;
  o.bound_low = low;
  o.bound = bound;
  return o;
}

DelayGate gate_with(const SyncOptions& o, bool decides, std::initializer_list<std::int64_t> clocks) {
  DelayGate gate;
  gate.configure(o, decides);
  gate.reset(Clock(0));
  std::uint32_t id = 0;
  for (std::int64_t c : clocks) gate.set(MemberId(id++), Clock(c));
  return gate;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_member_may_be_the_bound_ahead_and_no_more) {
  const DelayGate gate = gate_with(options(SyncMode::kDsp, 2, 2), true, {5, 3, 9});
  BOOST_TEST(gate.c_min() == Clock(3));
  BOOST_TEST(gate.open(MemberId(0), Clock(5)));
  BOOST_TEST(!gate.open(MemberId(0), Clock(6)));
  BOOST_TEST(gate.open(MemberId(1), Clock(3)));
}

BOOST_AUTO_TEST_CASE(asp_holds_nobody) {
  const DelayGate gate = gate_with(options(SyncMode::kAsp, kNoBound, kNoBound), true, {0, 1'000'000});
  BOOST_TEST(gate.open(MemberId(1), Clock(1'000'000)));
}

BOOST_AUTO_TEST_CASE(without_members_c_min_is_the_floor) {
  DelayGate gate;
  gate.reset(Clock(7));
  BOOST_TEST(gate.c_min() == Clock(7));
  gate.set(MemberId(4), Clock(9));
  BOOST_TEST(gate.c_min() == Clock(9));
}

BOOST_AUTO_TEST_CASE(dynamic_lets_each_member_beyond_the_lower_bound_once_per_value_of_c_min) {
  DelayGate gate = gate_with(options(SyncMode::kDynamic, 0, 3), true, {1, 1, 0});
  BOOST_TEST(gate.open(MemberId(0), Clock(1)));
  gate.granted(MemberId(0), Clock(1));
  BOOST_TEST(!gate.open(MemberId(0), Clock(2)));
  BOOST_TEST(gate.open(MemberId(1), Clock(1)));  // another member's grant is its own
  gate.set(MemberId(2), Clock(1));
  BOOST_TEST(gate.open(MemberId(0), Clock(2)));
  BOOST_TEST(!gate.open(MemberId(0), Clock(5)));  // the upper bound stands
}

BOOST_AUTO_TEST_CASE(dynamic_holds_back_only_where_it_is_decided) {
  DelayGate gate = gate_with(options(SyncMode::kDynamic, 0, 3), false, {1, 0});
  gate.granted(MemberId(0), Clock(1));
  BOOST_TEST(gate.open(MemberId(0), Clock(2)));
}

BOOST_AUTO_TEST_CASE(a_reset_forgets_members_and_extra_grants) {
  DelayGate gate = gate_with(options(SyncMode::kDynamic, 0, 3), true, {1, 0});
  gate.granted(MemberId(0), Clock(1));
  gate.reset(Clock(0));
  gate.set(MemberId(0), Clock(1));
  gate.set(MemberId(1), Clock(0));
  BOOST_TEST(gate.open(MemberId(0), Clock(1)));
}

BOOST_AUTO_TEST_CASE(random_clocks_follow_the_rule) {
  std::mt19937_64 random(1);
  std::size_t held = 0;
  for (int round = 0; round < 200; ++round) {
    const auto bound = static_cast<std::int64_t>(random() % 5);
    const bool dynamic = random() % 2 == 0;
    const std::int64_t low = dynamic ? bound / 2 : bound;
    DelayGate gate;
    gate.configure(options(dynamic ? SyncMode::kDynamic : SyncMode::kDsp, low, bound), true);
    gate.reset(Clock(0));
    const auto members = static_cast<std::uint32_t>(1 + random() % 6);
    std::map<std::uint32_t, std::int64_t> clocks;
    std::map<std::uint32_t, std::int64_t> extra_at;
    for (std::uint32_t m = 0; m < members; ++m) {
      clocks[m] = static_cast<std::int64_t>(random() % 3);
      gate.set(MemberId(m), Clock(clocks[m]));
    }
    for (int step = 0; step < 100; ++step) {
      const auto m = static_cast<std::uint32_t>(random() % members);
      const std::int64_t least = std::min_element(clocks.begin(), clocks.end(), [](auto& a, auto& b) {
                                   return a.second < b.second;
                                 })->second;
      BOOST_REQUIRE(gate.c_min() == Clock(least));
      const std::int64_t ahead = clocks[m] - least;
      const bool spent = dynamic && ahead > low && extra_at.contains(m) && extra_at[m] == least;
      const bool expected = ahead <= bound && !spent;
      BOOST_REQUIRE(gate.open(MemberId(m), Clock(clocks[m])) == expected);
      if (!expected) {
        ++held;
        continue;
      }
      if (dynamic && ahead > low) extra_at[m] = least;
      gate.granted(MemberId(m), Clock(clocks[m]));
      gate.set(MemberId(m), Clock(++clocks[m]));
    }
  }
  BOOST_TEST(held > 1000u);
}

}  // namespace convoy
