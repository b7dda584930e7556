// Data sets: what is loaded, what is refused, and what a batch holds.
#include "node/data/dataset.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "kernels/graph/zoo.h"
#include "messages/base/sampling.h"
#include "tests/unit/data/files.h"

namespace convoy::data {
namespace {

config::DataOptions in(const TemporaryFolder& folder) {
  config::DataOptions options;
  options.dir = folder.path();
  return options;
}

std::shared_ptr<const Dataset> load(const config::DataOptions& options) {
  auto dataset = load_dataset(options);
  BOOST_REQUIRE_MESSAGE(dataset.ok(), (dataset.ok() ? std::string() : dataset.error().message));
  return *dataset;
}

BOOST_AUTO_TEST_CASE(a_data_set_is_four_files_of_a_folder) {
  const TemporaryFolder folder;
  write_data_set(folder, 7, 3);
  const auto dataset = load(in(folder));
  BOOST_TEST(dataset->train().size() == 7);
  BOOST_TEST(dataset->test().size() == 3);
  BOOST_TEST((dataset->shape() == Shape{1, 2, 3}));
}

BOOST_AUTO_TEST_CASE(pixels_are_normalised_by_name_by_file_or_by_themselves) {
  const TemporaryFolder folder;
  write_data_set(folder, 7, 3);
  config::DataOptions options = in(folder);
  options.name = "mnist";
  BOOST_TEST(load(options)->normalised(255) == static_cast<float>((1 - 0.1307) / 0.3081));
  options.mean = 0.5;
  options.std = 0.25;
  BOOST_TEST(load(options)->normalised(0) == -2.0f);
  const auto own = load(in(folder));
  double sum = 0;
  double squares = 0;
  for (const std::uint8_t pixel : own->train().pixels) {
    sum += own->normalised(pixel);
    squares += own->normalised(pixel) * own->normalised(pixel);
  }
  const auto n = static_cast<double>(own->train().pixels.size());
  BOOST_TEST(std::abs(sum / n) < 1e-6);
  BOOST_TEST(std::abs(squares / n - 1) < 1e-6);
}

BOOST_AUTO_TEST_CASE(images_of_one_colour_are_left_unscaled) {
  const TemporaryFolder folder;
  write_data_set(folder, 2, 1);
  write(folder / "train-images-idx3-ubyte", idx({0x803, 2, 2, 3}, Bytes(12, 255)));
  const auto dataset = load(in(folder));
  BOOST_TEST(dataset->normalised(255) == 0.0f);
  BOOST_TEST(dataset->std() == 1.0);
}

BOOST_AUTO_TEST_CASE(images_and_labels_of_different_counts_are_refused) {
  const TemporaryFolder folder;
  write_data_set(folder, 7, 3);
  write(folder / "t10k-labels-idx1-ubyte", labels_file(4));
  const auto dataset = load_dataset(in(folder));
  BOOST_REQUIRE(!dataset.ok());
  BOOST_TEST(dataset.error().message ==
             (folder / "t10k-images-idx3-ubyte holds 3 images, but ") +
                 (folder / "t10k-labels-idx1-ubyte holds 4 labels: they do not belong "
                           "together"));
}

BOOST_AUTO_TEST_CASE(training_and_test_images_of_different_sizes_are_refused) {
  const TemporaryFolder folder;
  write_data_set(folder, 7, 3);
  write(folder / "t10k-images-idx3-ubyte", idx({0x803, 3, 3, 2}, image_items(3)));
  const auto dataset = load_dataset(in(folder));
  BOOST_REQUIRE(!dataset.ok());
  BOOST_TEST(dataset.error().message.ends_with(
      "training images are 1x2x3, test images 1x3x2: they do not belong together"));
}

BOOST_AUTO_TEST_CASE(a_missing_data_set_says_how_to_get_it) {
  const TemporaryFolder folder;
  config::DataOptions options = in(folder);
  options.name = "mnist";
  const auto dataset = load_dataset(options);
  BOOST_REQUIRE(!dataset.ok());
  BOOST_TEST(
      dataset.error().message ==
      (folder / "train-images-idx3-ubyte: cannot be opened: No such file or directory (scripts/data.sh mnist "
                "fetches this data set)"));
}

BOOST_AUTO_TEST_CASE(a_network_that_does_not_fit_is_refused_in_words) {
  const TemporaryFolder folder;
  write_data_set(folder, 7, 3);
  const auto shape = check_fits(*load(in(folder)), lenet());
  BOOST_REQUIRE(!shape.ok());
  BOOST_TEST(shape.error().message.starts_with("model lenet takes images of 1x28x28, but those of data set " +
                                               folder.path() + " are 1x2x3"));

  const auto with_labels = [](std::uint8_t label) {
    const Bytes pixels(784, 0);
    return Dataset("made up", {1, 28, 28}, {pixels, {9}}, {pixels, {label}}, 0, 1);
  };
  BOOST_TEST(check_fits(with_labels(9), lenet()).ok());
  const auto label = check_fits(with_labels(10), lenet());
  BOOST_REQUIRE(!label.ok());
  BOOST_TEST(label.error().message ==
             "test sample 0 of data set made up has label 10, but model lenet has 10 classes, 0 to 9");
}

BOOST_AUTO_TEST_CASE(a_named_data_set_lies_under_its_name_in_the_folder_of_a_node) {
  config::DataOptions options;
  options.name = "mnist";
  options.dir = "somewhere";
  BOOST_TEST(in_data_dir(options, "/srv/data").dir == "/srv/data/mnist");
  options.name.clear();
  BOOST_TEST(in_data_dir(options, "/srv/data").dir == "somewhere");
}

BOOST_AUTO_TEST_CASE(a_batch_holds_the_samples_at_its_positions_in_order_and_counts_their_digest) {
  const TemporaryFolder folder;
  write_data_set(folder, 7, 3);
  const auto dataset = load(in(folder));
  constexpr std::uint64_t kSeed = 42;
  const IntervalSet positions{{3, 9}, {12, 16}};  // crosses the end of epochs 0 and 1
  SampleBatch batch;
  fill_batch(*dataset, positions, kSeed, batch);
  BOOST_REQUIRE(batch.size() == 10);
  BOOST_REQUIRE(batch.images.size() == 60u);
  std::size_t at = 0;
  for (const std::int64_t position : {3, 4, 5, 6, 7, 8, 12, 13, 14, 15}) {
    const Sample sample = sample_at(position, 7, kSeed);
    BOOST_TEST(batch.labels[at] == sample.index % 10);
    for (std::size_t j = 0; j < 6; ++j) {
      const auto pixel = static_cast<std::uint8_t>(10 * sample.index + static_cast<std::int64_t>(j));
      BOOST_TEST(batch.images[at * 6 + j] == dataset->normalised(pixel));
    }
    ++at;
  }
  BOOST_TEST(batch.digest == positions_digest(positions, 7, kSeed));
  BOOST_TEST(batch.digest != positions_digest(IntervalSet{{3, 9}, {12, 15}}, 7, kSeed));
}

BOOST_AUTO_TEST_CASE(an_epoch_of_batches_holds_every_sample_once) {
  const TemporaryFolder folder;
  write_data_set(folder, 7, 3);
  const auto dataset = load(in(folder));
  SampleBatch batch;
  std::vector<float> seen;
  for (std::int64_t first = 7; first < 14; first += 2) {  // epoch 1, in batches that do not divide it
    fill_batch(*dataset, IntervalSet{{first, std::min<std::int64_t>(first + 2, 14)}}, 1, batch);
    for (std::size_t i = 0; i < batch.images.size(); i += 6) seen.push_back(batch.images[i]);
  }
  std::sort(seen.begin(), seen.end());
  BOOST_REQUIRE(seen.size() == 7u);
  for (std::size_t i = 0; i < 7; ++i)
    BOOST_TEST(seen[i] == dataset->normalised(static_cast<std::uint8_t>(10 * i)));
}

BOOST_AUTO_TEST_CASE(test_batches_are_runs_of_the_test_set) {
  const TemporaryFolder folder;
  write_data_set(folder, 7, 5);
  const auto dataset = load(in(folder));
  SampleBatch batch;
  fill_test_batch(*dataset, 1, 4, batch);
  BOOST_TEST(batch.labels == std::vector<std::int32_t>({1, 2, 3}), boost::test_tools::per_element());
  BOOST_TEST(batch.images[0] == dataset->normalised(10));
  fill_test_batch(*dataset, 5, 5, batch);
  BOOST_TEST(batch.size() == 0);
}

}  // namespace
}  // namespace convoy::data
