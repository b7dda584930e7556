// partition_batch and partition_chunks: sums exact, shares in proportion, loads even.
#include "master/partition.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace convoy {
namespace {

using Shares = std::vector<std::int64_t>;

}  // namespace

BOOST_AUTO_TEST_CASE(a_batch_is_divided_in_proportion_to_speed) {
  BOOST_TEST((partition_batch(60, {100, 200, 300}, false) == Shares{10, 20, 30}));
  BOOST_TEST((partition_batch(60, {100, 200, 300}, true) == Shares{20, 20, 20}));
}

BOOST_AUTO_TEST_CASE(ties_go_to_the_earlier_member) {
  BOOST_TEST((partition_batch(5, {1, 1, 1}, false) == Shares{2, 2, 1}));
  BOOST_TEST((partition_batch(2, {1, 1, 1}, true) == Shares{1, 1, 0}));
}

BOOST_AUTO_TEST_CASE(the_slowest_gets_one_sample_while_there_are_enough) {
  BOOST_TEST((partition_batch(4, {1, 1000, 1000}, false) == Shares{1, 2, 1}));
  BOOST_TEST(partition_batch(3, {1e-9, 1e9, 1e9}, false) == (Shares{1, 1, 1}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(unknown_speeds_count_as_the_mean_of_the_known) {
  BOOST_TEST((partition_batch(60, {0, 10, 30}, false) == Shares{20, 10, 30}));
  BOOST_TEST((partition_batch(9, {0, 0, 0}, false) == Shares{3, 3, 3}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  BOOST_TEST((partition_batch(9, {nan, infinity, -5}, false) == Shares{3, 3, 3}));
}

BOOST_AUTO_TEST_CASE(nobody_gets_nothing) {
  BOOST_TEST(partition_batch(10, {}, false).empty());
}

BOOST_AUTO_TEST_CASE(random_batches_keep_their_sum_and_stay_near_the_ideal) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> log_speed(0, 8);
  for (int round = 0; round < 2000; ++round) {
    const auto count = static_cast<std::size_t>(1 + random() % 20);
    const auto batch = static_cast<std::int64_t>(1 + random() % 200);
    std::vector<double> speeds;
    for (std::size_t i = 0; i < count; ++i) speeds.push_back(std::exp(log_speed(random)));
    const Shares shares = partition_batch(batch, speeds, false);
    BOOST_REQUIRE(shares.size() == count);
    BOOST_REQUIRE(std::accumulate(shares.begin(), shares.end(), std::int64_t{0}) == batch);
    const double total = std::accumulate(speeds.begin(), speeds.end(), 0.0);
    const bool enough = batch >= static_cast<std::int64_t>(count);
    for (std::size_t i = 0; i < count; ++i) {
      const double ideal = static_cast<double>(batch) * speeds[i] / total;
      BOOST_REQUIRE(shares[i] >= (enough ? 1 : 0));
      // Never above the ideal by a whole sample, but for the one that everybody gets.
      BOOST_REQUIRE(static_cast<double>(shares[i]) < std::max(ideal, 1.0) + 1);
    }
  }
}

BOOST_AUTO_TEST_CASE(every_chunk_has_one_owner_and_loads_differ_by_at_most_one_chunk) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::int64_t> sizes(random() % 40);
    for (std::int64_t& s : sizes) s = static_cast<std::int64_t>(1 + random() % 1000);
    const auto servers = static_cast<std::size_t>(1 + random() % 6);
    const auto parts = partition_chunks(sizes, servers);
    BOOST_REQUIRE(parts.size() == servers);
    std::vector<int> owners(sizes.size(), 0);
    std::vector<std::int64_t> loads;
    for (const auto& part : parts) {
      BOOST_REQUIRE(std::is_sorted(part.begin(), part.end()));
      std::int64_t load = 0;
      for (ChunkId c : part) {
        ++owners.at(c.value);
        load += sizes[c.value];
      }
      loads.push_back(load);
    }
    BOOST_REQUIRE(std::all_of(owners.begin(), owners.end(), [](int n) { return n == 1; }));
    const auto [least, most] = std::minmax_element(loads.begin(), loads.end());
    const std::int64_t largest = sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
    BOOST_REQUIRE(*most - *least <= largest);
  }
}

BOOST_AUTO_TEST_CASE(chunks_depend_on_sizes_alone) {
  const auto parts = partition_chunks({5, 9, 5, 1}, 2);
  BOOST_TEST((parts[0] == std::vector<ChunkId>{ChunkId(1), ChunkId(3)}));
  BOOST_TEST((parts[1] == std::vector<ChunkId>{ChunkId(0), ChunkId(2)}));
}

}  // namespace convoy
