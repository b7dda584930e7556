// Hello: what two transports say to each other before anything else on a connection. The dialler begins, the
// listener answers with the same; from then on each knows which peer is at the other end, so that the loss of
// a connection, of which ZeroMQ tells only a file descriptor, can be put down to a peer.
//
// On the wire an empty frame, which never begins a user's message, then this, little-endian:
//   0  4  "CVYT"
//   4  1  version of this layer
//   5  1  1 = hello, 2 = answer
//   6  2  zero
//   8  8  PeerId of the sender
//  16  8  PeerId that the sender believes to speak to
#pragma once

#include <optional>
#include <string>

#include "messages/base/ids.h"
#include "messages/base/result.h"
#include "node/transport/transport.h"

namespace convoy {

inline constexpr std::uint8_t kTransportVersion = 1;

struct TransportHello {
  bool answer = false;
  PeerId from;
  PeerId to;

  friend bool operator==(const TransportHello&, const TransportHello&) = default;
};

WireFrames encode_hello(const TransportHello& hello);
// True when the message is the transport's own and not a user's.
bool is_hello(const WireFrames& frames);
// REQUIRES: is_hello(frames). The error says what is wrong with it.
Result<TransportHello> decode_hello(const WireFrames& frames);

// A dialler's ZeroMQ routing id: 'C' and its PeerId, 8 bytes, little-endian.
std::string routing_id(PeerId peer);
std::optional<PeerId> peer_of_routing_id(const std::string& routing);

}  // namespace convoy
