// Endpoints: "host:port" as people write it, the numeric addresses behind it, and words for what the system
// says about them.
//
// Values and pure functions, any thread; resolve() may wait for a name server.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "messages/base/result.h"

namespace convoy {

struct Endpoint {
  std::string host;  // without brackets; may carry "%scope"
  std::uint16_t port = 0;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// "name:1", "10.0.0.1:1", "[::1]:1", "[fe80::1%eth0]:1", "*:1" (all IPv4 interfaces).
Result<Endpoint> parse_endpoint(std::string_view address);
std::string to_string(const Endpoint& endpoint);

class NumericAddress {
 public:
  NumericAddress(const sockaddr* address, socklen_t length);

  bool is_v6() const { return storage_.ss_family == AF_INET6; }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t length() const { return length_; }
  std::string text() const;          // "127.0.0.1:80", "[fe80::1%eth0]:80"
  std::string zmq_endpoint() const;  // "tcp://" + text()

 private:
  sockaddr_storage storage_{};
  socklen_t length_ = 0;
};

// Where the other end of a connected socket is; empty when the system does not tell.
std::string remote_address(int fd);

// Never empty on success. The error says which name and why.
Result<std::vector<NumericAddress>> resolve(const Endpoint& endpoint);
// True when resolve() will not ask anybody.
bool is_numeric(const Endpoint& endpoint);

// "Connection refused, errno 111".
std::string errno_text(int error);

}  // namespace convoy
