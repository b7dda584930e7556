// How one clock's batch is divided among members, and chunks among P-slaves. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "messages/base/ids.h"

namespace convoy {

// Samples of each member so that all finish together: in proportion to `speeds` (samples/s; 0 = unknown,
// taken as the mean of the known), every member at least one while there are enough, the sum exactly `batch`.
// Largest remainders win, ties go to the earlier member. With `equal` the speeds are ignored.
std::vector<std::int64_t> partition_batch(std::int64_t batch, const std::vector<double>& speeds, bool equal);

// Chunks of each of `server_count` P-slaves, ascending: the largest first to the least loaded, so that loads
// differ by at most one chunk. Depends on the sizes alone.
std::vector<std::vector<ChunkId>> partition_chunks(const std::vector<std::int64_t>& chunk_bytes,
                                                   std::size_t server_count);

}  // namespace convoy
