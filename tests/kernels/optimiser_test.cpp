#define BOOST_TEST_MODULE kernels_optimiser
#include "kernels/reference/optimiser.h"

#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numeric>

#include "kernels/graph/chunks.h"
#include "kernels/reference/schedule.h"
#include "tests/kernels/support.h"

using namespace convoy;
using namespace convoy::testing;

namespace {

using Scalars = boost::mpl::list<float, double>;

template <class T>
std::vector<T> noise(std::size_t count, std::uint64_t seed) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(uniform(seed, 0, i));
  return values;
}

template <class T>
struct State {
  std::vector<T> w, v, average;
  explicit State(std::size_t count) : w(noise<T>(count, 1)), v(noise<T>(count, 2)), average(w) {}
};

template <class T>
void apply(const SgdStep& step, const std::vector<T>& g, State<T>& s, std::size_t begin, std::size_t count) {
  sgd_step(step, std::span<const T>(g).subspan(begin, count), std::span<T>(s.w).subspan(begin, count),
           std::span<T>(s.v).subspan(begin, count), std::span<T>(s.average).subspan(begin, count));
}

}  // namespace

// What torch.optim.SGD (PyTorch 1.13.1, double) makes of w = 1 with lr 0.1, momentum 0.9, weight decay 0.01
// and the mean gradients 0.5, -0.25, 1.
BOOST_AUTO_TEST_CASE(a_whole_clock_is_a_step_of_pytorchs_sgd) {
  const double expected[2][3] = {{0.949, 0.927151, 0.8065597489999999},
                                 {0.9031, 0.90757411, 0.6981892081909999}};
  for (bool nesterov : {false, true}) {
    std::vector<double> w{1}, v{0};
    const double means[] = {0.5, -0.25, 1.0};
    for (int i = 0; i < 3; ++i) {
      const std::vector<double> sum{means[i] * 64};
      sgd_step(
          {.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.01, .nesterov = nesterov, .samples = 64},
          std::span<const double>(sum), w, v);
      BOOST_TEST(w[0] == expected[nesterov][i], boost::test_tools::tolerance(1e-15));
    }
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(where_a_tensor_is_cut_does_not_change_a_bit, T, Scalars) {
  const std::size_t count = 1003;
  const auto g = noise<T>(count, 3);
  for (bool nesterov : {false, true}) {
    for (double weight : {1.0, 0.37}) {
      const SgdStep step{.learning_rate = 0.05,
                         .momentum = 0.9,
                         .weight_decay = 5e-4,
                         .nesterov = nesterov,
                         .average_decay = 0.99,
                         .samples = 7,
                         .weight = weight};
      State<T> whole(count);
      apply(step, g, whole, 0, count);
      for (std::size_t piece : {1u, 3u, 8u, 17u, 500u}) {
        State<T> cut(count);
        for (std::size_t begin = 0; begin < count; begin += piece) {
          apply(step, g, cut, begin, std::min(piece, count - begin));
        }
        BOOST_TEST((cut.w == whole.w && cut.v == whole.v && cut.average == whole.average));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(pushes_of_less_weight_follow_their_formula) {
  const double p = 0.25, mu = 0.9, d = 0.99, lr = 0.1, decay = 0.01;
  for (bool nesterov : {false, true}) {
    State<double> s(5);
    const State<double> before = s;
    const auto g = noise<double>(5, 4);
    apply({.learning_rate = lr,
           .momentum = mu,
           .weight_decay = decay,
           .nesterov = nesterov,
           .average_decay = d,
           .samples = 16,
           .weight = p},
          g, s, 0, 5);
    for (int i = 0; i < 5; ++i) {
      const double ghat = g[i] / 16 + decay * before.w[i];
      const double taken = (1 - std::pow(mu, p)) / (1 - mu) * ghat;
      const double v = std::pow(mu, p) * before.v[i] + taken;
      const double w = before.w[i] - lr * p * (nesterov ? taken + std::pow(mu, p) * v : v);
      const double average = std::pow(d, p) * before.average[i] + (1 - std::pow(d, p)) * w;
      BOOST_TEST(s.v[i] == v, boost::test_tools::tolerance(1e-14));
      BOOST_TEST(s.w[i] == w, boost::test_tools::tolerance(1e-14));
      BOOST_TEST(s.average[i] == average, boost::test_tools::tolerance(1e-14));
    }
  }
}

BOOST_AUTO_TEST_CASE(many_small_pushes_of_one_gradient_go_as_far_as_one_large) {
  // With a constant gradient the speed at rest is lr * g / (1 - mu) a clock, however the clock is cut.
  for (int pieces : {1, 2, 8}) {
    std::vector<double> w{0}, v{0};
    const std::vector<double> g{64.0 / pieces};
    const SgdStep step{.learning_rate = 0.1, .momentum = 0.9, .samples = 64 / pieces, .weight = 1.0 / pieces};
    for (int i = 0; i < 400 * pieces; ++i) sgd_step(step, std::span<const double>(g), w, v);
    const double before = w[0];
    for (int i = 0; i < pieces; ++i) sgd_step(step, std::span<const double>(g), w, v);
    BOOST_TEST(w[0] - before == -1.0, boost::test_tools::tolerance(1e-9));
  }
}

BOOST_AUTO_TEST_CASE(without_momentum_no_velocity_is_needed) {
  std::vector<float> w{1, 2}, none;
  const std::vector<float> g{4, 8};
  sgd_step({.learning_rate = 0.5, .samples = 4}, std::span<const float>(g), w, none);
  BOOST_TEST(w[0] == 0.5f);
  BOOST_TEST(w[1] == 1.0f);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(sums_are_added_in_the_order_given, T, Scalars) {
  const std::size_t count = 5000;
  const std::vector<std::vector<T>> parts = {noise<T>(count, 1), noise<T>(count, 2), noise<T>(count, 3)};
  std::vector<std::span<const T>> spans(parts.begin(), parts.end());
  std::vector<T> out(count), expected(count);
  for (std::size_t i = 0; i < count; ++i) expected[i] = (parts[0][i] + parts[1][i]) + parts[2][i];
  sum_in_order(std::span<T>(out), std::span<const std::span<const T>>(spans));
  BOOST_TEST((out == expected));
  std::vector<T> in_place = parts[0];
  spans[0] = in_place;
  sum_in_order(std::span<T>(in_place), std::span<const std::span<const T>>(spans));
  BOOST_TEST((in_place == expected));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(any_chunk_can_be_initialised_anywhere, T, Scalars) {
  const Graph graph = lenet();
  const auto whole = make_parameters<T>(graph, 42);
  for (const Chunk& chunk : make_chunks(graph, 10000).chunks) {
    std::vector<T> piece(chunk.count);
    initialise(graph, 42, chunk.offset, std::span<T>(piece));
    if (!std::equal(piece.begin(), piece.end(), whole.begin() + chunk.offset)) {
      BOOST_ERROR("chunk " << chunk.id.value << " starts otherwise");
    }
  }
  BOOST_TEST((whole != make_parameters<T>(graph, 43)));
}

BOOST_AUTO_TEST_CASE(starting_values_are_uniform_within_the_fan_in) {
  const Graph graph = lenet();
  const auto w = make_parameters<double>(graph, 7);
  const auto f = make_parameters<float>(graph, 7);
  for (const Tensor& t : graph.parameters()) {
    const double bound = 1 / std::sqrt(static_cast<double>(t.fan_in));
    double low = 1, high = -1, sum = 0;
    for (std::int64_t i = t.offset; i < t.range().end(); ++i) {
      low = std::min(low, w[i]), high = std::max(high, w[i]), sum += w[i];
      if (f[i] != static_cast<float>(w[i])) BOOST_ERROR("fp32 is not fp64 rounded at " << i);
    }
    BOOST_TEST(low >= -bound);
    BOOST_TEST(high <= bound);
    BOOST_TEST(high - low > bound);
    BOOST_TEST(std::abs(sum) / static_cast<double>(t.count) <
               4 * bound / std::sqrt(3.0 * static_cast<double>(t.count)));
  }
}

namespace {

double at(const Schedule& schedule, double fraction) {
  return learning_rate(schedule, static_cast<std::int64_t>(fraction * 1000000), 1000000);
}

}  // namespace

BOOST_AUTO_TEST_CASE(schedules_pass_through_the_points_that_define_them) {
  const auto close = boost::test_tools::tolerance(1e-9);
  const Schedule constant = make_schedule(ScheduleKind::kConstant, 0.2);
  BOOST_TEST(at(constant, 0) == 0.2, close);
  BOOST_TEST(at(constant, 1) == 0.2, close);

  Schedule linear = make_schedule(ScheduleKind::kLinear, 0.2);
  BOOST_TEST(at(linear, 0.5) == 0.1, close);
  BOOST_TEST(at(linear, 1) == 0.0, close);
  linear.warmup_fraction = 0.2;
  BOOST_TEST(at(linear, 0) == 0.02, close);
  BOOST_TEST(at(linear, 0.1) == 0.11, close);
  BOOST_TEST(at(linear, 0.2) == 0.2, close);
  BOOST_TEST(at(linear, 0.6) == 0.1, close);

  Schedule cosine = make_schedule(ScheduleKind::kCosine, 0.2);
  cosine.final_factor = 0.1;
  BOOST_TEST(at(cosine, 0) == 0.2, close);
  BOOST_TEST(at(cosine, 0.5) == 0.11, close);
  BOOST_TEST(at(cosine, 1) == 0.02, close);

  Schedule step = make_schedule(ScheduleKind::kStep, 1);
  step.step_fraction = 0.25;
  BOOST_TEST(at(step, 0.2499) == 1.0, close);
  BOOST_TEST(at(step, 0.25) == 0.1, close);
  BOOST_TEST(at(step, 0.5) == 0.01, close);

  // The ends are those of PyTorch's OneCycleLR(max_lr = 1).
  const Schedule cycle = make_schedule(ScheduleKind::kOneCycle, 1);
  BOOST_TEST(at(cycle, 0) == 0.04, close);
  BOOST_TEST(at(cycle, 0.3) == 1.0, close);
  BOOST_TEST(at(cycle, 1) == 4e-6, close);
}

BOOST_AUTO_TEST_CASE(beyond_the_end_a_schedule_stays_where_it_ended) {
  for (const std::string& name : schedule_names()) {
    const auto kind = schedule_by_name(name);
    BOOST_REQUIRE(kind.ok());
    BOOST_TEST(to_string(*kind) == name);
    const Schedule schedule = make_schedule(*kind, 0.3);
    BOOST_TEST(learning_rate(schedule, 2000, 1000) == learning_rate(schedule, 1000, 1000));
  }
  BOOST_TEST(!schedule_by_name("cosin").ok());
}
