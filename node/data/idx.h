// The IDX format of the MNIST family: big-endian magic and sizes, then bytes. Files may be compressed with
// gzip.
//
// Free functions, any thread. Nothing is believed before it is there: a header that promises more than the
// file holds is an error that names both numbers, and costs no memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/base/result.h"

namespace convoy::data {

struct IdxImages {
  std::int64_t count = 0;
  int channels = 1;
  int height = 0;
  int width = 0;
  std::vector<std::uint8_t> pixels;  // count x channels x height x width
};

// `path` itself, or `path` with ".gz" behind it when only that exists. Files of no items are refused.
Result<IdxImages> read_idx_images(const std::string& path);
Result<std::vector<std::uint8_t>> read_idx_labels(const std::string& path);

}  // namespace convoy::data
