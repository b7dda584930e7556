#include "master/sim/integer_executor.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "messages/base/check.h"
#include "messages/base/sampling.h"

namespace convoy::sim {

ChunkValue value_of(ChunkId chunk, const IntervalSet& positions) {
  ChunkValue value{};
  for (const Interval& i : positions.intervals()) {
    for (std::int64_t p = i.begin; p < i.end; ++p) {
      value[0] += 1;
      value[1] += static_cast<std::uint64_t>(p);
      value[2] += random_word(chunk.value, 0x73696du, static_cast<std::uint64_t>(p));
    }
  }
  return value;
}

void add(ChunkValue& into, const ChunkValue& other) {
  for (std::size_t i = 0; i < 3; ++i) into[i] += other[i];
  into[3] = mix64(into[3] ^ mix64(other[2]));
}

bool same_sum(const ChunkValue& a, const ChunkValue& b) {
  return std::equal(a.begin(), a.begin() + 3, b.begin());
}

Frame to_frame(const ChunkValue& value) {
  return Frame::copy_of(std::as_bytes(std::span(value)));
}

ChunkValue from_frame(const Frame& frame) {
  ChunkValue value{};
  CONVOY_CHECK(frame.size() == sizeof value, frame.size(), " bytes");
  std::memcpy(value.data(), frame.data(), sizeof value);
  return value;
}

}  // namespace convoy::sim
