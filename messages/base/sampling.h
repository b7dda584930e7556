// Which sample stands at which position of the stream, and the digests that prove what was trained.
//
// Positions count samples over the whole run: epoch e of a data set of N samples is [eN, (e+1)N). Each epoch
// is a permutation drawn from the seed. Pure functions of their arguments: every node computes the same.
#pragma once

#include <cstdint>

#include "messages/base/interval_set.h"

namespace convoy {

// Finaliser of splitmix64 (Steele, Lea, Flood 2014): a bijection of 64-bit words that mixes every bit.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// Counter-based randomness: the same (seed, a, b) gives the same word wherever and however often it is asked
// for.
constexpr std::uint64_t random_word(std::uint64_t seed, std::uint64_t a, std::uint64_t b) {
  return mix64(mix64(mix64(seed) ^ a) ^ b);
}

// Uniform in [0, 1) from the upper 53 bits.
constexpr double to_unit(std::uint64_t word) {
  return static_cast<double>(word >> 11) * 0x1.0p-53;
}

struct Sample {
  std::int64_t epoch = 0;
  std::int64_t index = 0;  // into the data set
};

// The sample at `position` of a data set of `sample_count` samples. A four-round Feistel network over the
// smallest even-bit domain that holds the set, walked until it falls inside (Black, Rogaway 2002): random
// access, no table. REQUIRES: position >= 0, sample_count > 0.
Sample sample_at(std::int64_t position, std::int64_t sample_count, std::uint64_t seed);

// What one trained sample adds to the digest of a push (sums wrap at 2^64).
std::uint64_t sample_digest(Sample sample);

// Sum of sample_digest over `positions`: what `convoy verify` expects of a push.
std::uint64_t positions_digest(const IntervalSet& positions, std::int64_t sample_count, std::uint64_t seed);

}  // namespace convoy
