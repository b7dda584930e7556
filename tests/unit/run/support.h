// What the tests of executors share: a run from the text of its file, and the parameters that P-slaves hold.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <string>
#include <variant>
#include <vector>

#include "config/run_file.h"
#include "master/partition.h"
#include "node/run/run_setup.h"
#include "node/run/server_executor.h"

namespace convoy::test {

inline RunSetup setup_of(const std::string& run_text) {
  Result<RunSetup> setup = parse_setup(run_text);
  BOOST_REQUIRE_MESSAGE(setup.ok(), (setup.ok() ? std::string() : setup.error().message));
  return *setup;
}

// The chunks of each of so many P-slaves, as the Master would hand them out.
inline std::vector<std::vector<ChunkId>> shards_of(const RunSetup& setup, std::size_t servers) {
  std::vector<std::int64_t> sizes;
  for (const Chunk& c : setup.chunks.chunks) sizes.push_back(c.count * bytes_of(setup.scalar));
  return partition_chunks(sizes, servers);
}

// What a pull shows now. The chunks live as long as they are held.
inline std::vector<ChunkData> pulled(ServerExecutor& server, const std::vector<ChunkId>& chunks) {
  SendChunks command;
  command.chunks = chunks;
  command.envelope.message = PullReply{};
  server.fill(command);
  return std::get<PullReply>(command.envelope.message).chunks;
}

inline std::vector<ChunkData> pictured(ServerExecutor& server, const std::vector<ChunkId>& chunks) {
  server.take_snapshot(TakeSnapshot{SnapshotId(1), chunks});
  SendChunks command;
  command.chunks = chunks;
  command.snapshot = SnapshotId(1);
  command.envelope.message = SnapshotReply{};
  server.fill(command);
  return std::get<SnapshotReply>(command.envelope.message).chunks;
}

// Chunks put where they belong in flat.
inline void place(const RunSetup& setup, const std::vector<ChunkData>& chunks, std::vector<std::byte>& flat) {
  const auto size = static_cast<std::size_t>(bytes_of(setup.scalar));
  flat.resize(static_cast<std::size_t>(setup.chunks.parameter_count) * size);
  for (const ChunkData& c : chunks) {
    std::memcpy(flat.data() + static_cast<std::size_t>(setup.chunks[c.chunk].offset) * size, c.bytes.data(),
                c.bytes.size());
  }
}

}  // namespace convoy::test
