#include "node/process/addresses.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <random>

#include "node/security/keys.h"

namespace convoy {
namespace {

constexpr std::uint64_t kReservedPeers = 1024;  // the Master is 1

using Found = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Result<Found> look_up(const config::Address& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  const int failed = getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (failed != 0) {
    return Error{ErrorCode::kIo,
                 "The host name " + address.host + " is not known here (" + gai_strerror(failed) + ")."};
  }
  return Found(found, freeaddrinfo);
}

}  // namespace

Result<std::string> local_address_towards(const config::Address& peer) {
  const Result<Found> found = look_up(peer);
  if (!found) return found.error();
  std::string why = "no address";
  for (const addrinfo* a = found->get(); a != nullptr; a = a->ai_next) {
    const int fd = socket(a->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) continue;
    // A datagram socket only looks the route up; nothing is sent.
    sockaddr_storage local{};
    socklen_t size = sizeof local;
    const bool ok = connect(fd, a->ai_addr, a->ai_addrlen) == 0 &&
                    getsockname(fd, reinterpret_cast<sockaddr*>(&local), &size) == 0;
    if (!ok) why = std::strerror(errno);
    close(fd);
    if (!ok) continue;
    std::array<char, NI_MAXHOST> text{};
    if (getnameinfo(reinterpret_cast<const sockaddr*>(&local), size, text.data(), text.size(), nullptr, 0,
                    NI_NUMERICHOST) == 0) {
      return std::string(text.data());
    }
  }
  return Error{ErrorCode::kIo, "No address of this machine leads to " + config::to_string(peer) + " (" + why +
                                   "); set node.advertise."};
}

bool is_over_loopback(const config::Address& peer) {
  const Result<std::string> local = local_address_towards(peer);
  return local && !requires_encryption(config::to_string({*local, peer.port}));
}

bool is_address_here(const std::string& host) {
  const Result<Found> found = look_up({host, 0});
  if (!found) return false;
  for (const addrinfo* a = found->get(); a != nullptr; a = a->ai_next) {
    const int fd = socket(a->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const bool here = fd >= 0 && bind(fd, a->ai_addr, a->ai_addrlen) == 0;
    if (fd >= 0) close(fd);
    if (here) return true;
  }
  return false;
}

std::string as_seen_from_here(const std::string& address, const config::Address& master) {
  const std::size_t scope = address.find('%');
  const std::size_t end = address.find(']');
  const std::size_t ours = master.host.find('%');
  if (scope == std::string::npos || end == std::string::npos || ours == std::string::npos) return address;
  return address.substr(0, scope) + master.host.substr(ours) + address.substr(end);
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

PeerId random_peer_id() {
  std::random_device device;
  std::uint64_t value = 0;
  while (value <= kReservedPeers) value = static_cast<std::uint64_t>(device()) << 32 | device();
  return PeerId(value);
}

}  // namespace convoy
