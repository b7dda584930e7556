// A file in memory for readers that want a path: of one process, gone with it, and no disk is waited for.
//
// Owns the file. One thread.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <span>
#include <string>

#include "messages/base/check.h"

namespace convoy::testing {

class MemoryFile {
 public:
  MemoryFile() : fd_(memfd_create("fuzz", MFD_CLOEXEC)) { CONVOY_CHECK(fd_ >= 0, "no memory for a file"); }
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }
  void hold(std::span<const std::uint8_t> bytes) {
    CONVOY_CHECK(ftruncate(fd_, 0) == 0, "cannot be emptied");
    const ssize_t written = pwrite(fd_, bytes.data(), bytes.size(), 0);
    CONVOY_CHECK(written == static_cast<ssize_t>(bytes.size()), "cannot be written");
  }

 private:
  int fd_;
};

}  // namespace convoy::testing
