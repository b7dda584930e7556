#include "node/transport/zmq_socket.h"

#include <atomic>
#include <cerrno>
#include <cstring>

#include "node/transport/endpoint.h"
#include "node/transport/happens_before.h"

namespace convoy {
namespace {

// Keeps the bytes of one frame, and the ticket of its message, until ZeroMQ is through with them.
struct Loan {
  Frame frame;
  TicketPtr ticket;
};

void return_loan(void* /*data*/, void* hint) {
  taken_over(hint);
  delete static_cast<Loan*>(hint);
}

void fill(zmq_msg_t& message, const Frame& frame, const TicketPtr& ticket, bool last) {
  // The last frame is always lent, because the ticket must outlive the whole message.
  if (last || frame.size() > kCopySendBytes) {
    auto* loan = new Loan{frame, ticket};
    handed_over(loan);
    // libzmq wants a pointer to non-const, and does not write through it.
    auto* data = const_cast<std::byte*>(frame.data());
    if (zmq_msg_init_data(&message, data, frame.size(), return_loan, loan) == 0) return;
    delete loan;
    CONVOY_CHECK(false, "out of memory for a message");
  }
  CONVOY_CHECK(zmq_msg_init_size(&message, frame.size()) == 0, "out of memory for a message");
  if (!frame.empty()) std::memcpy(zmq_msg_data(&message), frame.data(), frame.size());
}

// A received message as the owner of a frame's bytes.
class Parcel {
 public:
  explicit Parcel(zmq_msg_t& message) {
    zmq_msg_init(&message_);
    zmq_msg_move(&message_, &message);
  }
  ~Parcel() { zmq_msg_close(&message_); }
  Parcel(const Parcel&) = delete;
  Parcel& operator=(const Parcel&) = delete;

  std::span<const std::byte> bytes() {
    return {static_cast<const std::byte*>(zmq_msg_data(&message_)), zmq_msg_size(&message_)};
  }

