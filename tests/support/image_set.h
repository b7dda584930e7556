// Made-up images that a network can learn, as the four IDX files of a data set: a bright row for each class,
// in noise.
#pragma once

#include <cstdint>
#include <fstream>
#include <random>
#include <string>

namespace convoy::test {

inline void write_image_split(const std::string& folder, const std::string& split, int count, int side) {
  constexpr int kClasses = 10;
  std::ofstream images(folder + "/" + split + "-images-idx3-ubyte", std::ios::binary);
  std::ofstream labels(folder + "/" + split + "-labels-idx1-ubyte", std::ios::binary);
  const auto put_big_endian = [](std::ofstream& out, int value) {
    for (int shift = 24; shift >= 0; shift -= 8) out.put(static_cast<char>(value >> shift & 0xff));
  };
  put_big_endian(images, 0x803);
  for (const int size : {count, side, side}) put_big_endian(images, size);
  put_big_endian(labels, 0x801);
  put_big_endian(labels, count);
  std::mt19937 noise(static_cast<unsigned>(count));
  for (int i = 0; i < count; ++i) {
    const int label = i % kClasses;
    labels.put(static_cast<char>(label));
    for (int p = 0; p < side * side; ++p) {
      images.put(static_cast<char>(noise() % 64 + (p / side == label ? 128 : 0)));
    }
  }
}

// `train` and `test` samples, `side` x `side` grey.
inline void write_image_set(const std::string& folder, int train, int test, int side) {
  write_image_split(folder, "train", train, side);
  write_image_split(folder, "t10k", test, side);
}

}  // namespace convoy::test
