// Wakeup: an eventfd that ends the I/O thread's wait. Any thread may signal; the I/O thread clears.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "messages/base/check.h"

namespace convoy {

class Wakeup {
 public:
  Wakeup() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { CONVOY_CHECK(fd_ >= 0, "eventfd: errno ", errno); }
  ~Wakeup() { ::close(fd_); }
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  int fd() const { return fd_; }
  void signal() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(fd_, &one, sizeof one);  // full means signalled already
  }
  void clear() {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(fd_, &count, sizeof count);
  }

 private:
  int fd_;
};

}  // namespace convoy
