// Chunks: the pieces in which parameters are owned, sent and updated. Each is a contiguous run of ONE
// parameter tensor. Every node derives the same table from the graph alone: borders depend neither on the
// number of P-slaves nor on the scalar type.
//
// Values; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/graph/graph.h"
#include "messages/base/ids.h"

namespace convoy {

inline constexpr std::int64_t kDefaultChunkBytes = 256 * 1024;

struct Chunk {
  ChunkId id;               // equals its index in the table
  int tensor = 0;           // index into Graph::parameters()
  std::int64_t offset = 0;  // into flat (graph.h), in elements
  std::int64_t count = 0;   // elements, at least 1

  ParameterRange range() const { return {offset, count}; }
  friend bool operator==(const Chunk&, const Chunk&) = default;
};

struct ChunkTable {
  std::vector<Chunk> chunks;  // in flat order, without gaps
  std::int64_t parameter_count = 0;

  int size() const { return static_cast<int>(chunks.size()); }
  // REQUIRES: id is in the table.
  const Chunk& operator[](ChunkId id) const;
  // The chunks that overlap `range`, as a half-open run of ids.
  std::vector<ChunkId> overlapping(ParameterRange range) const;
  friend bool operator==(const ChunkTable&, const ChunkTable&) = default;
};

// `bytes_per_chunk` counts fp32 elements, whatever the run's scalar type. A tensor that needs n chunks is cut
// into n that differ by at most one element, so no chunk is a splinter. REQUIRES: bytes_per_chunk >= 4.
ChunkTable make_chunks(const Graph& graph, std::int64_t bytes_per_chunk = kDefaultChunkBytes);

}  // namespace convoy
