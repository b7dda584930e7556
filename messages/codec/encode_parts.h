// Inside encode: writes of what several messages share, and the messages that have a file of their own.
// Structs are taken apart by structured bindings on purpose: one that gains a field no longer compiles there,
// so that none is left behind.
//
// Pure functions, any thread; only the builders and `tensors` are written to.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "messages/base/check.h"
#include "messages/codec/limits.h"
#include "messages/messages.h"
#include "protocol.capnp.h"

namespace convoy::codec {

using Header = wire::Header::Builder;
using Tensors = std::vector<Frame>;

inline capnp::Text::Reader text(std::string_view s) {
  return {s.data(), s.size()};
}

// NaN and negative infinity become "diverged".
double loss(double value);

// `init(n)` makes the list in its place. An empty list stays a null pointer, which reads as empty.
template <class Init>
void put_intervals(const IntervalSet& set, Init init) {
  if (set.empty()) return;
  auto list = init(static_cast<unsigned>(set.intervals().size()));
  unsigned i = 0;
  for (const auto& [begin, end] : set.intervals()) {
    auto to = list[i++];
    to.setBegin(begin);
    to.setEnd(end);
  }
}

template <class To>
void put_leases(const std::vector<Lease>& leases, To message) {
  if (leases.empty()) return;
  auto list = message.initLeases(static_cast<unsigned>(leases.size()));
  unsigned i = 0;
  for (const auto& [id, clock, positions] : leases) {
    wire::Lease::Builder to = list[i++];
    to.setId(id.value);
    to.setClock(clock.value);
    put_intervals(positions, [&](unsigned n) { return to.initPositions(n); });
  }
}

template <class To>
void put_chunks(const std::vector<ChunkData>& chunks, To message, Tensors& tensors) {
  if (chunks.empty()) return;
  auto list = message.initChunks(static_cast<unsigned>(chunks.size()));
  tensors.reserve(chunks.size());
  unsigned i = 0;
  for (const auto& [chunk, bytes] : chunks) {
    CONVOY_CHECK(bytes.size() <= limits::kMaxTensorBytes, chunk, " has ", bytes.size(), " bytes");
    auto to = list[i++];
    to.setChunk(chunk.value);
    to.setSize(static_cast<std::uint32_t>(bytes.size()));
    tensors.push_back(bytes);
  }
}

template <class To>
void put_chunk_ids(const std::vector<ChunkId>& chunks, To message) {
  auto list = message.initChunks(static_cast<unsigned>(chunks.size()));
  for (unsigned i = 0; i < list.size(); ++i) list.set(i, chunks[i].value);
}

void put(wire::View::Builder to, const View& view);
void put(wire::ServerRecord::Builder to, const ServerRecord& server);
void put(wire::ViewRecord::Builder to, const ViewRecord& record);

// By themselves and within Replicate.
void put(wire::Push::Builder to, const Push& m, Tensors& tensors);
void put(wire::Commit::Builder to, const Commit& m);

// encode_view_change.cpp
void put(Header header, const Prepare& m, Tensors&);
void put(Header header, const Report& m, Tensors&);
void put(Header header, const Cut& m, Tensors&);
void put(Header header, const Done& m, Tensors&);
void put(Header header, const Go& m, Tensors&);
void put(Header header, const Replicate& m, Tensors& tensors);
void put(Header header, const ReplicateAck& m, Tensors&);
void put(Header header, const FetchChunks& m, Tensors&);
void put(Header header, const ChunkStates& m, Tensors& tensors);

}  // namespace convoy::codec
