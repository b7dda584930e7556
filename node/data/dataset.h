// Dataset: the training and test samples of a run in memory, and how a batch of them becomes floats.
//
// Immutable once loaded, so that the loader, evaluation and verify share one by pointer, from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/run_options.h"
#include "kernels/graph/graph.h"
#include "messages/base/interval_set.h"
#include "messages/base/result.h"

namespace convoy::data {

struct Split {
  std::vector<std::uint8_t> pixels;  // sample after sample, channels x height x width
  std::vector<std::uint8_t> labels;

  std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
};

class Dataset {
 public:
  // REQUIRES: pixels.size() == size() x shape.size() in both splits, std > 0.
  Dataset(std::string name, Shape shape, Split train, Split test, double mean, double std);

  const std::string& name() const { return name_; }
  Shape shape() const { return shape_; }
  const Split& train() const { return train_; }
  const Split& test() const { return test_; }
  double mean() const { return mean_; }  // of pixels scaled to [0, 1]
  double std() const { return std_; }
  // What a pixel becomes: (pixel / 255 - mean) / std.
  float normalised(std::uint8_t pixel) const { return table_[pixel]; }

 private:
  std::string name_;
  Shape shape_;
  Split train_;
  Split test_;
  double mean_;
  double std_;
  std::array<float, 256> table_{};
};

// Reads the four files of `options` (train-images-idx3-ubyte and so on, raw or .gz) from options.dir. Errors
// name the file and what to do. Normalisation: options.mean and std, else the usual ones of a known name,
// else the training images' own.
Result<std::shared_ptr<const Dataset>> load_dataset(const config::DataOptions& options);

// Whether the network can be trained on the data set: shape and labels.
Result<void> check_fits(const Dataset& dataset, const Graph& graph);

// The options as a node sees them, whose data sets lie in `data_dir`: a data set with a name is there under
// its name.
config::DataOptions in_data_dir(config::DataOptions options, const std::string& data_dir);

// Samples as a back end takes them.
struct SampleBatch {
  std::vector<float> images;
  std::vector<std::int32_t> labels;
  std::uint64_t digest = 0;  // sum of sample_digest() over the samples that were copied; 0 for test samples

  std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
};

// The training samples at `positions` of the run's stream, in order. Replaces what `out` holds; its memory is
// reused.
void fill_batch(const Dataset& dataset, const IntervalSet& positions, std::uint64_t seed, SampleBatch& out);
// The test samples [first, last). REQUIRES: a range within the test set.
void fill_test_batch(const Dataset& dataset, std::int64_t first, std::int64_t last, SampleBatch& out);

}  // namespace convoy::data
