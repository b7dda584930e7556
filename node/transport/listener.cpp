#include "node/transport/listener.h"

#include <cerrno>

#include "node/security/zap.h"
#include "node/transport/hello.h"

namespace convoy {
namespace {

constexpr int kMostMessagesAWake = 256;
constexpr int kMostMessagesBeforeDeparture = 8192;
constexpr std::size_t kMostReports = 1024;
constexpr int kMostUnseen = 20;

std::string bind_advice(int error, const Endpoint& endpoint) {
  switch (error) {
    case EADDRINUSE:
      return "another process listens on port " + std::to_string(endpoint.port) +
             "; end it, or take another port (0 = any free one)";
    case EADDRNOTAVAIL:
    case ENODEV:
      return "no interface of this machine has that address; `ip address` lists those it has";
    case EACCES:
    case EPERM:
      return "this user may not listen on port " + std::to_string(endpoint.port) + "; take one above 1023";
    case EINVAL:
      return "a link-local address needs its interface, as in [fe80::1%eth0]:5555";
    default:
      return "the system does not allow it";
  }
}

std::string host_of(const std::string& address) {
  return address.substr(0, address.rfind(':'));
}

}  // namespace

Result<std::unique_ptr<Listener>> Listener::open(const TransportSite& site, const std::string& address) {
  const Result<Endpoint> endpoint = parse_endpoint(address);
  if (!endpoint) return endpoint.error();
  const Result<std::vector<NumericAddress>> addresses = resolve(*endpoint);
  if (!addresses) return addresses.error();

  std::unique_ptr<Listener> listener(new Listener(site));
  Result<WatchedSocket> router = WatchedSocket::open(site.context, ZMQ_ROUTER);
  if (!router) return router.error();
  listener->router_ = std::move(*router);
  Socket& socket = listener->router_.socket();
  set_common_options(socket, site);
  socket.set(ZMQ_ROUTER_MANDATORY, 1);
  socket.set(ZMQ_ROUTER_HANDOVER, 1);
  if (site.options.encrypt_bind) {
    if (!site.options.keys)
      return Error{ErrorCode::kUsage,
                   "listening on " + address + " with encryption needs a key pair of our own"};
    Result<Socket> authentication = Socket::open(site.context, ZMQ_REP);
    if (!authentication) return authentication.error();
    listener->authentication_ = std::move(*authentication);
    const int rc = zmq_bind(listener->authentication_.get(), "inproc://zeromq.zap.01");
    CONVOY_CHECK(rc == 0, "the context is ours alone: ", zmq_strerror(errno));
    listener->allow(site.options.allowed_keys);
    socket.set(ZMQ_CURVE_SERVER, 1);
    socket.set(ZMQ_CURVE_SECRETKEY, std::string_view(site.options.keys->secret_key.text()));
  }

  const NumericAddress& first = addresses->front();
  socket.set(ZMQ_IPV6, first.is_v6() ? 1 : 0);
  if (zmq_bind(socket.get(), first.zmq_endpoint().c_str()) != 0) {
    const int error = errno;
    const std::string numeric = first.text() == to_string(*endpoint) ? "" : " (" + first.text() + ")";
    return Error{ErrorCode::kIo, "cannot listen on " + to_string(*endpoint) + numeric + ": " +
                                     errno_text(error) + "; " + bind_advice(error, *endpoint)};
  }
  const std::string bound = socket.last_endpoint();
  const std::string port = bound.substr(bound.rfind(':') + 1);
  listener->bound_address_ = host_of(first.text()) + ":" + port;
  return listener;
}

void Listener::allow(const std::vector<PublicKey>& keys) {
  allowed_ = std::set<PublicKey>(keys.begin(), keys.end());
  reported_.clear();
}

void Listener::add_poll_items(std::vector<zmq_pollitem_t>& items) const {
  items.push_back({const_cast<WatchedSocket&>(router_).socket().get(), 0, ZMQ_POLLIN, 0});
  items.push_back({router_.monitor().get(), 0, ZMQ_POLLIN, 0});
  if (authentication_) items.push_back({authentication_.get(), 0, ZMQ_POLLIN, 0});
}

void Listener::work() {
  if (authentication_) answer_authentication();
  read_events();
  read_messages();
  tell_departures();
}

void Listener::read_events() {
  while (const std::optional<MonitorEvent> event = router_.next_event()) {
    switch (event->event) {
      case ZMQ_EVENT_ACCEPTED:
        // An earlier connection with this descriptor was replaced by ZeroMQ (handover), which it does not
        // tell.
        connections_[event->value] = Connection{next_serial_++, remote_address(event->value), std::nullopt};
        break;
      case ZMQ_EVENT_DISCONNECTED: {
        const auto found = connections_.find(event->value);
        if (found == connections_.end()) break;
        if (failure_) handshake_failed(*failure_, found->second.address);
        if (found->second.peer) departed_.emplace_back(*found->second.peer, found->second.serial);
        connections_.erase(found);
        failure_.reset();
        break;
      }
      case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
      case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
      case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
        failure_ = event;  // its own event of the end follows
        break;
      default:
        break;
    }
  }
}

void Listener::handshake_failed(const MonitorEvent& event, const std::string& address) {
  // A refused key was reported with its text by who refused it; connections that end early are anybody's.
  if (event.event != ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL) return;
  std::string why;
  if (event.value == ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC)
    why = "it expects another key here than ours; `convoy invite` writes a node file with the right one";
  else if (event.value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH)
    why = site_.options.encrypt_bind ? "it does not encrypt, and needs a node file from `convoy invite`"
                                     : "it wants encryption, which is off here";
  else
    why = "it does not speak as ZeroMQ does (error " + std::to_string(event.value) + ")";
  // The system forgets the address with the connection, at times before it could be asked. Who dials tries
  // again.
  if (address.empty() && ++unseen_failures_ < kMostUnseen) return;
  const std::string host =
      address.empty() ? "an address that was gone too soon to be seen" : host_of(address);
  report_once(TroubleKind::kHandshake, std::nullopt, address,
              "a connection from " + host + " was refused: " + why + ".");
}

void Listener::report_once(TroubleKind kind, std::optional<PeerId> peer, const std::string& address,
                           std::string text) {
  if (reported_.size() >= kMostReports) reported_.clear();
  if (reported_.insert(text).second) site_.events.trouble({kind, peer, address, std::move(text)});
}

void Listener::read_messages() {
  Received received;
  for (int i = 0; i < kMostMessagesAWake || !departed_.empty(); ++i) {
    // What arrived before a connection ended is delivered before its end is told, unless others flood us.
    if (i >= kMostMessagesBeforeDeparture || !receive_frames(router_.socket(), true, received)) return;
    if (is_hello(received.frames)) {
      greeted(received);
      continue;
    }
    const std::optional<PeerId> peer = peer_of_routing_id(received.routing);
    if (!peer || received.frames.empty() || received.too_many_frames || !callers_.contains(*peer))
      site_.events.bad_message();
    else
      site_.events.message(*peer, std::move(received.frames));
  }
}

void Listener::greeted(const Received& received) {
  // ZeroMQ tells of a connection before it gives its first message, so it is known once these are read.
  read_events();
  const auto found = connections_.find(received.fd);
  if (found == connections_.end()) return;  // gone already
  Connection& connection = found->second;
  const Result<TransportHello> hello = decode_hello(received.frames);
  const std::optional<PeerId> peer = peer_of_routing_id(received.routing);
  if (!hello || hello->answer || !peer || hello->from != *peer) {
    site_.events.bad_message();
    // So that one of another version learns ours, and can say why it is not let in.
    if (!hello && peer)
      send_frames(router_.socket(), received.routing, encode_hello({true, site_.options.self, *peer}),
                  nullptr);
    return report_once(TroubleKind::kBadMessage, std::nullopt, connection.address,
                       "a connection from " + host_of(connection.address) + " makes no sense: " +
                           (hello ? "its greeting is in another's name" : hello.error().message) + ".");
  }
  if (const auto known = callers_.find(*peer); known != callers_.end()) {
    if (known->second == connection.serial) return;  // says hello twice
    callers_.erase(known);
    site_.events.caller_down(*peer);
  }
  connection.peer = peer;
  callers_[*peer] = connection.serial;
  const WireFrames answer = encode_hello({true, site_.options.self, *peer});
  send_frames(router_.socket(), received.routing, answer, nullptr);
  site_.events.caller_up(*peer, connection.address);
}

void Listener::tell_departures() {
  for (const auto& [peer, serial] : std::exchange(departed_, {})) {
    const auto found = callers_.find(peer);
    if (found == callers_.end() || found->second != serial) continue;
    callers_.erase(found);
    site_.events.caller_down(peer);
  }
}

bool Listener::send(PeerId to, const WireFrames& frames, const TicketPtr& ticket) {
  if (!callers_.contains(to)) return false;
  return send_frames(router_.socket(), routing_id(to), frames, ticket);
}

void Listener::answer_authentication() {
  Received request;
  while (receive_frames(authentication_, false, request)) {
    const Result<ZapRequest> asked = parse_zap(request.frames);
    bool admit = false;
    if (asked) {
      admit = asked->key && allowed_.contains(*asked->key);
      if (!admit) {
        site_.events.key_refused();
        report_once(TroubleKind::kKeyRefused, std::nullopt, asked->address,
                    "a stranger from " + asked->address + " was refused: its key " +
                        (asked->key ? asked->key->text() : std::string("(none)")) +
                        " is not on the list of allowed keys. Add it there to let that node in.");
      }
    }
    const std::string id = asked ? asked->id : std::string();
    send_frames(authentication_, {}, zap_reply(id, admit), nullptr);
  }
}

void Listener::close(Duration linger) {
  router_.socket().set(ZMQ_LINGER, whole_ms(linger));
  router_.close();
  authentication_.close();
}

}  // namespace convoy
