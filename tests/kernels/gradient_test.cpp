// The reference back end in fp64 against central differences of its own loss, layer by layer and option by
// option.
#define BOOST_TEST_MODULE kernels_gradients
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "kernels/reference/reference_backend.h"
#include "tests/kernels/support.h"

using namespace convoy;
using namespace convoy::testing;

namespace {

std::unique_ptr<Plan> compile(Backend& backend, const Graph& graph, int batch) {
  KernelChoices choices;
  auto plan = backend.compile(graph, {.layers = graph.all_layers(), .batch = batch}, choices);
  BOOST_REQUIRE(plan.ok());
  return std::move(plan).value();
}

std::vector<double> gradient_of(Plan& plan, const std::vector<double>& parameters, const Data& data) {
  std::vector<double> gradient(parameters.size());
  plan.load_parameters(0, to_bytes(parameters));
  plan.begin(data.batch());
  plan.forward_all();
  plan.backward_all(to_bytes(gradient));
  return gradient;
}

}  // namespace

BOOST_DATA_TEST_CASE(every_layer_agrees_with_finite_differences,
                     boost::unit_test::data::xrange(layer_zoo().size()), index) {
  const Graph graph = layer_zoo()[index];
  BOOST_TEST_CONTEXT(graph.name()) {
    auto backend = make_reference_backend(Scalar::kF64);
    const int samples = 3;
    auto plan = compile(*backend, graph, samples);
    const Data data = make_data(graph, samples, 11);
    std::vector<double> parameters = make_parameters<double>(graph, 5);
    const std::vector<double> gradient = gradient_of(*plan, parameters, data);

    std::vector<double> differences(parameters.size());
    constexpr double kStep = 1e-5;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const double value = parameters[i];
      double loss[2];
      for (int side = 0; side < 2; ++side) {
        parameters[i] = value + (side ? kStep : -kStep);
        plan->load_parameters(0, to_bytes(parameters));
        loss[side] = plan->evaluate(data.batch()).loss_sum;
      }
      parameters[i] = value;
      differences[i] = (loss[1] - loss[0]) / (2 * kStep);
    }
    for (const Tensor& t : graph.parameters()) {
      BOOST_TEST(normalised_error(gradient, differences, t.range()) < 1e-7, t.name);
    }
  }
}

BOOST_AUTO_TEST_CASE(gradients_of_a_batch_are_the_sum_of_those_of_its_samples) {
  const Graph graph = tiny_cnn();
  auto backend = make_reference_backend(Scalar::kF64);
  const int samples = 5;
  auto whole = compile(*backend, graph, samples);
  auto single = compile(*backend, graph, 1);
  const Data data = make_data(graph, samples, 3);
  const auto parameters = make_parameters<double>(graph, 5);
  const auto gradient = gradient_of(*whole, parameters, data);
  const StepResult result = whole->result();
  std::vector<double> sum(gradient.size());
  StepResult total;
  for (int s = 0; s < samples; ++s) {
    const std::int64_t size = graph.input_shape().size();
    const Data one{{data.images.begin() + s * size, data.images.begin() + (s + 1) * size}, {data.labels[s]}};
    const auto part = gradient_of(*single, parameters, one);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
    total.loss_sum += single->result().loss_sum;
    total.correct += single->result().correct;
  }
  BOOST_TEST(normalised_error(gradient, sum, {0, graph.parameter_count()}) < 1e-14);
  BOOST_TEST(result.loss_sum == total.loss_sum, boost::test_tools::tolerance(1e-13));
  BOOST_TEST(result.correct == total.correct);
  BOOST_TEST(result.samples == samples);
}

// The expected figures are PyTorch 1.13.1's, in double precision, for the same net, numbers and labels.
BOOST_AUTO_TEST_CASE(a_net_computes_what_pytorch_computes) {
  const Graph graph = tiny_cnn();
  auto backend = make_reference_backend(Scalar::kF64);
  auto plan = compile(*backend, graph, 3);
  std::vector<double> parameters(graph.parameter_count());
  for (std::size_t i = 0; i < parameters.size(); ++i)
    parameters[i] = 0.3 * std::sin(static_cast<double>(i + 1));
  Data data{std::vector<float>(3 * 144), {0, 4, 8}};
  for (std::size_t i = 0; i < data.images.size(); ++i) {
    data.images[i] = static_cast<float>(std::cos(0.7 * static_cast<double>(i)));
  }
  const auto gradient = gradient_of(*plan, parameters, data);
  double mixed = 0, square = 0;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    mixed += gradient[i] * std::cos(static_cast<double>(i));
    square += gradient[i] * gradient[i];
  }
  BOOST_TEST(plan->result().loss_sum == 7.5217038529554605, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(mixed == 4.129048943412943, boost::test_tools::tolerance(1e-10));
  BOOST_TEST(std::sqrt(square) == 9.10577652192513, boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(equal_scores_count_the_first_class_as_the_answer) {
  const Graph graph = tiny_mlp();
  auto backend = make_reference_backend(Scalar::kF64);
  auto plan = compile(*backend, graph, 4);
  const std::vector<double> zeros(graph.parameter_count());
  plan->load_parameters(0, to_bytes(zeros));
  Data data = make_data(graph, 4, 1);
  data.labels = {0, 1, 0, 2};
  const StepResult result = plan->evaluate(data.batch());
  BOOST_TEST(result.correct == 2);
  BOOST_TEST(result.loss_sum == 4 * std::log(3.0), boost::test_tools::tolerance(1e-14));
}

BOOST_AUTO_TEST_CASE(large_scores_do_not_overflow_the_loss) {
  const Graph graph = linear_mnist();
  auto backend = make_reference_backend(Scalar::kF32);
  KernelChoices choices;
  auto plan = std::move(backend->compile(graph, {.layers = graph.all_layers(), .batch = 2}, choices)).value();
  std::vector<float> parameters(graph.parameter_count(), 0);
  parameters[graph.parameters()[1].offset] = 1000;  // bias of class 0
  plan->load_parameters(0, to_bytes(parameters));
  Data data = make_data(graph, 2, 1);
  data.labels = {0, 1};
  const StepResult result = plan->evaluate(data.batch());
  BOOST_TEST(result.loss_sum == 1000.0, boost::test_tools::tolerance(1e-6));
}
