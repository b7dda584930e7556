// A TCP listener on 127.0.0.1 that is no ZeroMQ: it accepts, and says nothing by itself.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <string>

namespace convoy::test {

class PlainListener {
 public:
  PlainListener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    BOOST_REQUIRE(::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    BOOST_REQUIRE(::listen(fd_, 16) == 0);
    socklen_t size = sizeof address;
    BOOST_REQUIRE(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  ~PlainListener() { ::close(fd_); }
  PlainListener(const PlainListener&) = delete;
  PlainListener& operator=(const PlainListener&) = delete;

  const std::string& address() const { return address_; }
  int accept() { return ::accept(fd_, nullptr, nullptr); }

 private:
  int fd_;
  std::string address_;
};

}  // namespace convoy::test
