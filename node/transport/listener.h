// Listener: the peers that dial us, on one ROUTER socket, and who of them may, when keys are asked for.
//
// ZeroMQ reports the end of a connection by file descriptor. Each hello tells which peer is behind which
// descriptor; descriptors are used again by the system, so connections have serial numbers here.
// Owned by the I/O loop, used in the I/O thread alone (open: before that thread runs).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "node/transport/dial.h"
#include "node/transport/link_events.h"
#include "node/transport/zmq_socket.h"

namespace convoy {

class Listener {
 public:
  static Result<std::unique_ptr<Listener>> open(const TransportSite& site, const std::string& address);
  const std::string& bound_address() const { return bound_address_; }

  bool send(PeerId to, const WireFrames& frames, const TicketPtr& ticket);
  void allow(const std::vector<PublicKey>& keys);
  void close(Duration linger);

  void add_poll_items(std::vector<zmq_pollitem_t>& items) const;
  void work();

 private:
  struct Connection {
    std::uint64_t serial = 0;
    std::string address;
    std::optional<PeerId> peer;  // once it said hello
  };

  explicit Listener(const TransportSite& site) : site_(site) {}
  void read_events();
  void read_messages();
  void tell_departures();
  void greeted(const Received& received);
  void answer_authentication();
  void handshake_failed(const MonitorEvent& event, const std::string& address);
  void report_once(TroubleKind kind, std::optional<PeerId> peer, const std::string& address,
                   std::string text);

  const TransportSite& site_;
  std::string bound_address_;
  Socket authentication_;  // ZAP; declared first, so that it is there as long as the ROUTER is
  WatchedSocket router_;
  std::set<PublicKey> allowed_;

  std::uint64_t next_serial_ = 1;
  std::unordered_map<int, Connection> connections_;    // by file descriptor
  std::unordered_map<PeerId, std::uint64_t> callers_;  // those who are up, by the serial of their connection
  std::vector<std::pair<PeerId, std::uint64_t>> departed_;  // not told yet
  std::optional<MonitorEvent> failure_;                     // of the connection that ends next
  int unseen_failures_ = 0;                                 // whose address could not be told
  std::set<std::string> reported_;
};

}  // namespace convoy
