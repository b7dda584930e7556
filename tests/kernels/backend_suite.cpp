// Each back end against the reference in fp64: values, gradients, odd batches, order of calls, replay of
// choices.
#define BOOST_TEST_MODULE kernels_backends
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <functional>

#include "kernels/cpu/cpu_backend.h"
#include "kernels/reference/reference_backend.h"
#include "tests/kernels/support.h"

using namespace convoy;
using namespace convoy::testing;
namespace data = boost::unit_test::data;

namespace {

struct Device {
  const char* name;
  std::function<std::unique_ptr<Backend>()> make;
  double tolerance;
};

std::unique_ptr<Backend> cpu(int threads, bool measure) {
  auto backend = make_cpu_backend({.threads = threads, .measure = measure});
  BOOST_REQUIRE(backend.ok());
  return std::move(backend).value();
}

// Normalised errors of fp32 with sums of up to a thousand products stay well below 1e-5.
const std::vector<Device>& devices() {
  static const std::vector<Device> all = {
      {"reference", [] { return make_reference_backend(Scalar::kF32); }, 1e-5},
      {"reference64", [] { return make_reference_backend(Scalar::kF64); }, 0},
      {"cpu", [] { return cpu(1, false); }, 1e-5},
      {"cpu, two threads", [] { return cpu(2, false); }, 1e-5},
      {"cpu, measured", [] { return cpu(1, true); }, 1e-5},
  };
  return all;
}

std::vector<Graph> graphs() {
  std::vector<Graph> all = layer_zoo();
  all.push_back(lenet());
  all.push_back(tiny_cnn());
  all.push_back(linear_mnist());
  // Channels and kernels as in larger nets: full vectors, and one more than full.
  all.push_back(chain("wide conv", {3, 12, 12},
                      {{"c1", conv(32, 3, 1, 1), {}},
                       {"r1", Relu{}, {}},
                       {"c2", conv(33, 3, 1, 1), {}},
                       {"r2", Relu{}, {}},
                       {"p", MaxPool2d{3, 2, 1}, {}},
                       {"c3", conv(16, 3, 2, 1, false), {}}}));
  // Rows under the kernel that need more vectors than there are registers.
  all.push_back(
      chain("wide conv and max pool", {40, 10, 10},
            {{"c1", conv(33, 3), {}}, {"p", MaxPool2d{2, 2, 0}, {}}, {"c2", conv(20, 2, 1, 0, false), {}}}));
  return all;
}

struct Outcome {
  StepResult result;
  std::vector<double> gradient;  // widened
  std::vector<std::byte> bytes;
};

std::unique_ptr<Plan> compile(Backend& backend, const Graph& graph, int batch, KernelChoices& choices) {
  auto plan = backend.compile(graph, {.layers = graph.all_layers(), .batch = batch}, choices);
  BOOST_REQUIRE_MESSAGE(plan.ok(), (plan.ok() ? "" : plan.error().message));
  return std::move(plan).value();
}

template <class T>
Outcome step_as(Plan& plan, const Data& samples, std::uint64_t seed) {
  const auto parameters = make_parameters<T>(plan.graph(), seed);
  std::vector<T> gradient(parameters.size(), T{777});
  plan.load_parameters(0, to_bytes(parameters));
  plan.begin(samples.batch());
  plan.forward_all();
  plan.backward_all(to_bytes(gradient));
  Outcome outcome{plan.result(), {gradient.begin(), gradient.end()}, {}};
  const ConstBytes raw = to_bytes(std::span<const T>(gradient));
  outcome.bytes.assign(raw.begin(), raw.end());
  return outcome;
}

Outcome step(Plan& plan, const Data& samples, std::uint64_t seed = 5) {
  return plan.scalar() == Scalar::kF32 ? step_as<float>(plan, samples, seed)
                                       : step_as<double>(plan, samples, seed);
}

// The fp64 reference starts from the fp32 values, so that only arithmetic differs.
Outcome expected(const Graph& graph, const Data& samples, Scalar scalar) {
  KernelChoices none;
  auto backend = make_reference_backend(Scalar::kF64);
  auto plan = compile(*backend, graph, static_cast<int>(samples.labels.size()), none);
  if (scalar == Scalar::kF64) return step(*plan, samples);
  const auto rounded = make_parameters<float>(graph, 5);
  const std::vector<double> parameters(rounded.begin(), rounded.end());
  std::vector<double> gradient(parameters.size());
  plan->load_parameters(0, to_bytes(parameters));
  plan->begin(samples.batch());
  plan->forward_all();
  plan->backward_all(to_bytes(gradient));
  return {plan->result(), gradient, {}};
}

void check_equal(const Graph& graph, const Outcome& got, const Outcome& want, double tolerance) {
  BOOST_TEST(got.result.samples == want.result.samples);
  BOOST_TEST(got.result.correct == want.result.correct);
  BOOST_TEST(std::abs(got.result.loss_sum - want.result.loss_sum) <= tolerance * want.result.loss_sum);
  for (const Tensor& t : graph.parameters()) {
    const double error = normalised_error(got.gradient, want.gradient, t.range());
    BOOST_TEST(error <= tolerance, t.name << ": normalised error " << error);
  }
}

template <class T>
void check_sink(Backend& backend, double tolerance) {
  const Graph graph = lenet();
  KernelChoices choices;
  auto plan = compile(backend, graph, 6, choices);
  const Data samples = make_data(graph, 6, 23);
  const auto whole = step_as<T>(*plan, samples, 5);
  std::vector<T> gradient(graph.parameter_count(), T{777});
  plan->begin(samples.batch());
  plan->forward_all();
  std::vector<int> layers;
  std::int64_t low = graph.parameter_count();
  plan->backward_all(to_bytes(gradient), [&](int layer, ParameterRange range, const StreamEvent& event) {
    event.wait();
    BOOST_TEST(event.ready());
    layers.push_back(layer);
    BOOST_TEST(range.end() == low);
    low = range.offset;
    bool early = true, untouched = true;
    for (std::int64_t i = range.offset; i < range.end(); ++i) early &= gradient[i] == whole.gradient[i];
    for (std::int64_t i = 0; i < range.offset; ++i) untouched &= gradient[i] == 777;
    BOOST_TEST(early);
    BOOST_TEST(untouched);
  });
  BOOST_TEST(layers == (std::vector<int>{7, 5, 2, 0}), boost::test_tools::per_element());
  BOOST_TEST(low == 0);
}

template <class T>
void check_pieces(Backend& backend, double tolerance) {
  const Graph graph = lenet();
  KernelChoices choices;
  auto plan = compile(backend, graph, 5, choices);
  const Data samples = make_data(graph, 5, 24);
  const Outcome whole = step(*plan, samples);
  const auto other = make_parameters<T>(graph, 6), parameters = make_parameters<T>(graph, 5);
  plan->load_parameters(0, to_bytes(other));
  plan->begin(samples.batch());
  std::vector<T> gradient(graph.parameter_count());
  for (int layer = 0; layer < graph.layer_count(); ++layer) {
    const ParameterRange range = graph.layer_parameters(layer);
    for (std::int64_t at = range.offset; at < range.end(); at += 1000) {
      const std::int64_t count = std::min<std::int64_t>(1000, range.end() - at);
      plan->load_parameters(at, to_bytes(std::span<const T>(parameters).subspan(at, count)));
    }
    plan->forward(layer);
  }
  plan->backward_all(to_bytes(gradient));
  BOOST_TEST(plan->result().loss_sum == whole.result.loss_sum);
  const ConstBytes bytes = to_bytes(std::span<const T>(gradient));
  BOOST_TEST(std::equal(bytes.begin(), bytes.end(), whole.bytes.begin(), whole.bytes.end()));
}

// A few numbers of a layer change between two steps: some in the middle of each tensor, alone.
template <class T>
void check_few_numbers(Backend& backend, double) {
  const Graph graph = lenet();
  KernelChoices choices;
  auto changed = compile(backend, graph, 3, choices), fresh = compile(backend, graph, 3, choices);
  const Data samples = make_data(graph, 3, 26);
  auto parameters = make_parameters<T>(graph, 5);
  changed->load_parameters(0, to_bytes(parameters));
  double before = changed->evaluate(samples.batch()).loss_sum;
  for (const Tensor& t : graph.parameters()) {
    const std::int64_t at = t.offset + t.count / 2, count = std::min<std::int64_t>(16, t.range().end() - at);
    for (std::int64_t i = at; i < at + count; ++i) parameters[i] += T{1};
    changed->load_parameters(at, to_bytes(std::span<const T>(parameters).subspan(at, count)));
    fresh->load_parameters(0, to_bytes(parameters));
    const double after = changed->evaluate(samples.batch()).loss_sum;
    BOOST_TEST(after == fresh->evaluate(samples.batch()).loss_sum, t.name);
    BOOST_TEST(after != before, t.name);
    before = after;
  }
}

template <class T>
void check_evaluation(Backend& backend, double tolerance) {
  const Graph graph = lenet();
  KernelChoices choices;
  auto trained = compile(backend, graph, 32, choices);
  auto plan = backend.compile(graph, {.layers = graph.all_layers(), .batch = 32, .training = false}, choices);
  BOOST_REQUIRE(plan.ok());
  const Data samples = make_data(graph, 32, 25);
  const Outcome want = step(*trained, samples);
  const auto parameters = make_parameters<T>(graph, 5);
  (*plan)->load_parameters(0, to_bytes(parameters));
  const StepResult got = (*plan)->evaluate(samples.batch());
  BOOST_TEST(std::abs(got.loss_sum - want.result.loss_sum) <= tolerance * want.result.loss_sum);
  BOOST_TEST(got.correct == want.result.correct);
  BOOST_TEST((*plan)->memory_bytes() < trained->memory_bytes());
}

}  // namespace

