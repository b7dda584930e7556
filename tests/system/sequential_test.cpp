// bsp is sequential SGD: whole runs in fp64, as processes, against a plain loop over the same samples.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/graph/zoo.h"
#include "kernels/reference/optimiser.h"
#include "kernels/reference/reference_backend.h"
#include "messages/base/sampling.h"
#include "node/data/dataset.h"
#include "node/record/model_store.h"
#include "tests/system/process.h"
#include "tests/system/world.h"

using namespace convoy;
using namespace convoy::test;

namespace {

// No batch divides the data set or the run, and clocks cross the borders of epochs.
constexpr std::int64_t kImages = 333;
constexpr double kEpochs = 2.4;
constexpr std::int64_t kSamples = 799;
constexpr std::int64_t kBatch = 8;
constexpr std::int64_t kClocks = 100;
constexpr std::uint64_t kSeed = 5;
constexpr double kTolerance = 1e-10;

struct Training {
  double lr = 0.02;
  double momentum = 0.9;
  double weight_decay = 5e-4;
  double warmup = 0.2;  // share of the run, from a tenth of lr; then linear to zero
  bool nesterov = false;
  double average = 0;  // decay of the weights' average, which is what is kept of the run
};

std::string run_file(const Training& t) {
  return "run.seed = " + std::to_string(kSeed) +
         "\nmodel.name = \"lenet\"\ndata = { format = \"idx\", dir = \"set\" }\nsync.mode = \"bsp\"\n"
         "train = { epochs = " +
         std::to_string(kEpochs) + ", batch = " + std::to_string(kBatch) + ", lr = " + std::to_string(t.lr) +
         ", momentum = " + std::to_string(t.momentum) + ", weight_decay = " + std::to_string(t.weight_decay) +
         ", schedule = \"linear\", warmup = " + std::to_string(t.warmup) +
         ", nesterov = " + (t.nesterov ? "true" : "false") +
         " }\neval.average = " + std::to_string(t.average) + "\n";
}

double rate(const Training& t, std::int64_t seen) {
  const double done = static_cast<double>(seen) / static_cast<double>(kSamples);
  if (done < t.warmup) return t.lr * (0.1 + 0.9 * done / t.warmup);
  return t.lr * (1 - (done - t.warmup) / (1 - t.warmup));
}

// What one machine would do: batch after batch of the stream, one optimiser step each.
std::vector<double> sequential(const data::Dataset& set, const Training& t) {
  const Graph graph = lenet();
  const std::unique_ptr<Backend> backend = make_reference_backend(Scalar::kF64);
  KernelChoices choices;
  auto plan =
      backend->compile(graph, {.layers = graph.all_layers(), .batch = static_cast<int>(kBatch)}, choices);
  BOOST_REQUIRE(plan.ok());
  const auto count = static_cast<std::size_t>(graph.parameter_count());
  std::vector<double> w(count);
  initialise(graph, kSeed, 0, std::span<double>(w));
  std::vector<double> v(count), gradient(count), average = w;
  const auto pixels = static_cast<std::size_t>(set.shape().size());
  for (std::int64_t begin = 0; begin < kSamples; begin += kBatch) {
    const std::int64_t end = std::min(kSamples, begin + kBatch);
    std::vector<float> images;
    std::vector<std::int32_t> labels;
    for (std::int64_t position = begin; position < end; ++position) {
      const auto index = static_cast<std::size_t>(sample_at(position, kImages, kSeed).index);
      labels.push_back(set.train().labels[index]);
      for (std::size_t p = 0; p < pixels; ++p)
        images.push_back(set.normalised(set.train().pixels[index * pixels + p]));
    }
    (*plan)->load_parameters(0, to_bytes(std::as_const(w)));
    (*plan)->begin({images, labels});
    (*plan)->forward_all();
    (*plan)->backward_all(to_bytes(gradient));
    const double lr = rate(t, begin);
    for (std::size_t i = 0; i < count; ++i) {
      const double g = gradient[i] / static_cast<double>(end - begin) + t.weight_decay * w[i];
      v[i] = t.momentum * v[i] + g;
      w[i] -= lr * (t.nesterov ? g + t.momentum * v[i] : v[i]);
      average[i] = t.average * average[i] + (1 - t.average) * w[i];
    }
  }
  return average;
}

std::shared_ptr<const data::Dataset> data_of(const World& world) {
  config::DataOptions options;
  options.dir = world.path("set");
  auto set = data::load_dataset(options);
  BOOST_REQUIRE(set.ok());
  return *set;
}

// The model that a run of so many W-slaves and P-slaves writes.
std::vector<double> distributed(const World& world, int workers, int servers) {
  std::string devices;
  for (int i = 0; i < workers; ++i) devices += "{ device = \"reference64\" }, ";
  const Finished trained =
      run(world.folder(), {"train", "run.toml", "--overwrite", "--servers", std::to_string(servers), "--set",
                           "local.w_slave=[" + devices + "]"});
  BOOST_TEST_CONTEXT(trained.err) BOOST_REQUIRE(trained.status == 0);
  const auto summary = world.summary("run");
  BOOST_TEST(summary["clocks"] == kClocks);
  BOOST_TEST(summary["samples"] == kSamples);
  const auto folder = record::newest_model(world.path("runs/run/checkpoints"));
  BOOST_REQUIRE(folder.ok());
  const auto model = record::read_model(*folder);
  BOOST_REQUIRE(model.ok());
  BOOST_REQUIRE((model->scalar == Scalar::kF64));
  const std::span<const double> flat = elements<double>(ConstBytes(model->flat));
  return {flat.begin(), flat.end()};
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  BOOST_REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

}  // namespace

BOOST_AUTO_TEST_CASE(bsp_is_sequential_sgd_for_any_number_of_w_slaves_and_p_slaves) {
  const World world(kImages, 20, 28);
  const Training training;
  world.write("run.toml", run_file(training));
  const std::vector<double> expected = sequential(*data_of(world), training);
  // What the tolerance is worth: a slightly longer warm-up is already far outside it.
  Training other = training;
  other.warmup = 0.21;
  BOOST_TEST(largest_difference(sequential(*data_of(world), other), expected) > 1e5 * kTolerance);
  for (const int workers : {1, 2, 3}) {
    for (const int servers : {1, 2, 3}) {
      const double error = largest_difference(distributed(world, workers, servers), expected);
      BOOST_TEST_MESSAGE(workers << " W-slaves, " << servers << " P-slaves: " << error);
      BOOST_TEST_CONTEXT(workers << " W-slaves, " << servers << " P-slaves") BOOST_TEST(error < kTolerance);
    }
  }
}

BOOST_AUTO_TEST_CASE(bsp_with_nesterov_and_an_average_of_the_weights_is_sequential_too) {
  const World world(kImages, 20, 28);
  const Training training{.nesterov = true, .average = 0.9};
  world.write("run.toml", run_file(training));
  const double error = largest_difference(distributed(world, 3, 2), sequential(*data_of(world), training));
  BOOST_TEST_MESSAGE("Nesterov and average: " << error);
  BOOST_TEST(error < kTolerance);
}
