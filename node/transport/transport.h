// Transport: moves opaque messages (lists of frames) between peers over ZeroMQ, without copying payloads, and
// tells when peers come, go, or cannot be reached, in words.
//
// One Transport per role instance. It owns one I/O thread, which owns every socket. All methods may be called
// from any thread and never wait for the network (start and close excepted). Callbacks of the sink come from
// the I/O thread, one at a time; they must not block and must not call close().
//
// Who may be sent to: a peer that we dialled with connect(), and a peer that dialled us, while its connection
// is up. Nothing is promised beyond order: a message is delivered once, or dropped and counted. The protocol
// above repeats.
//
// Memory is bounded per peer by TransportOptions::max_outstanding_*: what was handed to send() and is still
// in a queue here or in ZeroMQ counts, and a message beyond is dropped.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "messages/base/fault_kind.h"
#include "messages/base/ids.h"
#include "messages/base/result.h"
#include "messages/base/time.h"
#include "messages/frame.h"
#include "node/security/keys.h"

namespace convoy {

// The Master is known before anything was said; all other peers draw their id at random.
inline constexpr PeerId kMasterPeer{1};

// One message: the header frame, which is never empty, then tensor frames. Received frames are aligned to 8
// bytes.
using WireFrames = std::vector<Frame>;

struct TransportOptions {
  PeerId self;
  // "host:port" to listen on; port 0 takes a free one. Names, IPv4, "[::1]:0", "[fe80::1%eth0]:0", and
  // "0.0.0.0" or "[::]" for all interfaces. Without it this transport only dials.
  std::optional<std::string> bind;

  // Ours: proves us to those we dial with a server key, and to those who dial us when `encrypt_bind`.
  std::optional<KeyPair> keys;
  bool encrypt_bind = false;            // those who dial us need CURVE and a key of `allowed_keys`
  std::vector<PublicKey> allowed_keys;  // see also Transport::allow

  // Heartbeats, reconnects and the patience with a silent peer are derived from this.
  Duration failure_timeout = 5s;
  Duration linger = 500ms;  // how long close() waits for queued messages to leave; at most 1 s

  std::size_t max_outstanding_bytes = std::size_t{1}
                                      << 30;  // must hold the largest set of messages in flight
  std::size_t max_outstanding_messages = 10'000;
  std::size_t max_frame_bytes = std::size_t{1} << 28;  // a peer that sends a larger one is disconnected
};

// Why something does not work, for people and start-up messages. Reported once per change, not per retry.
enum class TroubleKind {
  kNameNotFound,
  kRefused,      // nobody listens there
  kUnreachable,  // no route, no such interface, network down
  kNoAnswer,     // packets vanish, or something accepts and says nothing
  kKeyRefused,   // our key is not on the list of who listens there; or a stranger's key was refused here
  kHandshake,    // encryption on one side only, another key than expected, or not ZeroMQ at all
  kOtherPeer,    // who answers there is not the peer that was dialled (restarted?)
  kBadMessage,   // something arrived that no transport sends
};

struct Trouble {
  TroubleKind kind;
  std::optional<PeerId> peer;  // when a peer that we dial, or that had said who it is, is concerned
  std::string address;         // "host:port" as dialled, or where it came from
  std::string text;            // a full sentence with address, reason and errno
};

// Something to go wrong on purpose with messages. docs/faults.md.
struct LinkFault {
  FaultKind kind = FaultKind::kDrop;  // of_links()
  std::optional<PeerId> peer;         // messages to that peer; none: all messages, both ways
  double probability = 1;             // of each message
  Duration delay{};                   // delay: how long; reorder: at most
  Duration lasts{};                   // zero: to the end
  std::uint64_t seed = 0;
};

class TransportSink {
 public:
  virtual ~TransportSink() = default;
  virtual void received(PeerId from, WireFrames frames) = 0;
  // Alternate for each peer, beginning with peer_back: connected both ways from here; connection gone. Not
  // called for a peer that was given up by disconnect(), nor from within close().
  virtual void peer_back(PeerId peer) = 0;
  virtual void peer_lost(PeerId peer) = 0;
  virtual void trouble(const Trouble& trouble) = 0;
};

enum class Sent {
  kQueued,
  kUnknownPeer,  // neither dialled by us nor connected to us
  kFull,         // the peer takes too long: its bound is reached
  kClosed,
};

struct TransportCounters {
  std::uint64_t messages_sent = 0;  // handed to ZeroMQ
  std::uint64_t bytes_sent = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t dropped_unknown = 0;       // Sent::kUnknownPeer
  std::uint64_t dropped_full = 0;          // Sent::kFull
  std::uint64_t dropped_disconnected = 0;  // queued, but the connection went first
  std::uint64_t bad_messages = 0;          // received and not understood
  std::uint64_t refused_keys = 0;
  std::uint64_t outstanding_bytes = 0;  // now, over all peers
  std::uint64_t outstanding_messages = 0;
};

// For the first lines of main(), process-wide: lets malloc keep the blocks that received messages lie in,
// which it would otherwise give back to the system and fetch again, page by page, with each message. A 40 MB
// pull takes a third of the time. The process keeps its peak of memory.
void keep_memory_for_messages();

class Transport {
 public:
  // Binds (so errors of the address come from here: port taken, address of no interface, ...) and starts the
  // I/O thread. REQUIRES: `sink` outlives the transport; it may be called before start returns.
  static Result<std::unique_ptr<Transport>> start(TransportOptions options, TransportSink& sink);

  ~Transport();  // close()
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // "host:port" as bound, the actual port when 0 was asked; empty when not listening.
  const std::string& bound_address() const;

  // REQUIRES: frames is not empty, nor is its first frame. Messages to a peer that is being dialled are held
  // until it answers (the newest few; older ones are dropped).
  Sent send(PeerId to, WireFrames frames);

  // Dials `address` until disconnect() or close(), again after each loss. With `server_key` by CURVE, as who
  // `options.keys` says. An error is one of the address's form or of a missing key; whether somebody answers
  // is told by peer_back and trouble. Dialling a peer again with other arguments replaces the connection,
  // with the same it changes nothing.
  Result<void> connect(PeerId peer, const std::string& address,
                       const std::optional<PublicKey>& server_key = std::nullopt);

  // Gives up a peer: ends the connection that we dialled to it. Nothing when there is none.
  void disconnect(PeerId peer);

  // Replaces the list of keys that may dial us. Connections that exist stay.
  void allow(std::vector<PublicKey> keys);

  // From here on messages suffer this, beside what they suffer already.
  void inject(const LinkFault& fault);

  // "host:port" of a peer that may be sent to: as dialled, or where it calls from. Else empty.
  std::string address_of(PeerId peer) const;

  TransportCounters counters() const;

  // Sends what is queued (for `linger` at most), closes everything, ends the thread. After it no callback
  // comes. May be called twice.
  void close();

 private:
  class Impl;
  explicit Transport(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace convoy
