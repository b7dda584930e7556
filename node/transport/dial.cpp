#include "node/transport/dial.h"

#include <sys/socket.h>
#include <unistd.h>

#include <poll.h>
#include <cerrno>
#include <utility>

#include "node/transport/hello.h"

namespace convoy {
namespace {

// A few, so that a first request is not lost to the moment that dialling takes; more would only be stale.
constexpr std::size_t kMostHeld = 64;
constexpr int kMostMessagesAWake = 256;

TroubleKind kind_of_errno(int error) {
  switch (error) {
    case ECONNREFUSED:
      return TroubleKind::kRefused;
    case ETIMEDOUT:
      return TroubleKind::kNoAnswer;
    default:
      return TroubleKind::kUnreachable;
  }
}

std::string advice(int error) {
  switch (error) {
    case ECONNREFUSED:
      return "nobody listens there; is it started, and is the port right?";
    case ETIMEDOUT:
      return "no answer; is the machine up, and does a firewall drop the packets?";
    case ENETUNREACH:
    case EHOSTUNREACH:
      return "no way leads there; check the address, the network and the routes";
    case EADDRNOTAVAIL:
    case EAFNOSUPPORT:
      return "this machine has no interface for such an address";
    case EINVAL:
      return "a link-local address needs its interface, as in [fe80::1%eth0]:5555";
    case EACCES:
    case EPERM:
      return "a rule of this machine forbids it; check the firewall";
    default:
      return "the system does not allow the connection";
  }
}

}  // namespace

void set_common_options(Socket& socket, const TransportSite& site) {
  const TransportTiming& timing = site.timing;
  // The accounts bound what is on its way out, in bytes and messages.
  socket.set(ZMQ_SNDHWM, 0);
  socket.set(ZMQ_RCVHWM, 256);
  socket.set(ZMQ_MAXMSGSIZE, static_cast<std::int64_t>(site.options.max_frame_bytes));
  // Not ZMQ_HEARTBEAT_*: in libzmq 4.3.4 its timer writes to a connection that has just broken while input
  // waits, and the assertion in stream_engine_base_t::out_event ends the process. A pulled cable is the
  // kernel's to notice, a frozen process that of the life signs above.
  socket.set(ZMQ_TCP_KEEPALIVE, 1);
  socket.set(ZMQ_TCP_KEEPALIVE_IDLE, timing.keepalive_idle_s);
  socket.set(ZMQ_TCP_KEEPALIVE_INTVL, 1);
  socket.set(ZMQ_TCP_KEEPALIVE_CNT, timing.keepalive_count);
  socket.set(ZMQ_HANDSHAKE_IVL, whole_ms(timing.attempt));
  socket.set(ZMQ_TCP_MAXRT, whole_ms(timing.unacknowledged));
}

Dial::Dial(const TransportSite& site, PeerId peer, Endpoint endpoint, std::optional<PublicKey> server_key,
           std::uint64_t question)
    : site_(site),
      peer_(peer),
      endpoint_(std::move(endpoint)),
      server_key_(std::move(server_key)),
      question_(question),
      pause_(site.timing.retry_first) {}

Dial::~Dial() {
  hang_up();
}

std::string Dial::target() const {
  const std::string address = addresses_[index_].text();
  const std::string name = to_string(endpoint_);
  return address == name ? name : name + " (" + address + ")";
}

void Dial::begin_round(SteadyTime now) {
  round_kind_.reset();
  round_reasons_.clear();
  index_ = 0;
  state_ = State::kResolving;
  deadline_ = SteadyTime::max();
  site_.lookups.ask(question_, endpoint_);
}

void Dial::answered(Lookups::Answer answer, SteadyTime now) {
  if (state_ != State::kResolving) return;
  if (!answer) {
    round_kind_ = TroubleKind::kNameNotFound;
    round_reasons_ = answer.error().message;
    return end_round(now);
  }
  addresses_ = std::move(*answer);
  attempt(now);
}

void Dial::attempt(SteadyTime now) {
  const NumericAddress& address = addresses_[index_];
  ended_ = false;
  failure_.reset();
  Result<WatchedSocket> link = WatchedSocket::open(site_.context, ZMQ_DEALER);
  if (!link) return fail(TroubleKind::kUnreachable, link.error().message, now);
  link_ = std::move(*link);
  Socket& socket = link_.socket();
  set_common_options(socket, site_);
  socket.set(ZMQ_ROUTING_ID, routing_id(site_.options.self));
  socket.set(ZMQ_IMMEDIATE, 1);
  socket.set(ZMQ_RECONNECT_IVL, -1);
  socket.set(ZMQ_CONNECT_TIMEOUT, whole_ms(site_.timing.attempt));
  socket.set(ZMQ_IPV6, address.is_v6() ? 1 : 0);
  if (server_key_) {
    socket.set(ZMQ_CURVE_SERVERKEY, std::string_view(server_key_->text()));
    socket.set(ZMQ_CURVE_PUBLICKEY, std::string_view(site_.options.keys->public_key.text()));
    socket.set(ZMQ_CURVE_SECRETKEY, std::string_view(site_.options.keys->secret_key.text()));
  }
  if (zmq_connect(socket.get(), address.zmq_endpoint().c_str()) != 0) {
    const int error = errno;
    return fail(TroubleKind::kUnreachable, target() + ": " + errno_text(error), now);
  }
  state_ = State::kConnecting;
  deadline_ = now + site_.timing.attempt + 100ms;  // ZeroMQ's own time-outs know more
}

void Dial::add_poll_items(std::vector<zmq_pollitem_t>& items) const {
  if (link_) {
    items.push_back({const_cast<WatchedSocket&>(link_).socket().get(), 0, ZMQ_POLLIN, 0});
    items.push_back({link_.monitor().get(), 0, ZMQ_POLLIN, 0});
  }
  if (probe_fd_ >= 0) items.push_back({nullptr, probe_fd_, ZMQ_POLLOUT, 0});
}

void Dial::work(SteadyTime now) {
  if (link_) {
    read_events(now);
    if (link_) read_messages(now);
    if (link_ && ended_) return lost(now);
  }
  if (probe_fd_ >= 0) read_probe(now);
  if (now < deadline_) return;
  switch (state_) {
    case State::kWaiting:
      return begin_round(now);
    case State::kConnecting:
      return fail(TroubleKind::kNoAnswer,
                  target() + ": no answer (" + errno_text(ETIMEDOUT) + "); " + advice(ETIMEDOUT), now);
    case State::kGreeting:
      return fail(TroubleKind::kNoAnswer,
                  target() +
                      ": somebody accepts connections, but does not answer as a convoy does; is the port "
                      "right, and is the process there alive?",
                  now);
    case State::kProbing:
      return fail(TroubleKind::kNoAnswer,
                  target() + ": no answer (" + errno_text(ETIMEDOUT) + "); " + advice(ETIMEDOUT), now);
    case State::kResolving:
    case State::kUp:
      return;
  }
}

void Dial::read_events(SteadyTime now) {
  while (link_) {
    const std::optional<MonitorEvent> event = link_.next_event();
    if (!event) return;
    switch (event->event) {
      case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
        greet(now);
        break;
      case ZMQ_EVENT_CLOSED:  // before it was connected
        if (state_ == State::kConnecting && !ended_) return probe(now);
        break;
      case ZMQ_EVENT_DISCONNECTED:
        ended_ = true;
        break;
      default:
        handshake_failed(*event);
    }
  }
}

void Dial::handshake_failed(const MonitorEvent& event) {
  if (event.event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH) {
    failure_.emplace(TroubleKind::kKeyRefused,
                     target() + " refused our key " + site_.options.keys->public_key.text() +
                         ": it is not on the list of allowed keys there; have it added, or ask for a node "
                         "file from `convoy invite`");
  } else if (event.event == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL &&
             event.value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH) {
    failure_.emplace(TroubleKind::kHandshake,
                     server_key_ ? target() +
                                       " does not encrypt, but a server key is given for it; take "
                                       "security.server_key out, or have the other side encrypt"
                                 : target() +
                                       " wants encryption, for which it needs to know us; ask for a node "
                                       "file from `convoy invite`");
  } else if (event.event == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL) {
    failure_.emplace(TroubleKind::kHandshake,
                     target() + " does not speak as ZeroMQ does; is the port right?");
  }
}

void Dial::read_messages(SteadyTime now) {
  Received received;
  // What arrived before the connection ended is delivered before the end is told.
  for (int i = 0; (i < kMostMessagesAWake || ended_) && link_; ++i) {
    if (!receive_frames(link_.socket(), false, received)) return;
    if (is_hello(received.frames)) {
      greeted(received.frames, now);
    } else if (state_ != State::kUp || received.frames.empty() || received.too_many_frames) {
      site_.events.bad_message();
    } else {
      site_.events.message(peer_, std::move(received.frames));
    }
  }
}

void Dial::greet(SteadyTime now) {
  state_ = State::kGreeting;
  deadline_ = now + site_.timing.attempt;
  // A send that does not wait looks for new connections once a millisecond only; asking for events looks now.
  int events = 0;
  std::size_t size = sizeof events;
  zmq_getsockopt(link_.socket().get(), ZMQ_EVENTS, &events, &size);
  send_frames(link_.socket(), {}, encode_hello({false, site_.options.self, peer_}), nullptr);
}

void Dial::greeted(const WireFrames& frames, SteadyTime now) {
  const Result<TransportHello> hello = decode_hello(frames);
  if (!hello) return fail(TroubleKind::kHandshake, target() + ": " + hello.error().message, now);
  if (!hello->answer || state_ != State::kGreeting) return site_.events.bad_message();
  if (hello->from != peer_)
    return fail(
        TroubleKind::kOtherPeer,
        target() + " is answered by another process than the one that was dialled; was it started again?",
        now);
  state_ = State::kUp;
  deadline_ = SteadyTime::max();
  up_since_ = now;
  last_report_.clear();
  site_.events.dial_up(peer_);
  for (auto& [held, ticket] : std::exchange(held_, {})) send(std::move(held), std::move(ticket));
}

void Dial::lost(SteadyTime now) {
  if (state_ == State::kUp) {
    hang_up();
    if (now - up_since_ >= site_.timing.retry_most) pause_ = site_.timing.retry_first;
    wait(now);
    return site_.events.dial_down(peer_);
  }
  // Read before fail() clears it.
  const auto [kind, reason] = failure_.value_or(std::pair(
      TroubleKind::kHandshake,
      target() +
          (server_key_
               ? " ended the connection during the encrypted handshake; its key is not the server "
                 "key that we were given, " +
                     server_key_->text() + "; ask for a node file from `convoy invite`"
               : " ended the connection before it said who it is; is the port right? If it encrypts, ask "
                 "for a node file from `convoy invite`")));
  // It will not change its mind soon.
  pause_ = site_.timing.retry_most;
  fail(kind, reason, now);
}

void Dial::probe(SteadyTime now) {
  hang_up();
  const NumericAddress& address = addresses_[index_];
  state_ = State::kProbing;
  deadline_ = now + site_.timing.attempt;
  probe_fd_ = ::socket(address.get()->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  int error = errno;
  if (probe_fd_ >= 0) {
    if (::connect(probe_fd_, address.get(), address.length()) == 0) return;  // the poll will tell
    error = errno;
    if (error == EINPROGRESS) return;
  }
  fail(kind_of_errno(error), target() + ": " + errno_text(error) + "; " + advice(error), now);
}

void Dial::read_probe(SteadyTime now) {
  pollfd ready{probe_fd_, POLLOUT, 0};
  if (::poll(&ready, 1, 0) <= 0) return;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(probe_fd_, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0)
    return fail(kind_of_errno(error), target() + ": " + errno_text(error) + "; " + advice(error), now);
  // It is there now. No reason to report, and no hurry: were the two at odds for good, this would spin.
  hang_up();
  wait(now);
}

void Dial::fail(TroubleKind kind, const std::string& reason, SteadyTime now) {
  hang_up();
  if (!round_kind_) round_kind_ = kind;
  if (!round_reasons_.empty()) round_reasons_ += "; ";
  round_reasons_ += reason;
  if (++index_ < addresses_.size()) return attempt(now);
  end_round(now);
}

void Dial::end_round(SteadyTime now) {
  wait(now);
  if (round_reasons_ == last_report_) return;
  last_report_ = round_reasons_;
  const bool asks = round_reasons_.ends_with('?');
  site_.events.trouble({*round_kind_, peer_, to_string(endpoint_), round_reasons_ + (asks ? "" : ".")});
}

void Dial::wait(SteadyTime now) {
  state_ = State::kWaiting;
  deadline_ = now + pause_;
  pause_ = std::min(2 * pause_, site_.timing.retry_most);
}

void Dial::hang_up() {
  link_.close();
  if (probe_fd_ >= 0) ::close(std::exchange(probe_fd_, -1));
}

void Dial::send(WireFrames frames, TicketPtr ticket) {
  if (state_ == State::kUp) {
    if (send_frames(link_.socket(), {}, frames, ticket)) return site_.events.sent(frames);
    return site_.events.dropped();
  }
  if (held_.size() == kMostHeld) {
    // The oldest is the least likely to be of use once the peer is there.
    held_.pop_front();
    site_.events.dropped();
  }
  held_.emplace_back(std::move(frames), std::move(ticket));
}

void Dial::close(Duration linger) {
  for (std::size_t i = 0; i < held_.size(); ++i) site_.events.dropped();
  held_.clear();
  if (link_ && state_ == State::kUp) link_.socket().set(ZMQ_LINGER, whole_ms(linger));
  hang_up();
}

}  // namespace convoy
