#include "node/data/dataset.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "messages/base/check.h"
#include "messages/base/sampling.h"
#include "node/data/idx.h"

namespace convoy::data {
namespace {

struct Normalisation {
  double mean = 0;
  double std = 1;
};

// Sums of bytes are exact, so every node computes the same bits.
Normalisation normalisation_of(const Split& split) {
  std::array<std::int64_t, 256> counts{};
  for (const std::uint8_t pixel : split.pixels) ++counts[pixel];
  double sum = 0;
  double squares = 0;
  for (int value = 0; value < 256; ++value) {
    const auto count = static_cast<double>(counts[static_cast<std::size_t>(value)]);
    sum += count * value;
    squares += count * value * value;
  }
  const auto n = static_cast<double>(split.pixels.size());
  const double mean = sum / n;
  const double variance = squares / n - mean * mean;
  // Images of one colour only have nothing to scale.
  return {mean / 255, variance > 0 ? std::sqrt(variance) / 255 : 1.0};
}

Normalisation normalisation(const config::DataOptions& options, const Split& train) {
  if (options.mean && options.std) return {*options.mean, *options.std};
  if (options.name == "mnist") return {0.1307, 0.3081};
  if (options.name == "fashion-mnist") return {0.2860, 0.3530};
  return normalisation_of(train);
}

struct LoadedSplit {
  Split split;
  Shape shape;
};

Result<LoadedSplit> load_split(const std::string& dir, const std::string& prefix) {
  const std::string images_path = dir + "/" + prefix + "-images-idx3-ubyte";
  const std::string labels_path = dir + "/" + prefix + "-labels-idx1-ubyte";
  auto images = read_idx_images(images_path);
  if (!images) return images.error();
  auto labels = read_idx_labels(labels_path);
  if (!labels) return labels.error();
  const auto label_count = static_cast<std::int64_t>(labels->size());
  if (images->count != label_count) {
    return Error{ErrorCode::kCorrupt,
                 images_path + " holds " + std::to_string(images->count) + " images, but " + labels_path +
                     " holds " + std::to_string(label_count) + " labels: they do not belong together"};
  }
  return LoadedSplit{Split{std::move(images->pixels), std::move(*labels)},
                     Shape{images->channels, images->height, images->width}};
}

std::string to_text(Shape shape) {
  return std::to_string(shape.channels) + "x" + std::to_string(shape.height) + "x" +
         std::to_string(shape.width);
}

Error with_hint(Error error, const config::DataOptions& options) {
  if (error.code == ErrorCode::kIo && !options.name.empty()) {
    error.message += " (scripts/data.sh " + options.name + " fetches this data set)";
  }
  return error;
}

void copy_sample(const Dataset& dataset, const Split& split, std::int64_t index, std::int64_t at,
                 SampleBatch& out) {
  const std::int64_t size = dataset.shape().size();
  const std::uint8_t* from = split.pixels.data() + index * size;
  float* to = out.images.data() + at * size;
  for (std::int64_t i = 0; i < size; ++i) to[i] = dataset.normalised(from[i]);
  out.labels[static_cast<std::size_t>(at)] = split.labels[static_cast<std::size_t>(index)];
}

void resize(const Dataset& dataset, std::int64_t samples, SampleBatch& out) {
  out.images.resize(static_cast<std::size_t>(samples * dataset.shape().size()));
  out.labels.resize(static_cast<std::size_t>(samples));
  out.digest = 0;
}

}  // namespace

Dataset::Dataset(std::string name, Shape shape, Split train, Split test, double mean, double std)
    : name_(std::move(name)),
      shape_(shape),
      train_(std::move(train)),
      test_(std::move(test)),
      mean_(mean),
      std_(std) {
  CONVOY_CHECK(std > 0, std);
  for (const Split* split : {&train_, &test_}) {
    CONVOY_CHECK(static_cast<std::int64_t>(split->pixels.size()) == split->size() * shape.size(),
                 split->pixels.size(), " pixels, ", split->size(), " labels");
  }
  for (std::size_t pixel = 0; pixel < table_.size(); ++pixel) {
    table_[pixel] = static_cast<float>((static_cast<double>(pixel) / 255 - mean) / std);
  }
}

Result<std::shared_ptr<const Dataset>> load_dataset(const config::DataOptions& options) {
  auto train = load_split(options.dir, "train");
  if (!train) return with_hint(train.error(), options);
  auto test = load_split(options.dir, "t10k");
  if (!test) return with_hint(test.error(), options);
  if (train->shape != test->shape) {
    return Error{ErrorCode::kCorrupt, options.dir + ": training images are " + to_text(train->shape) +
                                          ", test images " + to_text(test->shape) +
                                          ": they do not belong together"};
  }
  const Normalisation n = normalisation(options, train->split);
  const std::string name = options.name.empty() ? options.dir : options.name;
  return std::make_shared<const Dataset>(name, train->shape, std::move(train->split), std::move(test->split),
                                         n.mean, n.std);
}

Result<void> check_fits(const Dataset& dataset, const Graph& graph) {
  if (dataset.shape() != graph.input_shape()) {
    return Error{ErrorCode::kUsage, "model " + graph.name() + " takes images of " +
                                        to_text(graph.input_shape()) + ", but those of data set " +
                                        dataset.name() + " are " + to_text(dataset.shape()) +
                                        ": name another model or data set"};
  }
  for (const Split* split : {&dataset.train(), &dataset.test()}) {
    const auto wrong = std::find_if(split->labels.begin(), split->labels.end(),
                                    [&graph](std::uint8_t label) { return label >= graph.classes(); });
    if (wrong != split->labels.end()) {
      return Error{ErrorCode::kCorrupt, std::string(split == &dataset.train() ? "training" : "test") +
                                            " sample " + std::to_string(wrong - split->labels.begin()) +
                                            " of data set " + dataset.name() + " has label " +
                                            std::to_string(*wrong) + ", but model " + graph.name() + " has " +
                                            std::to_string(graph.classes()) + " classes, 0 to " +
                                            std::to_string(graph.classes() - 1)};
    }
  }
  return {};
}

config::DataOptions in_data_dir(config::DataOptions options, const std::string& data_dir) {
  if (!options.name.empty()) options.dir = data_dir + "/" + options.name;
  return options;
}

void fill_batch(const Dataset& dataset, const IntervalSet& positions, std::uint64_t seed, SampleBatch& out) {
  resize(dataset, positions.size(), out);
  const Split& train = dataset.train();
  std::int64_t at = 0;
  for (const Interval& interval : positions.intervals()) {
    for (std::int64_t position = interval.begin; position < interval.end; ++position) {
      const Sample sample = sample_at(position, train.size(), seed);
      copy_sample(dataset, train, sample.index, at++, out);
      out.digest += sample_digest(sample);
    }
  }
}

void fill_test_batch(const Dataset& dataset, std::int64_t first, std::int64_t last, SampleBatch& out) {
  CONVOY_CHECK(0 <= first && first <= last && last <= dataset.test().size(), first, " to ", last, " of ",
               dataset.test().size());
  resize(dataset, last - first, out);
  for (std::int64_t index = first; index < last; ++index) {
    copy_sample(dataset, dataset.test(), index, index - first, out);
  }
}

}  // namespace convoy::data