BOOST_DATA_TEST_CASE(every_layer_agrees_with_the_reference,
                     data::xrange(devices().size()) * data::make({1, 3, 7, 64}), which, batch) {
  const Device& device = devices()[which];
  auto backend = device.make();
  for (const Graph& graph : graphs()) {
    BOOST_TEST_CONTEXT(device.name << ", " << graph.name() << ", batch " << batch) {
      KernelChoices choices;
      auto plan = compile(*backend, graph, batch, choices);
      const Data samples = make_data(graph, batch, 21);
      check_equal(graph, step(*plan, samples), expected(graph, samples, backend->scalar()), device.tolerance);
    }
  }
}

BOOST_DATA_TEST_CASE(fewer_samples_than_the_batch_count_alone, data::xrange(devices().size()), which) {
  const Device& device = devices()[which];
  auto backend = device.make();
  for (const Graph& graph : graphs()) {
    BOOST_TEST_CONTEXT(device.name << ", " << graph.name()) {
      KernelChoices choices;
      auto plan = compile(*backend, graph, 9, choices);
      step(*plan, make_data(graph, 9, 20));  // leaves its traces in the plan's memory
      const Data samples = make_data(graph, 4, 21);
      check_equal(graph, step(*plan, samples), expected(graph, samples, backend->scalar()), device.tolerance);
    }
  }
}

