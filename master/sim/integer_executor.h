// The arithmetic of simulated runs: exact integers instead of floats, so that a lost, repeated or torn update
// shows as a wrong number and not as noise.
//
// A chunk's value is what its committed positions amount to: their count, their sum, and the sum of their
// hashes salted by the chunk. A gradient is the same over one lease; apply adds. The fourth number depends on
// the order of the updates: equal copies have seen the same ones in the same order.
#pragma once

#include <array>
#include <cstdint>

#include "messages/base/ids.h"
#include "messages/base/interval_set.h"
#include "messages/frame.h"

namespace convoy::sim {

using ChunkValue = std::array<std::uint64_t, 4>;

ChunkValue value_of(ChunkId chunk, const IntervalSet& positions);
void add(ChunkValue& into, const ChunkValue& other);
// Equal but for the order of updates.
bool same_sum(const ChunkValue& a, const ChunkValue& b);

Frame to_frame(const ChunkValue& value);
// REQUIRES: made by to_frame.
ChunkValue from_frame(const Frame& frame);

}  // namespace convoy::sim