 private:
  zmq_msg_t message_;
};

Frame take(zmq_msg_t& message) {
  const std::span<const std::byte> bytes(static_cast<const std::byte*>(zmq_msg_data(&message)),
                                         zmq_msg_size(&message));
  const bool aligned = reinterpret_cast<std::uintptr_t>(bytes.data()) % 8 == 0;
  if (bytes.size() <= kCopyReceiveBytes || !aligned || kCopyAllReceived) {
    const ReadsOfZmq unwatched;
    return Frame::copy_of(bytes);
  }
  auto parcel = std::make_shared<Parcel>(message);
  const std::span<const std::byte> view = parcel->bytes();
  return Frame(std::move(parcel), view);
}

}  // namespace

Context::Context() : handle_(zmq_ctx_new()) {
  CONVOY_CHECK(handle_ != nullptr, "zmq_ctx_new: ", zmq_strerror(errno));
}

Context::~Context() {
  while (zmq_ctx_term(handle_) != 0 && errno == EINTR) {
  }
}

Result<Socket> Socket::open(const Context& context, int type) {
  void* handle = zmq_socket(context.get(), type);
  if (handle == nullptr)
    return Error{ErrorCode::kIo, "cannot open a socket (" + errno_text(errno) +
                                     "); the limits on open files (ulimit -n) may be too low"};
  Socket socket(handle);
  socket.set(ZMQ_LINGER, 0);
  return socket;
}

void Socket::close() {
  if (handle_ != nullptr) zmq_close(std::exchange(handle_, nullptr));
}

void Socket::set(int option, int value) {
  CONVOY_CHECK(zmq_setsockopt(handle_, option, &value, sizeof value) == 0, "option ", option, " = ", value,
               ": ", zmq_strerror(errno));
}

void Socket::set(int option, std::int64_t value) {
  CONVOY_CHECK(zmq_setsockopt(handle_, option, &value, sizeof value) == 0, "option ", option, " = ", value,
               ": ", zmq_strerror(errno));
}

void Socket::set(int option, std::string_view value) {
  CONVOY_CHECK(zmq_setsockopt(handle_, option, value.data(), value.size()) == 0, "option ", option, ": ",
               zmq_strerror(errno));
}

std::string Socket::last_endpoint() const {
  char text[512];
  std::size_t size = sizeof text;
  if (zmq_getsockopt(handle_, ZMQ_LAST_ENDPOINT, text, &size) != 0) return {};
  return std::string(text);
}

Result<WatchedSocket> WatchedSocket::open(const Context& context, int type) {
  static std::atomic<std::uint64_t> serial{0};
  const std::string endpoint = "inproc://monitor-" + std::to_string(serial.fetch_add(1));
  constexpr int kEvents = ZMQ_EVENT_CLOSED | ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED |
                          ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                          ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
  Result<Socket> socket = Socket::open(context, type);
  if (!socket) return socket.error();
  Result<Socket> monitor = Socket::open(context, ZMQ_PAIR);
  if (!monitor) return monitor.error();
  // Without a limit: ZeroMQ's threads wait for room in a monitor.
  monitor->set(ZMQ_RCVHWM, 0);
  if (zmq_socket_monitor(socket->get(), endpoint.c_str(), kEvents) != 0)
    return Error{ErrorCode::kIo, "cannot watch a socket (" + errno_text(errno) + ")"};
  WatchedSocket watched;
  watched.socket_ = std::move(*socket);
  watched.monitor_ = std::move(*monitor);
  if (zmq_connect(watched.monitor_.get(), endpoint.c_str()) != 0)
    return Error{ErrorCode::kIo, "cannot watch a socket (" + errno_text(errno) + ")"};
  return watched;
}

void WatchedSocket::close() {
  if (socket_) zmq_socket_monitor(socket_.get(), nullptr, 0);
  monitor_.close();
  socket_.close();
}

std::optional<MonitorEvent> WatchedSocket::next_event() {
  zmq_msg_t message;
  zmq_msg_init(&message);
  std::optional<MonitorEvent> event;
  if (zmq_msg_recv(&message, monitor_.get(), ZMQ_DONTWAIT) == 6) {
    std::uint16_t kind = 0;
    std::int32_t value = 0;
    const auto* data = static_cast<const std::byte*>(zmq_msg_data(&message));
    std::memcpy(&kind, data, sizeof kind);
    std::memcpy(&value, data + sizeof kind, sizeof value);
    event = MonitorEvent{kind, value};
    // The second frame names the endpoint, which we know.
    if (zmq_msg_more(&message)) zmq_msg_recv(&message, monitor_.get(), ZMQ_DONTWAIT);
  }
  zmq_msg_close(&message);
  return event;
}

bool send_frames(const Socket& socket, std::string_view routing, const WireFrames& frames,
                 const TicketPtr& ticket) {
  if (!routing.empty() &&
      zmq_send(socket.get(), routing.data(), routing.size(), ZMQ_DONTWAIT | ZMQ_SNDMORE) < 0)
    return false;
  bool whole = true;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const bool last = i + 1 == frames.size();
    zmq_msg_t message;
    fill(message, frames[i], ticket, last);
    if (zmq_msg_send(&message, socket.get(), ZMQ_DONTWAIT | (last ? 0 : ZMQ_SNDMORE)) >= 0) continue;
    zmq_msg_close(&message);
    if (i == 0 && routing.empty()) return false;
    // The connection went between two parts. libzmq takes back the parts it has, and swallows what follows up
    // to the last part; so it must be given that.
    whole = false;
  }
  return whole;
}

bool receive_frames(const Socket& socket, bool router, Received& out) {
  out.routing.clear();
  out.frames.clear();
  out.too_many_frames = false;
  bool first = true;
  for (bool more = true; more;) {
    zmq_msg_t message;
    zmq_msg_init(&message);
    if (zmq_msg_recv(&message, socket.get(), ZMQ_DONTWAIT) < 0) {
      CONVOY_CHECK(first || errno == ETERM, "the rest of a message is missing: ", zmq_strerror(errno));
      zmq_msg_close(&message);
      return false;
    }
    more = zmq_msg_more(&message) != 0;
    // Not from the routing frame: a ROUTER that was polled before gives that without its connection.
    if (!first || !router) out.fd = zmq_msg_get(&message, ZMQ_SRCFD);
    if (first && router)
      out.routing.assign(static_cast<const char*>(zmq_msg_data(&message)), zmq_msg_size(&message));
    else if (out.frames.size() < kMaxFrames)
      out.frames.push_back(take(message));
    else
      out.too_many_frames = true;
    zmq_msg_close(&message);
    first = false;
  }
  return true;
}

}  // namespace convoy
