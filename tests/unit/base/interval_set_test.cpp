// IntervalSet against std::set, operation by operation, from random seeds.
#include "messages/base/interval_set.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>
#include <set>
#include <sstream>
#include <vector>

namespace convoy {
namespace {

using Model = std::set<std::int64_t>;

// Sorted, disjoint, non-touching, not empty, and the same positions as the model.
void check_same(const IntervalSet& set, const Model& model) {
  Model seen;
  std::int64_t last_end = std::numeric_limits<std::int64_t>::min();
  for (const Interval& i : set.intervals()) {
    BOOST_REQUIRE(i.begin < i.end);
    BOOST_REQUIRE(last_end < i.begin);
    last_end = i.end;
    for (std::int64_t p = i.begin; p < i.end; ++p) seen.insert(p);
  }
  BOOST_REQUIRE(seen == model);
  BOOST_REQUIRE(set.size() == static_cast<std::int64_t>(model.size()));
  BOOST_REQUIRE(set.empty() == model.empty());
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}

  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(n));
  }
  Interval interval() {
    const std::int64_t begin = below(60);
    return {begin, begin + below(12) - 1};  // empty and reversed ones too
  }
  std::pair<IntervalSet, Model> set() {
    std::pair<IntervalSet, Model> made;
    for (std::int64_t n = below(6); n > 0; --n) {
      const Interval i = interval();
      made.first.insert(i);
      for (std::int64_t p = i.begin; p < i.end; ++p) made.second.insert(p);
    }
    return made;
  }

 private:
  std::mt19937_64 engine_;
};

BOOST_AUTO_TEST_CASE(it_behaves_as_a_set_of_positions) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      Random random(seed);
      IntervalSet set;
      Model model;
      for (int step = 0; step < 60; ++step) {
        const Interval i = random.interval();
        const auto [other, other_model] = random.set();
        switch (random.below(5)) {
          case 0:
            set.insert(i);
            for (std::int64_t p = i.begin; p < i.end; ++p) model.insert(p);
            break;
          case 1:
            set.erase(i);
            for (std::int64_t p = i.begin; p < i.end; ++p) model.erase(p);
            break;
          case 2:
            set.insert(other);
            model.insert(other_model.begin(), other_model.end());
            break;
          case 3:
            set.erase(other);
            for (const std::int64_t p : other_model) model.erase(p);
            break;
          case 4: {
            const std::int64_t count = random.below(10);
            Model expected;
            for (std::int64_t n = 0; n < count && !model.empty(); ++n)
              expected.insert(model.extract(model.begin()));
            check_same(set.take_first(count), expected);
            break;
          }
        }
        check_same(set, model);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(questions_are_answered_as_by_a_set_of_positions) {
  std::int64_t intersecting = 0;
  std::int64_t including = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      Random random(seed);
      // Named one by one: clang 14 cannot capture a structured binding.
      const auto first = random.set();
      const IntervalSet& a = first.first;
      const Model& a_model = first.second;
      auto [b, b_model] = random.set();
      if (random.below(3) == 0) {  // a subset, which chance alone gives too rarely
        b_model.clear();
        for (const std::int64_t p : a_model) {
          if (random.below(2) == 0) b_model.insert(p);
        }
        b.clear();
        for (const std::int64_t p : b_model) b.insert(Interval{p, p + 1});
      }
      for (std::int64_t p = -2; p < 75; ++p) BOOST_REQUIRE(a.contains(p) == a_model.contains(p));
      const bool intersects =
          std::any_of(b_model.begin(), b_model.end(), [&](std::int64_t p) { return a_model.contains(p); });
      const bool includes = std::includes(a_model.begin(), a_model.end(), b_model.begin(), b_model.end());
      BOOST_REQUIRE(a.intersects(b) == intersects);
      BOOST_REQUIRE(b.intersects(a) == intersects);
      BOOST_REQUIRE(a.includes(b) == includes);
      intersecting += intersects ? 1 : 0;
      including += includes ? 1 : 0;
      const Interval within = random.interval();
      Model rest;
      for (std::int64_t p = within.begin; p < within.end; ++p) {
        if (!a_model.contains(p)) rest.insert(p);
      }
      check_same(a.complement(within), rest);
    }
  }
  // Both answers came often enough to mean something.
  BOOST_TEST(intersecting > 200);
  BOOST_TEST(intersecting < 1800);
  BOOST_TEST(including > 200);
  BOOST_TEST(including < 1800);
}

BOOST_AUTO_TEST_CASE(equal_sets_are_equal_however_they_were_built) {
  IntervalSet a{{0, 5}, {5, 10}, {20, 30}};
  IntervalSet b{{25, 30}, {0, 12}, {18, 26}};
  BOOST_TEST(!(a == b));
  BOOST_TEST(a.digest() != b.digest());
  b.erase(Interval{10, 20});
  BOOST_TEST((a == b));
  BOOST_TEST(a.digest() == b.digest());
  BOOST_TEST(IntervalSet().digest() == 0u);
}

BOOST_AUTO_TEST_CASE(it_prints_first_and_last_positions) {
  std::ostringstream out;
  out << IntervalSet{{0, 5}, {7, 8}};
  BOOST_TEST(out.str() == "{0-4 7-7}");
}

}  // namespace
}  // namespace convoy
