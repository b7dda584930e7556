// bsp in fp32 on the cpu back end: a clock of several W-slaves and P-slaves, taken from a state of a real
// training, is the step that one machine would take from that state on the whole batch.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "node/run/worker_executor.h"
#include "tests/support/folder.h"
#include "tests/support/image_set.h"
#include "tests/unit/run/support.h"

namespace convoy {
namespace {

constexpr std::int64_t kImages = 1000;
constexpr std::int64_t kLastClock = 100;
constexpr std::uint64_t kSeed = 3;
constexpr double kMomentum = 0.9;
constexpr double kWeightDecay = 5e-4;
constexpr double kRate = 0.005;
// Unequal shares, as of W-slaves of unequal speed.
const std::vector<std::int64_t> kShares{31, 20, 13};
constexpr std::int64_t kBatch = 64;
constexpr double kTolerance = 1e-5;

std::string run_text(const std::string& data_dir) {
  return "run.seed = " + std::to_string(kSeed) + "\nmodel.name = \"lenet\"\nsync.mode = \"bsp\"\n" +
         "data = { format = \"idx\", dir = \"" + data_dir + "\" }\n" +
         "train = { epochs = 7, batch = " + std::to_string(kBatch) + ", lr = " + std::to_string(kRate) +
         ", momentum = " + std::to_string(kMomentum) + ", weight_decay = " + std::to_string(kWeightDecay) +
         " }\n";
}

// The cluster without its protocol: the executors of W-slaves and P-slaves.
class Cluster {
 public:
  Cluster(const std::string& text, std::size_t servers)
      : setup_(test::setup_of(text)),
        sync_(protocol_options(setup_.options, kImages)),
        shards_(test::shards_of(setup_, servers)) {
    for (std::size_t i = 0; i < kShares.size(); ++i) {
      workers_.push_back(std::make_unique<WorkerExecutor>(config::WSlaveOptions{}, ""));
      const Result<double> speed = workers_.back()->warm_up({text, sync_});
      BOOST_REQUIRE_MESSAGE(speed.ok(), (speed.ok() ? std::string() : speed.error().message));
    }
    for (const std::vector<ChunkId>& shard : shards_) {
      servers_.push_back(std::make_unique<ServerExecutor>(setup_, sync_));
      servers_.back()->initialise({shard});
    }
  }

  const RunSetup& setup() const { return setup_; }

  std::vector<double> parameters() { return flat(pull()); }

  // Trains the clock; gives the sum of the W-slaves' gradients.
  std::vector<double> clock(std::int64_t c) {
    const std::vector<ChunkData> parameters = pull();
    std::vector<Gradients> gradients;
    std::vector<double> sum(static_cast<std::size_t>(setup_.chunks.parameter_count));
    std::int64_t begin = c * kBatch;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      Compute compute;
      compute.clock = Clock(c);
      compute.lease = {LeaseId(static_cast<std::uint64_t>(begin)), Clock(c),
                       IntervalSet{{begin, begin + kShares[i]}}};
      compute.parameters = parameters;
      begin += kShares[i];
      Result<Gradients> done = workers_[i]->compute(compute);
      BOOST_REQUIRE(done.ok());
      const std::vector<double> gradient = flat(done->chunks);
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += gradient[k];
      gradients.push_back(std::move(*done));
    }
    for (std::size_t s = 0; s < servers_.size(); ++s) {
      Apply apply;
      apply.clock = Clock(c);
      apply.samples = kBatch;
      apply.samples_before = c * kBatch;
      for (std::size_t i = 0; i < gradients.size(); ++i) {
        Contribution part{
            {MemberId(static_cast<std::uint32_t>(i)), Incarnation(1)}, kShares[i], Encoding::kF32, {}};
        for (const ChunkId id : shards_[s]) part.chunks.push_back(gradients[i].chunks[id.value]);
        apply.contributions.push_back(std::move(part));
      }
      servers_[s]->apply(apply);
    }
    return sum;
  }

 private:
  std::vector<double> flat(const std::vector<ChunkData>& chunks) const {
    std::vector<std::byte> bytes;
    test::place(setup_, chunks, bytes);
    const std::span<const float> values = elements<float>(ConstBytes(bytes));
    return {values.begin(), values.end()};
  }

