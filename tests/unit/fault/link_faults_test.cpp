// What injected faults do to messages.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>
#include <vector>

#include "messages/base/sampling.h"
#include "node/transport/link_faults.h"

namespace convoy {
namespace {

constexpr PeerId kA{1};
constexpr PeerId kB{2};
const SteadyTime kStart{1h};

WireFrames frames_of(int number) {
  return {Frame::of(std::vector<std::byte>(64, static_cast<std::byte>(number)))};
}

PassingMessage to(PeerId peer, int number = 0) {
  return {Way::kOut, peer, frames_of(number), nullptr};
}
PassingMessage from(PeerId peer, int number = 0) {
  return {Way::kIn, peer, frames_of(number), nullptr};
}

int number_of(const PassingMessage& message) {
  return static_cast<int>(message.frames.front().bytes().front());
}

LinkFault fault(FaultKind kind) {
  LinkFault fault;
  fault.kind = kind;
  return fault;
}

BOOST_AUTO_TEST_CASE(a_partition_of_a_process_loses_everything_both_ways_until_it_ends) {
  LinkFaults faults;
  LinkFault partition = fault(FaultKind::kPartition);
  partition.lasts = 2s;
  faults.add(partition, kStart);
  BOOST_TEST(faults.pass(to(kA), kStart).empty());
  BOOST_TEST(faults.pass(from(kB), kStart + 1s).empty());
  BOOST_TEST((faults.next() == kStart + 2s));
  BOOST_TEST(faults.pass(to(kA), kStart + 2s).size() == 1u);
  BOOST_TEST(faults.over());
}

BOOST_AUTO_TEST_CASE(a_partition_of_a_link_loses_one_way_to_one_peer_alone) {
  LinkFaults faults;
  LinkFault partition = fault(FaultKind::kPartition);
  partition.peer = kA;
  faults.add(partition, kStart);
  BOOST_TEST(faults.pass(to(kA), kStart).empty());
  BOOST_TEST(faults.pass(from(kA), kStart).size() == 1u);
  BOOST_TEST(faults.pass(to(kB), kStart).size() == 1u);
  BOOST_TEST((faults.next() == SteadyTime::max()));  // to the end
}

BOOST_AUTO_TEST_CASE(a_share_is_dropped_and_the_seed_says_which) {
  const auto survivors = [](std::uint64_t seed) {
    LinkFaults faults;
    LinkFault drop = fault(FaultKind::kDrop);
    drop.probability = 0.3;
    drop.seed = seed;
    faults.add(drop, kStart);
    std::vector<int> numbers;
    for (int i = 0; i < 200; ++i) {
      for (const PassingMessage& m : faults.pass(to(kA, i), kStart)) numbers.push_back(number_of(m));
    }
    return numbers;
  };
  BOOST_TEST((survivors(1).size() > 110 && survivors(1).size() < 170), survivors(1).size());
  BOOST_TEST((survivors(1) == survivors(1)));
  BOOST_TEST((survivors(1) != survivors(2)));
}

BOOST_AUTO_TEST_CASE(what_is_delayed_comes_late_and_whole) {
  LinkFaults faults;
  LinkFault delay = fault(FaultKind::kDelay);
  delay.delay = 100ms;
  delay.lasts = 1ms;
  faults.add(delay, kStart);
  BOOST_TEST(faults.pass(to(kA, 7), kStart).empty());
  BOOST_TEST(faults.due(kStart + 99ms).empty());
  BOOST_TEST(!faults.over());  // the fault is, the message is not
  BOOST_TEST((faults.next() == kStart + 100ms));
  const auto late = faults.due(kStart + 100ms);
  BOOST_REQUIRE(late.size() == 1u);
  BOOST_TEST(number_of(late[0]) == 7);
  BOOST_TEST(faults.over());
}

BOOST_AUTO_TEST_CASE(what_is_reordered_comes_once_each_in_another_order) {
  LinkFaults faults;
  faults.add(fault(FaultKind::kReorder), kStart);
  for (int i = 0; i < 50; ++i) BOOST_TEST(faults.pass(to(kA, i), kStart).empty());
  std::vector<int> numbers;
  for (const PassingMessage& m : faults.due(kStart + 50ms)) numbers.push_back(number_of(m));
  BOOST_TEST(numbers.size() == 50u);
  BOOST_TEST(std::set<int>(numbers.begin(), numbers.end()).size() == 50u);
  BOOST_TEST(!std::is_sorted(numbers.begin(), numbers.end()));
}

BOOST_AUTO_TEST_CASE(what_is_duplicated_comes_twice) {
  LinkFaults faults;
  faults.add(fault(FaultKind::kDuplicate), kStart);
  BOOST_TEST(faults.pass(from(kA), kStart).size() == 2u);
}

BOOST_AUTO_TEST_CASE(what_is_corrupted_is_never_what_it_was_and_never_without_a_header) {
  const WireFrames sound = frames_of(3);
  for (std::uint64_t word = 0; word < 1000; ++word) {
    const WireFrames damaged = corrupted(sound, mix64(word));
    BOOST_REQUIRE(damaged.size() == 1u);
    BOOST_TEST(!damaged.front().empty());
    BOOST_TEST(!(damaged.front() == sound.front()));
  }
  BOOST_TEST(number_of({Way::kOut, kA, sound, nullptr}) == 3);  // others may hold the same frame
}

}  // namespace
}  // namespace convoy
