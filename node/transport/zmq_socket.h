// The thinnest layer over libzmq's C interface: contexts and sockets that close themselves, messages as
// frames without copies, and socket monitors.
//
// A Context may be used from any thread, a Socket from the one that uses it first. Owned by the I/O thread.
#pragma once

#include <zmq.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/base/time.h"
#include "node/transport/account.h"
#include "node/transport/transport.h"

namespace convoy {

// Larger frames are handed over by reference in both directions. Smaller received ones would pin (and lie
// unaligned in) the 8 KiB buffer that libzmq's decoder shares between messages, so they are copied.
inline constexpr std::size_t kCopySendBytes = 512;
inline constexpr std::size_t kCopyReceiveBytes = 8192;
inline constexpr std::size_t kMaxFrames = 65'536;

class Context {
 public:
  Context();
  ~Context();  // waits for sockets that linger
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  void* get() const { return handle_; }

 private:
  void* handle_;
};

class Socket {
 public:
  Socket() = default;
  Socket(Socket&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Socket() { close(); }

  static Result<Socket> open(const Context& context, int type);
  void* get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }
  void close();

  // Options that cannot fail unless we are wrong.
  void set(int option, int value);
  void set(int option, std::int64_t value);
  void set(int option, std::string_view value);
  std::string last_endpoint() const;

 private:
  explicit Socket(void* handle) : handle_(handle) {}
  void* handle_ = nullptr;
};

struct MonitorEvent {
  int event = 0;  // ZMQ_EVENT_*
  int value = 0;  // fd, errno or protocol error, by event
};

// A socket and the monitor that reports what happens to its connections. ZeroMQ's threads block when a
// monitor that still reports is closed first, hence the pair.
class WatchedSocket {
 public:
  WatchedSocket() = default;
  WatchedSocket(WatchedSocket&&) = default;
  WatchedSocket& operator=(WatchedSocket&&) = default;
  ~WatchedSocket() { close(); }

  static Result<WatchedSocket> open(const Context& context, int type);
  Socket& socket() { return socket_; }
  const Socket& monitor() const { return monitor_; }
  explicit operator bool() const { return static_cast<bool>(socket_); }
  std::optional<MonitorEvent> next_event();
  void close();

 private:
  Socket socket_;
  Socket monitor_;
};

// Sends all frames as one message, preceded by `routing` unless that is empty. Payloads are not copied: each
// large frame and the ticket stay alive until ZeroMQ has let go of them. Never blocks; false when there is no
// connection that could take it.
bool send_frames(const Socket& socket, std::string_view routing, const WireFrames& frames,
                 const TicketPtr& ticket);

struct Received {
  std::string routing;  // of a ROUTER's message
  int fd = -1;          // of the connection that it came by
  WireFrames frames;
  bool too_many_frames = false;  // and so cut off
};

// One whole message, or nothing when there is none.
bool receive_frames(const Socket& socket, bool router, Received& out);

}  // namespace convoy