  std::vector<ChunkData> pull() {
    std::vector<ChunkData> all;
    for (std::size_t s = 0; s < servers_.size(); ++s) {
      for (ChunkData& c : test::pulled(*servers_[s], shards_[s])) all.push_back(std::move(c));
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.chunk < b.chunk; });
    return all;
  }

  RunSetup setup_;
  SyncOptions sync_;
  std::vector<std::vector<ChunkId>> shards_;
  std::vector<std::unique_ptr<WorkerExecutor>> workers_;
  std::vector<std::unique_ptr<ServerExecutor>> servers_;
};

// The gradient of a clock's whole batch, summed over its samples.
std::vector<double> whole_gradient(Plan& plan, const data::Dataset& set, std::int64_t c,
                                   const std::vector<float>& parameters) {
  data::SampleBatch batch;
  data::fill_batch(set, IntervalSet{{c * kBatch, (c + 1) * kBatch}}, kSeed, batch);
  std::vector<float> gradient(parameters.size());
  plan.load_parameters(0, to_bytes(parameters));
  plan.begin({batch.images, batch.labels});
  plan.forward_all();
  plan.backward_all(to_bytes(gradient));
  return {gradient.begin(), gradient.end()};
}

double norm(const std::vector<double>& a) {
  double squares = 0;
  for (const double x : a) squares += x * x;
  return std::sqrt(squares);
}

// |a - b| over |b|.
double error(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> difference(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
  return norm(difference) / norm(b);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_clock_from_the_same_state_is_the_sequential_step_at_any_time_of_a_training) {
  const test::TemporaryFolder folder;
  test::write_image_set(folder.path(), static_cast<int>(kImages), 20, 28);
  Cluster cluster(run_text(folder.path()), 2);
  const auto set = data::load_dataset(cluster.setup().options.data);
  BOOST_REQUIRE(set.ok());
  auto backend = make_backend(config::WSlaveOptions{}, Scalar::kF32, false);
  BOOST_REQUIRE(backend.ok());
  const Graph& graph = cluster.setup().graph;
  KernelChoices choices;
  auto plan =
      (*backend)->compile(graph, {.layers = graph.all_layers(), .batch = static_cast<int>(kBatch)}, choices);
  BOOST_REQUIRE(plan.ok());

  const auto count = static_cast<std::size_t>(graph.parameter_count());
  std::vector<double> velocity(count);  // as the P-slaves have it
  for (std::int64_t c = 0; c <= kLastClock; ++c) {
    const std::vector<double> before = cluster.parameters();
    const std::vector<double> sum = cluster.clock(c);
    if (c % 10 == 0) {
      const std::vector<float> state(before.begin(), before.end());
      const std::vector<double> gradient = whole_gradient(**plan, **set, c, state);
      const std::vector<double> after = cluster.parameters();
      std::vector<double> step(count);
      std::vector<double> moved(count);
      std::vector<double> expected(count);
      for (std::size_t i = 0; i < count; ++i) {
        step[i] = -kRate * (kMomentum * velocity[i] + gradient[i] / kBatch + kWeightDecay * before[i]);
        moved[i] = after[i] - before[i];
        expected[i] = before[i] + step[i];
      }
      // Parameters are kept in fp32: half a unit of their last place is beyond anybody's reach.
      const double stored = std::ldexp(norm(before), -24) / norm(step);
      BOOST_TEST_MESSAGE("clock " << c << ": gradient " << error(sum, gradient) << ", step "
                                  << error(moved, step) << " where storing takes up to " << stored
                                  << ", parameters " << error(after, expected));
      BOOST_TEST_CONTEXT("clock " << c) {
        BOOST_TEST(error(sum, gradient) < kTolerance);
        BOOST_TEST(error(moved, step) < kTolerance + stored);
        BOOST_TEST(error(after, expected) < kTolerance);
      }
    }
    for (std::size_t i = 0; i < count; ++i)
      velocity[i] = kMomentum * velocity[i] + sum[i] / kBatch + kWeightDecay * before[i];
  }
}

}  // namespace convoy
