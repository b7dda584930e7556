// Small IDX files for tests of node/data.
#pragma once

#include <zlib.h>

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/folder.h"

namespace convoy::data {

using Bytes = std::vector<std::uint8_t>;

using test::TemporaryFolder;

inline void append_word(Bytes& bytes, std::uint32_t word) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<std::uint8_t>(word >> shift));
}

// `header` words big-endian, then the items.
inline Bytes idx(const std::vector<std::uint32_t>& header, const Bytes& items) {
  Bytes bytes;
  for (const std::uint32_t word : header) append_word(bytes, word);
  bytes.insert(bytes.end(), items.begin(), items.end());
  return bytes;
}

inline Bytes cut(Bytes bytes, std::size_t size) {
  BOOST_REQUIRE(size <= bytes.size());
  bytes.resize(size);
  return bytes;
}

inline void write(const std::string& path, const Bytes& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  BOOST_REQUIRE(file.good());
}

inline Bytes gzip(const Bytes& bytes) {
  z_stream stream{};
  BOOST_REQUIRE(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  Bytes out(deflateBound(&stream, bytes.size()) + 64);
  Bytes in = bytes;
  stream.next_in = in.data();
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  BOOST_REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// `count` images of 2 x 3 pixels with pixel j of image i = 10 i + j (mod 256), labels i mod 10.
inline Bytes image_items(int count) {
  Bytes items;
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < 6; ++j) items.push_back(static_cast<std::uint8_t>(10 * i + j));
  }
  return items;
}
inline Bytes label_items(int count) {
  Bytes items;
  for (int i = 0; i < count; ++i) items.push_back(static_cast<std::uint8_t>(i % 10));
  return items;
}
inline Bytes images_file(int count) {
  return idx({0x803, static_cast<std::uint32_t>(count), 2, 3}, image_items(count));
}
inline Bytes labels_file(int count) {
  return idx({0x801, static_cast<std::uint32_t>(count)}, label_items(count));
}

inline void write_data_set(const TemporaryFolder& folder, int train, int test) {
  write(folder / "train-images-idx3-ubyte", images_file(train));
  write(folder / "train-labels-idx1-ubyte", labels_file(train));
  write(folder / "t10k-images-idx3-ubyte", images_file(test));
  write(folder / "t10k-labels-idx1-ubyte", labels_file(test));
}

}  // namespace convoy::data
