// The codec: between the plain structs of messages.h and what travels, as messages/schema/protocol.capnp lays
// it down. Nothing that decode() returns needs to be bounds-checked again, except against what only the
// receiver knows: its run, its view, its model's chunk table.
//
// Pure functions of their arguments, no state: any thread. Tensor bytes are never copied, only handed on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "messages/base/result.h"
#include "messages/frame.h"
#include "messages/messages.h"

namespace convoy {

// What goes to and comes from the transport, after its own routing frame. Frames may be misaligned on the way
// in; those that encode() makes are not.
struct WireMessage {
  Frame header;
  std::vector<Frame> tensors;  // one for each ChunkData of the message, in order

  friend bool operator==(const WireMessage&, const WireMessage&) = default;
};

struct Decoded {
  Envelope envelope;
  RunId run;                           // as the header says; for the receiver to compare with its own
  std::uint16_t protocol_version = 0;  // another than ours in a Refuse only
};

// Who speaks, in any version of the protocol: enough to refuse in words.
struct Sender {
  std::uint16_t protocol_version = 0;
  RunId run;
  PeerId peer;
  Incarnation incarnation;
  View view;

  friend bool operator==(const Sender&, const Sender&) = default;
};

// REQUIRES: the envelope keeps the rules of the schema and codec/limits.h; otherwise its receiver refuses it.
// Two things are mended here, since they come from people and arithmetic rather than from roles: the text of
// Refuse and Stop is cut to size and cleaned of what is not printable UTF-8, and a loss that is NaN or
// negative infinity becomes positive infinity ("diverged").
WireMessage encode(const Envelope& envelope, RunId run);

// kCorrupt: breaks the schema or a limit; the text says what. kRefused: well-formed, but of another protocol
// version, and nothing but sender_of() is to be had from it. A Refuse is decoded in every version. Tensor
// frames end up in the ChunkData; small ones may be misaligned for their element type.
Result<Decoded> decode(WireMessage message);

// Works whenever the header frame is Cap'n Proto at all, also for messages that decode() refuses.
Result<Sender> sender_of(const Frame& header);

// A view record by itself, for the Master's journal and for files. The same checks as in a message.
Frame encode_record(const ViewRecord& record);
Result<ViewRecord> decode_record(std::span<const std::byte> bytes);

}  // namespace convoy