BOOST_DATA_TEST_CASE(recorded_choices_repeat_a_step_bit_for_bit, data::xrange(devices().size()), which) {
  const Device& device = devices()[which];
  for (const Graph& graph : graphs()) {
    BOOST_TEST_CONTEXT(device.name << ", " << graph.name()) {
      KernelChoices recorded;
      const Data samples = make_data(graph, 13, 22);
      auto first = device.make();
      auto plan = compile(*first, graph, 13, recorded);
      const Outcome once = step(*plan, samples);
      BOOST_TEST((step(*plan, samples).bytes == once.bytes));

      auto read = KernelChoices::parse(recorded.to_text());
      BOOST_REQUIRE(read.ok());
      KernelChoices replayed = *read;
      auto second = device.make();
      auto again = compile(*second, graph, 13, replayed);
      BOOST_TEST((replayed == recorded));
      const Outcome twice = step(*again, samples);
      BOOST_TEST((twice.bytes == once.bytes));
      BOOST_TEST(twice.result.loss_sum == once.result.loss_sum);
    }
  }
}

BOOST_DATA_TEST_CASE(gradients_leave_in_backward_order_and_alone, data::xrange(devices().size()), which) {
  auto backend = devices()[which].make();
  const double tolerance = devices()[which].tolerance;
  backend->scalar() == Scalar::kF32 ? check_sink<float>(*backend, tolerance)
                                    : check_sink<double>(*backend, tolerance);
}

BOOST_DATA_TEST_CASE(parameters_arrive_in_any_pieces_while_the_forward_pass_runs,
                     data::xrange(devices().size()), which) {
  auto backend = devices()[which].make();
  const double tolerance = devices()[which].tolerance;
  backend->scalar() == Scalar::kF32 ? check_pieces<float>(*backend, tolerance)
                                    : check_pieces<double>(*backend, tolerance);
}

BOOST_DATA_TEST_CASE(a_few_numbers_can_be_loaded_alone, data::xrange(devices().size()), which) {
  auto backend = devices()[which].make();
  const double tolerance = devices()[which].tolerance;
  backend->scalar() == Scalar::kF32 ? check_few_numbers<float>(*backend, tolerance)
                                    : check_few_numbers<double>(*backend, tolerance);
}

BOOST_DATA_TEST_CASE(a_plan_without_training_evaluates_the_same, data::xrange(devices().size()), which) {
  auto backend = devices()[which].make();
  const double tolerance = devices()[which].tolerance;
  backend->scalar() == Scalar::kF32 ? check_evaluation<float>(*backend, tolerance)
                                    : check_evaluation<double>(*backend, tolerance);
}

BOOST_DATA_TEST_CASE(what_cannot_be_compiled_is_said, data::xrange(devices().size()), which) {
  auto backend = devices()[which].make();
  const Graph graph = tiny_mlp();
  KernelChoices choices;
  BOOST_TEST(!backend->compile(graph, {.layers = {0, 2}, .batch = 4}, choices).ok());
  BOOST_TEST(!backend->compile(graph, {.layers = graph.all_layers(), .batch = 0}, choices).ok());
}

BOOST_AUTO_TEST_CASE(a_choice_that_cannot_be_followed_is_refused) {
  auto backend = cpu(1, false);
  KernelChoices choices;
  compile(*backend, lenet(), 4, choices);
  BOOST_REQUIRE(!choices.empty());
  for (const auto& [key, implementation] : choices.entries()) {
    KernelChoices wrong = choices;
    wrong.set(key, "of another machine");
    auto plan = backend->compile(lenet(), {.layers = lenet().all_layers(), .batch = 4}, wrong);
    BOOST_REQUIRE_MESSAGE(!plan.ok(), key);
    BOOST_TEST((plan.error().code == ErrorCode::kUnsupported));
    BOOST_TEST(plan.error().message.find(key) != std::string::npos, plan.error().message);
  }
}
