// How one clock's batch is divided among members, and chunks among P-slaves. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "messages/base/ids.h"
#include "messages/view_record.h"

namespace convoy {

// Samples of each member so that all finish together: in proportion to `speeds` (samples/s; 0 = unknown,
// taken as the mean of the known), every member at least one while there are enough, the sum exactly `batch`.
// Largest remainders win, ties go to the earlier member. With `equal` the speeds are ignored.
std::vector<std::int64_t> partition_batch(std::int64_t batch, const std::vector<double>& speeds, bool equal);

// Chunks of each of `server_count` P-slaves, ascending: the largest first to the least loaded, so that loads
// differ by at most one chunk. Depends on the sizes alone.
std::vector<std::vector<ChunkId>> partition_chunks(const std::vector<std::int64_t>& chunk_bytes,
                                                   std::size_t server_count);

// The shards of a view with these P-slaves (ascending, not empty), one for each that owns chunks, by owner.
// Chunks stay with their owner of `base`, or go to its backup when the owner is not among `servers`; then
// single chunks move from the most to the least loaded until loads differ by at most one chunk. With
// `backups` the next P-slave in the ring backs each up. An unchanged set of P-slaves gets the same shards
// again, so nothing moves without need.
std::vector<ShardRecord> plan_shards(const std::vector<std::int64_t>& chunk_bytes,
                                     const std::vector<ServerId>& servers,
                                     const std::vector<ShardRecord>& base, bool backups);

}  // namespace convoy
