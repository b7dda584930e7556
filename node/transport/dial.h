// Dial: one peer that we dial, again and again until told to stop. Each attempt is a DEALER socket of its
// own, so that nothing of an earlier attempt can leak into a later one, and so that a name with several
// addresses is tried address by address. ZeroMQ does not say why a connection failed: after a failed attempt
// a plain socket asks the system.
//
// Owned by the I/O loop, used in the I/O thread alone.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node/transport/endpoint.h"
#include "node/transport/link_events.h"
#include "node/transport/lookups.h"
#include "node/transport/timing.h"
#include "node/transport/zmq_socket.h"

namespace convoy {

struct TransportSite {  // what every connection of one transport shares
  const Context& context;
  const TransportOptions& options;
  const TransportTiming timing;
  Lookups& lookups;
  LinkEvents& events;
};

// What diallers and the listener have in common.
void set_common_options(Socket& socket, const TransportSite& site);

class Dial {
 public:
  Dial(const TransportSite& site, PeerId peer, Endpoint endpoint, std::optional<PublicKey> server_key,
       std::uint64_t question);
  ~Dial();
  Dial(const Dial&) = delete;
  Dial& operator=(const Dial&) = delete;

  void start(SteadyTime now) { begin_round(now); }
  bool dials(const Endpoint& endpoint, const std::optional<PublicKey>& server_key) const {
    return endpoint_ == endpoint && server_key_ == server_key;
  }
  // The number under which it asks for names.
  std::uint64_t question() const { return question_; }
  void answered(Lookups::Answer answer, SteadyTime now);

  bool leads_to(const Endpoint& endpoint, const std::optional<PublicKey>& server_key) const {
    return endpoint == endpoint_ && server_key == server_key_;
  }
  bool is_up() const { return state_ == State::kUp; }
  // Held while the peer is not there yet.
  void send(WireFrames frames, TicketPtr ticket);
  // Lets what was sent leave; no event after it.
  void close(Duration linger);

  void add_poll_items(std::vector<zmq_pollitem_t>& items) const;
  void work(SteadyTime now);  // when an item is ready or the deadline has passed
  SteadyTime deadline() const { return deadline_; }

 private:
  enum class State {
    kResolving,
    kConnecting,  // TCP, then ZeroMQ's handshake
    kGreeting,    // our hello is out
    kUp,
    kProbing,  // why did it fail?
    kWaiting,  // for the next round
  };

  void begin_round(SteadyTime now);
  void attempt(SteadyTime now);
  void read_events(SteadyTime now);
  void read_messages(SteadyTime now);
  void greet(SteadyTime now);
  void greeted(const WireFrames& frames, SteadyTime now);
  void lost(SteadyTime now);
  void probe(SteadyTime now);
  void read_probe(SteadyTime now);
  void fail(TroubleKind kind, const std::string& reason, SteadyTime now);
  void end_round(SteadyTime now);
  void wait(SteadyTime now);
  void handshake_failed(const MonitorEvent& event);
  void hang_up();  // whatever is open of this attempt
  std::string target() const;

  const TransportSite& site_;
  const PeerId peer_;
  const Endpoint endpoint_;
  const std::optional<PublicKey> server_key_;
  const std::uint64_t question_;

  State state_ = State::kWaiting;
  SteadyTime deadline_{};
  SteadyTime up_since_{};
  Duration pause_;
  std::vector<NumericAddress> addresses_;
  std::size_t index_ = 0;  // of the address of this attempt

  WatchedSocket link_;
  int probe_fd_ = -1;
  bool ended_ = false;  // the monitor told that this attempt's connection is gone
  // Why, when the monitor told; and of the addresses tried in this round.
  std::optional<std::pair<TroubleKind, std::string>> failure_;
  std::optional<TroubleKind> round_kind_;
  std::string round_reasons_;
  std::string last_report_;

  std::deque<std::pair<WireFrames, TicketPtr>> held_;
};

}  // namespace convoy
