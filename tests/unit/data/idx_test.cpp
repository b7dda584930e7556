// IDX files: raw and compressed ones are read; broken ones are refused in words.
#include "node/data/idx.h"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include "tests/unit/data/files.h"

namespace convoy::data {
namespace {

std::string error_of_images(const TemporaryFolder& folder, const Bytes& bytes) {
  write(folder / "file", bytes);
  const auto images = read_idx_images(folder / "file");
  BOOST_REQUIRE(!images.ok());
  BOOST_TEST((images.error().code == ErrorCode::kCorrupt));
  BOOST_TEST(images.error().message.starts_with(folder / "file: "));
  return images.error().message.substr((folder / "file: ").size());
}

std::string error_of_labels(const TemporaryFolder& folder, const Bytes& bytes) {
  write(folder / "file", bytes);
  const auto labels = read_idx_labels(folder / "file");
  BOOST_REQUIRE(!labels.ok());
  BOOST_TEST((labels.error().code == ErrorCode::kCorrupt));
  return labels.error().message.substr((folder / "file: ").size());
}

BOOST_AUTO_TEST_CASE(images_and_labels_are_read_raw_and_compressed) {
  const TemporaryFolder folder;
  write(folder / "raw", images_file(7));
  write(folder / "packed.gz", gzip(images_file(7)));
  write(folder / "no-suffix", gzip(images_file(7)));
  for (const char* name : {"raw", "packed", "packed.gz", "no-suffix"}) {
    const auto images = read_idx_images(folder / name);
    BOOST_REQUIRE_MESSAGE(images.ok(), (images.ok() ? std::string() : images.error().message));
    BOOST_TEST(images->count == 7);
    BOOST_TEST(images->channels == 1);
    BOOST_TEST(images->height == 2);
    BOOST_TEST(images->width == 3);
    BOOST_TEST(images->pixels == image_items(7), boost::test_tools::per_element());
  }
  write(folder / "labels", labels_file(7));
  const auto labels = read_idx_labels(folder / "labels");
  BOOST_REQUIRE(labels.ok());
  BOOST_TEST(*labels == label_items(7), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(images_in_colour_have_four_sizes) {
  const TemporaryFolder folder;
  write(folder / "file", idx({0x804, 2, 3, 1, 1}, {1, 2, 3, 4, 5, 6}));
  const auto images = read_idx_images(folder / "file");
  BOOST_REQUIRE(images.ok());
  BOOST_TEST(images->count == 2);
  BOOST_TEST(images->channels == 3);
}

BOOST_AUTO_TEST_CASE(a_file_one_byte_short_is_refused) {
  const TemporaryFolder folder;
  BOOST_TEST(error_of_labels(folder, cut(labels_file(7), 14)) ==
             "holds 6 bytes of items where its header says 7: it is cut short");
  BOOST_TEST(error_of_images(folder, cut(images_file(7), 57)) ==
             "holds 41 bytes of items where its header says 42: it is cut short");
}

BOOST_AUTO_TEST_CASE(a_file_one_byte_long_is_refused) {
  const TemporaryFolder folder;
  Bytes bytes = labels_file(7);
  bytes.push_back(0);
  BOOST_TEST(error_of_labels(folder, bytes) == "goes on after the 7 bytes that its header says");
}

BOOST_AUTO_TEST_CASE(every_cut_of_a_raw_file_is_refused) {
  const TemporaryFolder folder;
  const Bytes whole = images_file(3);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string message = error_of_images(folder, cut(whole, size));
    BOOST_TEST(message.find("cut short") != std::string::npos, size << ": " << message);
  }
}

BOOST_AUTO_TEST_CASE(every_cut_of_a_gzip_file_is_refused) {
  const TemporaryFolder folder;
  const Bytes whole = gzip(images_file(3));
  for (std::size_t size = 0; size < whole.size(); ++size) error_of_images(folder, cut(whole, size));
  BOOST_TEST(error_of_images(folder, cut(whole, whole.size() - 1)) ==
             "the gzip stream is cut short: fetch the file again");
  BOOST_TEST(error_of_images(folder, cut(whole, whole.size() / 2)) ==
             "the gzip stream is cut short: fetch the file again");
}

BOOST_AUTO_TEST_CASE(a_flipped_bit_of_a_gzip_file_is_refused) {
  const TemporaryFolder folder;
  const Bytes whole = gzip(images_file(300));
  for (std::size_t at : {whole.size() / 2, whole.size() - 6, whole.size() - 2}) {
    Bytes bytes = whole;
    bytes[at] ^= 0x10;
    error_of_images(folder, bytes);
  }
}

BOOST_AUTO_TEST_CASE(wrong_kinds_of_file_are_named_by_their_first_bytes) {
  const TemporaryFolder folder;
  BOOST_TEST(error_of_images(folder, labels_file(20)) ==
             "starts with 0x00000801, while IDX images start with 0x00000803 or 0x00000804");
  BOOST_TEST(error_of_labels(folder, images_file(3)) ==
             "starts with 0x00000803, while IDX labels start with 0x00000801");
  BOOST_TEST(error_of_images(folder, {'<', 'h', 't', 'm', 'l', '>'}) ==
             "starts with 0x3c68746d, while IDX images start with 0x00000803 or 0x00000804");
}

BOOST_AUTO_TEST_CASE(files_of_nothing_are_refused) {
  const TemporaryFolder folder;
  BOOST_TEST(error_of_images(folder, idx({0x803, 0, 2, 3}, {})) == "holds no images");
  BOOST_TEST(error_of_labels(folder, idx({0x801, 0}, {})) == "holds no labels");
  BOOST_TEST(error_of_images(folder, idx({0x803, 5, 0, 3}, {})) ==
             "its header says images of 1 x 0 x 3, 5 of them");
}

BOOST_AUTO_TEST_CASE(a_header_that_promises_the_world_costs_no_memory) {
  const TemporaryFolder folder;
  BOOST_TEST(error_of_images(folder, idx({0x803, 0xffffffff, 0xffffffff, 0xffffffff}, {1}))
                 .starts_with("its header says images of"));
  BOOST_TEST(error_of_images(folder, idx({0x803, 0x1000000, 256, 256}, {1, 2, 3})) ==
             "holds 3 bytes of items where its header says 1099511627776: it is cut short");
  BOOST_TEST(error_of_labels(folder, idx({0x801, 0xffffffff}, {1})) ==
             "holds 1 bytes of items where its header says 4294967295: it is cut short");
}

BOOST_AUTO_TEST_CASE(files_that_cannot_be_opened_say_why) {
  const TemporaryFolder folder;
  const auto absent = read_idx_images(folder / "absent");
  BOOST_REQUIRE(!absent.ok());
  BOOST_TEST((absent.error().code == ErrorCode::kIo));
  BOOST_TEST(absent.error().message == (folder / "absent: cannot be opened: No such file or directory"));
  const auto directory = read_idx_images(folder.path());
  BOOST_REQUIRE(!directory.ok());
  BOOST_TEST(directory.error().message ==
             folder.path() + ": cannot be read: it is a folder, where IDX data should be");
}

BOOST_AUTO_TEST_CASE(a_pipe_is_refused_and_not_waited_for) {
  const TemporaryFolder folder;
  BOOST_REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  const auto pipe = read_idx_images(folder / "pipe");
  BOOST_REQUIRE(!pipe.ok());
  BOOST_TEST(pipe.error().message ==
             (folder / "pipe: cannot be read: it is no regular file, where IDX data should be"));
}

}  // namespace
}  // namespace convoy::data
