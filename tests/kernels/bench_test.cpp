#define BOOST_TEST_MODULE kernels_bench
#include <boost/test/unit_test.hpp>

#include "kernels/bench/bench_step.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/reference/reference_backend.h"
#include "tests/kernels/support.h"

using namespace convoy;
using namespace convoy::testing;

namespace {

// Counts and timings of one short benchmark must fit together.
void check_sensible(Backend& backend) {
  const Graph graph = tiny_cnn();
  KernelChoices choices;
  auto bench = bench_step(backend, graph, {.batch = 8, .rounds = 3, .round_s = 0.01}, choices);
  BOOST_REQUIRE(bench.ok());
  BOOST_TEST(bench->ms_per_step > 0);
  BOOST_TEST(bench->samples_per_s == 8e3 / bench->ms_per_step, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(bench->gflops == bench->samples_per_s * graph.step_flops() / 1e9,
             boost::test_tools::tolerance(1e-9));
  BOOST_TEST(bench->peak_rss_mb > 1);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_step_is_measured_on_every_back_end) {
  check_sensible(*make_reference_backend(Scalar::kF32));
  check_sensible(*make_reference_backend(Scalar::kF64));
  auto cpu = make_cpu_backend({.threads = 1});
  BOOST_REQUIRE(cpu.ok());
  check_sensible(**cpu);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_measured_is_said) {
  auto backend = make_reference_backend(Scalar::kF32);
  KernelChoices choices;
  const Graph graph = tiny_cnn();
  const Data few = make_data(graph, 4, 1);
  BOOST_TEST(!bench_step(*backend, graph, {.batch = 0}, choices).ok());
  BOOST_TEST(!bench_step(*backend, graph, {.batch = 8, .data = few.batch()}, choices).ok());
}
