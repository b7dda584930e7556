// Inside decode: reads of what several messages share, and the messages that have a file of their own. Each
// measures a list before it reads it, follows a pointer once (has...() of each element of a list would count
// as well), and throws Refusal, or Cap'n Proto's exceptions.
//
// Pure functions, any thread; only `tensors` are moved from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "messages/codec/checks.h"
#include "messages/messages.h"
#include "protocol.capnp.h"

namespace convoy::codec {

template <class List>
List checked_size(List list, std::size_t max, const char* what) {
  if (list.size() > max) {
    refuse("there are " + std::to_string(list.size()) + " " + what + "; at most " + std::to_string(max) +
           " are allowed");
  }
  return list;
}

std::string checked_text(capnp::Text::Reader text, std::size_t max_bytes, TextKind kind, const char* what);
std::string line(capnp::Text::Reader text, const char* what);

Clock get_clock(std::int64_t value);
ShardId get_shard(std::uint32_t value);

template <class From>
MemberKey get_key(From from) {
  return {MemberId(from.getId()), Incarnation(from.getIncarnation())};
}

View get(wire::View::Reader from);
IntervalSet get(capnp::List<wire::Interval>::Reader from);
std::vector<Lease> get(capnp::List<wire::Lease>::Reader from);
// Takes all the tensors: a message has one list of chunks.
std::vector<ChunkData> get(capnp::List<wire::ChunkBytes>::Reader from, Encoding encoding,
                           std::vector<Frame>& tensors);
// Ascending or not: that is for the caller to check.
std::vector<ChunkId> get(capnp::List<std::uint32_t>::Reader from);
ServerRecord get(wire::ServerRecord::Reader from);
ViewRecord get(wire::ViewRecord::Reader from);

template <class From>
ViewRecord get_record(From from) {
  if (!from.hasRecord()) refuse("the view record is missing");
  return get(from.getRecord());
}

// By themselves and within Replicate.
Push get(wire::Push::Reader from, std::vector<Frame>& tensors);
Commit get(wire::Commit::Reader from);

// decode_view_change.cpp
Prepare get(wire::Prepare::Reader from);
Report get(wire::Report::Reader from);
Cut get(wire::Cut::Reader from);
Done get(wire::Done::Reader from);
Go get(wire::Go::Reader from);
Replicate get(wire::Replicate::Reader from, std::vector<Frame>& tensors);
ReplicateAck get(wire::ReplicateAck::Reader from);
FetchChunks get(wire::FetchChunks::Reader from);
ChunkStates get(wire::ChunkStates::Reader from, std::vector<Frame>& tensors);

}  // namespace convoy::codec
