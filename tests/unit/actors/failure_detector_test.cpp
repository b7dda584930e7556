// FailureDetector: the two signs of death, and next_deadline against suspects.
#include "actors/failure_detector.h"

#include <boost/test/unit_test.hpp>
#include <random>

namespace convoy {
namespace {

constexpr Duration kTimeout = 5s;
constexpr Duration kGrace = 500ms;
Time at(Duration d) {
  return Time{d};
}

std::vector<std::uint64_t> dead_at(const FailureDetector& detector, Time now) {
  std::vector<std::uint64_t> dead;
  for (const auto& s : detector.suspects(now)) dead.push_back(s.peer.value);
  return dead;
}

}  // namespace

BOOST_AUTO_TEST_CASE(silence_for_the_time_out_is_death_and_not_a_moment_earlier) {
  FailureDetector detector(kTimeout, kGrace);
  detector.watch(PeerId(1), at(1s));
  BOOST_TEST(detector.alive(PeerId(1), at(6s - 1ns)));
  BOOST_TEST(dead_at(detector, at(6s - 1ns)).empty());
  BOOST_REQUIRE(detector.suspects(at(6s)).size() == 1u);
  const FailureDetector::Suspect suspect = detector.suspects(at(6s)).front();
  BOOST_TEST(suspect.peer == PeerId(1));
  BOOST_TEST(!suspect.disconnected);
  BOOST_TEST((suspect.silent_for == 5s));
  BOOST_TEST(!detector.alive(PeerId(1), at(6s)));
}

BOOST_AUTO_TEST_CASE(any_message_is_a_life_sign) {
  FailureDetector detector(kTimeout, kGrace);
  detector.watch(PeerId(1), at(0s));
  detector.heard(PeerId(1), at(4s));
  BOOST_TEST(detector.alive(PeerId(1), at(8s)));
  BOOST_TEST(dead_at(detector, at(9s)).size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_broken_connection_is_death_after_the_grace_time) {
  FailureDetector detector(kTimeout, kGrace);
  detector.watch(PeerId(1), at(0s));
  detector.disconnected(PeerId(1), at(1s));
  BOOST_TEST(dead_at(detector, at(1400ms)).empty());
  BOOST_REQUIRE(detector.suspects(at(1500ms)).size() == 1u);
  BOOST_TEST(detector.suspects(at(1500ms)).front().disconnected);
}

BOOST_AUTO_TEST_CASE(a_connection_that_breaks_again_gets_no_second_grace) {
  FailureDetector detector(kTimeout, kGrace);
  detector.watch(PeerId(1), at(0s));
  detector.disconnected(PeerId(1), at(1s));
  detector.disconnected(PeerId(1), at(1400ms));
  BOOST_TEST(dead_at(detector, at(1500ms)).size() == 1u);
}

BOOST_AUTO_TEST_CASE(who_comes_back_within_the_grace_time_lives) {
  FailureDetector detector(kTimeout, kGrace);
  detector.watch(PeerId(1), at(0s));
  BOOST_TEST(detector.connected(PeerId(1)));
  detector.disconnected(PeerId(1), at(1s));
  BOOST_TEST(!detector.connected(PeerId(1)));
  detector.heard(PeerId(1), at(1300ms));
  BOOST_TEST(detector.connected(PeerId(1)));
  BOOST_TEST(dead_at(detector, at(6s)).empty());
  BOOST_TEST(dead_at(detector, at(6300ms)).size() == 1u);
}

BOOST_AUTO_TEST_CASE(strangers_and_the_forgotten_are_nobody) {
  FailureDetector detector(kTimeout, kGrace);
  detector.heard(PeerId(1), at(0s));
  detector.disconnected(PeerId(2), at(0s));
  BOOST_TEST(!detector.alive(PeerId(1), at(0s)));
  detector.watch(PeerId(3), at(0s));
  detector.forget(PeerId(3));
  BOOST_TEST(dead_at(detector, at(100s)).empty());
  BOOST_TEST((detector.next_deadline() == Time::never()));
}

BOOST_AUTO_TEST_CASE(nobody_dies_before_the_next_deadline_and_somebody_at_it) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    FailureDetector detector(kTimeout, kGrace);
    Time now{};
    for (std::uint64_t p = 1; p <= 5; ++p) detector.watch(PeerId(p), now);
    for (int step = 0; step < 40; ++step) {
      now = now + Duration(static_cast<std::int64_t>(random() % 1'000'000'000));
      const PeerId peer(1 + random() % 5);
      if (random() % 4 == 0)
        detector.disconnected(peer, now);
      else
        detector.heard(peer, now);
      for (std::uint64_t dead : dead_at(detector, now)) detector.forget(PeerId(dead));
      const Time next = detector.next_deadline();
      if (next == Time::never()) break;
      BOOST_REQUIRE((next > now));
      BOOST_REQUIRE(dead_at(detector, next - 1ns).empty());
      BOOST_REQUIRE(!dead_at(detector, next).empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(who_hears_nobody_behind_any_connection_that_stands_is_cut_off_itself) {
  FailureDetector detector(kTimeout, kGrace);
  BOOST_TEST(!detector.hears_nobody(3s, at(0s)));
  for (PeerId p : {PeerId(1), PeerId(2), PeerId(3)}) detector.watch(p, at(0s));
  BOOST_TEST(!detector.hears_nobody(3s, at(3s)));
  BOOST_TEST(detector.hears_nobody(3s, at(4s)));
  detector.heard(PeerId(2), at(2s));
  BOOST_TEST(!detector.hears_nobody(3s, at(4s)));
  detector.disconnected(PeerId(2), at(4s));
  BOOST_TEST(detector.hears_nobody(3s, at(4s)));
  detector.slept(at(4s));
  BOOST_TEST(!detector.hears_nobody(3s, at(4s)));
  for (PeerId p : {PeerId(1), PeerId(2), PeerId(3)}) detector.disconnected(p, at(5s));
  BOOST_TEST(!detector.hears_nobody(3s, at(9s)));
}

}  // namespace convoy
