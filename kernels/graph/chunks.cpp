#include "kernels/graph/chunks.h"

#include <algorithm>

#include "messages/base/check.h"

namespace convoy {

const Chunk& ChunkTable::operator[](ChunkId id) const {
  CONVOY_CHECK(id.value < chunks.size(), id);
  return chunks[id.value];
}

std::vector<ChunkId> ChunkTable::overlapping(ParameterRange range) const {
  std::vector<ChunkId> ids;
  if (range.count <= 0) return ids;
  auto first = std::upper_bound(chunks.begin(), chunks.end(), range.offset,
                                [](std::int64_t offset, const Chunk& c) { return offset < c.range().end(); });
  for (; first != chunks.end() && first->offset < range.end(); ++first) ids.push_back(first->id);
  return ids;
}

ChunkTable make_chunks(const Graph& graph, std::int64_t bytes_per_chunk) {
  CONVOY_CHECK(bytes_per_chunk >= 4, bytes_per_chunk);
  const std::int64_t most = bytes_per_chunk / 4;
  ChunkTable table;
  table.parameter_count = graph.parameter_count();
  for (int t = 0; t < static_cast<int>(graph.parameters().size()); ++t) {
    const Tensor& tensor = graph.parameters()[t];
    const std::int64_t pieces = (tensor.count + most - 1) / most;
    for (std::int64_t p = 0; p < pieces; ++p) {
      const std::int64_t begin = tensor.count / pieces * p + std::min(p, tensor.count % pieces);
      const std::int64_t end = tensor.count / pieces * (p + 1) + std::min(p + 1, tensor.count % pieces);
      table.chunks.push_back(Chunk{ChunkId(static_cast<std::uint32_t>(table.chunks.size())), t,
                                   tensor.offset + begin, end - begin});
    }
  }
  return table;
}

}  // namespace convoy
