#include "node/security/key_list.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace convoy {
namespace {

bool is_same(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

// An editor writes another file in its place; others write into it.
bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         is_same(a.st_mtim, b.st_mtim) && is_same(a.st_ctim, b.st_ctim);
}

// Somebody's editor may have left out the end of the last line.
bool ends_amid_a_line(int fd) {
  const off_t size = lseek(fd, 0, SEEK_END);
  char last = '\n';
  return size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

}  // namespace

std::optional<Result<std::vector<PublicKey>>> KeyList::changed() {
  struct stat now {};
  // Asked before it is read: what is written in between is found at the next call.
  const bool there = stat(path_.c_str(), &now) == 0;
  const bool missing = !there && errno == ENOENT;
  if (looked_ && there == there_ && (!there || is_same(now, seen_))) return std::nullopt;
  looked_ = true;
  there_ = there;
  seen_ = now;
  if (missing) return Result<std::vector<PublicKey>>(std::vector<PublicKey>{});
  return read_allowed_keys(path_);
}

Result<void> KeyList::add(const std::string& path, const PublicKey& key, const std::string& comment) {
  const auto failed = [&](int error) {
    return Error{ErrorCode::kIo, "cannot add a key to the list " + path + " (" + std::strerror(error) + ")"};
  };
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return failed(errno);
  const std::string line = (ends_amid_a_line(fd) ? "\n" : "") + key.text() + "  # " + comment + "\n";
  const bool written = write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const int error = errno;
  close(fd);
  if (!written) return failed(error);
  return {};
}

}  // namespace convoy
