// Positions and samples: every epoch is a permutation, and digests tell sets of samples apart.
#include "messages/base/sampling.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <set>
#include <vector>

namespace convoy {
namespace {

std::vector<std::int64_t> epoch_of(std::int64_t epoch, std::int64_t count, std::uint64_t seed) {
  std::vector<std::int64_t> order;
  for (std::int64_t p = epoch * count; p < (epoch + 1) * count; ++p) {
    const Sample sample = sample_at(p, count, seed);
    BOOST_REQUIRE(sample.epoch == epoch);
    order.push_back(sample.index);
  }
  return order;
}

void check_permutation(const std::vector<std::int64_t>& order) {
  std::vector<bool> seen(order.size(), false);
  for (const std::int64_t index : order) {
    BOOST_REQUIRE(0 <= index);
    BOOST_REQUIRE(index < static_cast<std::int64_t>(order.size()));
    BOOST_REQUIRE(!seen[static_cast<std::size_t>(index)]);
    seen[static_cast<std::size_t>(index)] = true;
  }
}

BOOST_AUTO_TEST_CASE(every_epoch_is_a_permutation_for_every_size) {
  for (std::int64_t count = 1; count <= 300; ++count) {
    for (const std::int64_t epoch : {0, 1, 17}) check_permutation(epoch_of(epoch, count, 5));
  }
  for (const std::int64_t count : {1023, 1024, 1025, 4096, 4097, 60000}) {
    for (const std::uint64_t seed : {0ull, 1ull, ~0ull}) check_permutation(epoch_of(3, count, seed));
  }
}

BOOST_AUTO_TEST_CASE(seeds_and_epochs_give_different_orders) {
  const auto order = epoch_of(0, 1000, 1);
  BOOST_TEST(order == epoch_of(0, 1000, 1), boost::test_tools::per_element());
  BOOST_TEST((order != epoch_of(1, 1000, 1)));
  BOOST_TEST((order != epoch_of(0, 1000, 2)));
}

BOOST_AUTO_TEST_CASE(an_order_shows_no_trace_of_the_one_before_it) {
  // Correlation of place and index, and of the indices of two epochs; its standard deviation is 1/sqrt(n).
  constexpr std::int64_t kCount = 60000;
  const auto a = epoch_of(0, kCount, 7);
  const auto b = epoch_of(1, kCount, 7);
  const auto correlation = [](const std::vector<std::int64_t>& x, const std::vector<std::int64_t>& y) {
    const double middle = (kCount - 1) / 2.0;
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      sum += (static_cast<double>(x[i]) - middle) * (static_cast<double>(y[i]) - middle);
    }
    return sum / (static_cast<double>(kCount) * (static_cast<double>(kCount) * kCount - 1) / 12);
  };
  std::vector<std::int64_t> place;
  for (std::int64_t i = 0; i < kCount; ++i) place.push_back(i);
  const double limit = 4 / std::sqrt(static_cast<double>(kCount));
  BOOST_TEST(std::abs(correlation(a, place)) < limit);
  BOOST_TEST(std::abs(correlation(a, b)) < limit);
}

BOOST_AUTO_TEST_CASE(large_data_sets_and_late_positions_are_in_range) {
  for (const std::int64_t count : {std::int64_t{1} << 31, (std::int64_t{1} << 40) + 3}) {
    for (const std::int64_t position : {std::int64_t{0}, count - 1, count, 1000 * count + 12345}) {
      const Sample sample = sample_at(position, count, 9);
      BOOST_TEST(sample.epoch == position / count);
      BOOST_TEST((0 <= sample.index && sample.index < count));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_digest_is_the_sum_over_its_samples_and_knows_the_epoch) {
  const IntervalSet positions{{3, 9}, {12, 15}};
  std::uint64_t sum = 0;
  for (const std::int64_t p : {14, 3, 13, 4, 12, 5, 8, 7, 6}) sum += sample_digest(sample_at(p, 10, 4));
  BOOST_TEST(positions_digest(positions, 10, 4) == sum);
  BOOST_TEST(positions_digest(IntervalSet(), 10, 4) == 0u);
  BOOST_TEST(sample_digest({0, 3}) != sample_digest({1, 3}));
}

BOOST_AUTO_TEST_CASE(the_digest_of_an_epoch_does_not_depend_on_the_seed_but_on_every_sample) {
  const auto digest = [](std::int64_t from, std::int64_t to, std::uint64_t seed) {
    return positions_digest(IntervalSet{{from, to}}, 100, seed);
  };
  BOOST_TEST(digest(100, 200, 1) == digest(100, 200, 2));
  std::set<std::uint64_t> with_one_missing;
  for (std::int64_t p = 100; p < 200; ++p) {
    IntervalSet positions{{100, 200}};
    positions.erase(Interval{p, p + 1});
    with_one_missing.insert(positions_digest(positions, 100, 1));
  }
  BOOST_TEST(with_one_missing.size() == 100u);
  BOOST_TEST(!with_one_missing.contains(digest(100, 200, 1)));
}

BOOST_AUTO_TEST_CASE(random_words_depend_on_every_argument_and_units_lie_in_zero_to_one) {
  BOOST_TEST(random_word(1, 2, 3) == random_word(1, 2, 3));
  std::set<std::uint64_t> words{random_word(1, 2, 3), random_word(2, 2, 3), random_word(1, 3, 3),
                                random_word(1, 2, 4), random_word(1, 3, 2)};
  BOOST_TEST(words.size() == 5u);
  double sum = 0;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const double unit = to_unit(random_word(1, 1, i));
    BOOST_REQUIRE((unit >= 0 && unit < 1));
    sum += unit;
  }
  BOOST_TEST(std::abs(sum / 10000 - 0.5) < 4 * std::sqrt(1.0 / 12 / 10000));
  BOOST_TEST(to_unit(~0ull) < 1.0);
}

}  // namespace
}  // namespace convoy
