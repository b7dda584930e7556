#include "messages/base/sampling.h"

#include <bit>

#include "messages/base/check.h"

namespace convoy {
namespace {

constexpr int kRounds = 4;

// A bijection of [0, 2^(2*half_bits)).
std::uint64_t feistel(std::uint64_t x, int half_bits, std::uint64_t key) {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  std::uint64_t left = x >> half_bits;
  std::uint64_t right = x & mask;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t f = random_word(key, static_cast<std::uint64_t>(round), right) & mask;
    const std::uint64_t next = left ^ f;
    left = right;
    right = next;
  }
  return (left << half_bits) | right;
}

}  // namespace

Sample sample_at(std::int64_t position, std::int64_t sample_count, std::uint64_t seed) {
  CONVOY_CHECK(position >= 0 && sample_count > 0, "position ", position, " of ", sample_count);
  const std::int64_t epoch = position / sample_count;
  const auto count = static_cast<std::uint64_t>(sample_count);
  const int bits = std::bit_width(count - 1);
  const int half_bits = bits < 2 ? 1 : (bits + 1) / 2;
  const std::uint64_t key = random_word(seed, 0x6570'6f63'68ull, static_cast<std::uint64_t>(epoch));
  std::uint64_t x = static_cast<std::uint64_t>(position % sample_count);
  do {
    x = feistel(x, half_bits, key);
  } while (x >= count);
  return {epoch, static_cast<std::int64_t>(x)};
}

std::uint64_t sample_digest(Sample sample) {
  return random_word(0x7361'6d70'6c65ull, static_cast<std::uint64_t>(sample.epoch),
                     static_cast<std::uint64_t>(sample.index));
}

std::uint64_t positions_digest(const IntervalSet& positions, std::int64_t sample_count, std::uint64_t seed) {
  std::uint64_t sum = 0;
  for (const Interval& i : positions.intervals()) {
    for (std::int64_t p = i.begin; p < i.end; ++p) sum += sample_digest(sample_at(p, sample_count, seed));
  }
  return sum;
}

}  // namespace convoy
