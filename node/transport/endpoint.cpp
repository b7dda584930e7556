#include "node/transport/endpoint.h"

#include <arpa/inet.h>
#include <netdb.h>

#include <charconv>
#include <cstring>
#include <memory>

namespace convoy {
namespace {

struct FreeAddrInfo {
  void operator()(addrinfo* info) const { freeaddrinfo(info); }
};
using AddrInfoPtr = std::unique_ptr<addrinfo, FreeAddrInfo>;

int look_up(const Endpoint& endpoint, int flags, AddrInfoPtr& out) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string host = endpoint.host == "*" ? "0.0.0.0" : endpoint.host;
  const int rc = getaddrinfo(host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &found);
  if (rc == 0) out.reset(found);
  return rc;
}

Error bad_address(std::string_view address, const std::string& why) {
  return Error{ErrorCode::kUsage, "'" + std::string(address) + "' is not an address: " + why +
                                      "; write host:port, for example 127.0.0.1:5555 or [::1]:5555"};
}

}  // namespace

Result<Endpoint> parse_endpoint(std::string_view address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return bad_address(address, "it has no port");
  std::string_view host = address.substr(0, colon);
  const std::string_view port_text = address.substr(colon + 1);
  if (!host.empty() && host.front() == '[') {
    if (host.back() != ']') return bad_address(address, "a bracket is missing");
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return bad_address(address, "an IPv6 host stands in brackets");
  }
  if (host.empty()) return bad_address(address, "it has no host");
  for (const char c : host)
    if (static_cast<unsigned char>(c) <= ' ' || c == '/' || c == ',' || c == '[' || c == ']')
      return bad_address(address, "the host holds a character that no host has");

  unsigned port = 0;
  const auto [end, error] = std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
  if (error != std::errc{} || end != port_text.data() + port_text.size() || port > 65535)
    return bad_address(address, "a port is a number from 0 to 65535");
  return Endpoint{std::string(host), static_cast<std::uint16_t>(port)};
}

std::string to_string(const Endpoint& endpoint) {
  const bool v6 = endpoint.host.find(':') != std::string::npos;
  return (v6 ? "[" + endpoint.host + "]" : endpoint.host) + ":" + std::to_string(endpoint.port);
}

NumericAddress::NumericAddress(const sockaddr* address, socklen_t length) : length_(length) {
  CONVOY_CHECK(length <= sizeof(storage_), "socket address of ", length, " bytes");
  std::memcpy(&storage_, address, length);
}

std::string NumericAddress::text() const {
  char host[NI_MAXHOST];
  char port[NI_MAXSERV];
  if (getnameinfo(get(), length_, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "?";
  std::string_view name = host;
  // An IPv4 connection to a listener for all addresses.
  if (name.starts_with("::ffff:") && name.find('.') != std::string_view::npos) name.remove_prefix(7);
  const bool v6 = name.find(':') != std::string_view::npos;
  return (v6 ? "[" + std::string(name) + "]" : std::string(name)) + ":" + port;
}

std::string NumericAddress::zmq_endpoint() const {
  return "tcp://" + text();
}

std::string remote_address(int fd) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&storage), &length) != 0) return {};
  if (storage.ss_family != AF_INET && storage.ss_family != AF_INET6) return {};
  return NumericAddress(reinterpret_cast<const sockaddr*>(&storage), length).text();
}

bool is_numeric(const Endpoint& endpoint) {
  AddrInfoPtr found;
  return look_up(endpoint, AI_NUMERICHOST, found) == 0;
}

Result<std::vector<NumericAddress>> resolve(const Endpoint& endpoint) {
  AddrInfoPtr found;
  const int rc = look_up(endpoint, 0, found);
  if (rc != 0) {
    const int error = errno;
    const std::string why = rc == EAI_SYSTEM ? errno_text(error) : std::string(gai_strerror(rc));
    return Error{ErrorCode::kIo, "the name '" + endpoint.host + "' of " + to_string(endpoint) +
                                     " was not found (" + why +
                                     "); check the spelling, /etc/hosts and the name server"};
  }
  std::vector<NumericAddress> addresses;
  for (const addrinfo* a = found.get(); a != nullptr; a = a->ai_next)
    if (a->ai_family == AF_INET || a->ai_family == AF_INET6)
      addresses.emplace_back(a->ai_addr, a->ai_addrlen);
  if (addresses.empty())
    return Error{ErrorCode::kIo, "the name '" + endpoint.host + "' has neither an IPv4 nor an IPv6 address"};
  return addresses;
}

std::string errno_text(int error) {
  return std::string(strerrordesc_np(error) != nullptr ? strerrordesc_np(error) : "unknown error") +
         ", errno " + std::to_string(error);
}

}  // namespace convoy
