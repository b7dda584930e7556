#include "node/record/files.h"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

namespace convoy::record {
namespace {

// 0, or errno.
int write_all(int fd, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = ::write(fd, data, size);
    if (n < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    data += n;
    size -= static_cast<std::size_t>(n);
  }
  return 0;
}

Result<void> write_new(const std::string& path, const char* data, std::size_t size) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return system_error(path, "create", errno);
  int error = write_all(fd, data, size);
  if (error == 0 && ::fsync(fd) != 0) error = errno;
  if (::close(fd) != 0 && error == 0) error = errno;
  if (error != 0) {
    ::unlink(path.c_str());
    return system_error(path, "write", error);
  }
  return {};
}

template <class Container>
Result<Container> read_whole(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return system_error(path, "open", errno);
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return Error{ErrorCode::kIo, path + ": is not a regular file"};
  }
  Container content(static_cast<std::size_t>(info.st_size), typename Container::value_type{});
  std::size_t done = 0;
  int error = 0;
  while (done < content.size()) {
    const ssize_t n = ::read(fd, content.data() + done, content.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) error = errno;
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  ::close(fd);
  if (error != 0) return system_error(path, "read", error);
  content.resize(done);
  return content;
}

}  // namespace

Error system_error(const std::string& path, std::string_view what, int error) {
  return {ErrorCode::kIo, path + ": cannot " + std::string(what) + ": " + std::strerror(error)};
}

Result<std::vector<std::byte>> read_bytes(const std::string& path) {
  return read_whole<std::vector<std::byte>>(path);
}

Result<std::string> read_text(const std::string& path) {
  return read_whole<std::string>(path);
}

Result<void> write_durably(const std::string& path, std::span<const std::byte> bytes) {
  return write_new(path, reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Result<void> replace_file(const std::string& path, std::string_view text) {
  const std::string temporary = path + ".tmp";
  if (auto written = write_new(temporary, text.data(), text.size()); !written) return written;
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    return system_error(path, "replace", error);
  }
  return sync_folder(std::filesystem::path(path).parent_path().string());
}

Result<void> sync_folder(const std::string& path) {
  const std::string folder = path.empty() ? "." : path;
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return system_error(folder, "open", errno);
  const int error = ::fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  // Some file systems cannot do this to folders, and need not.
  if (error != 0 && error != EINVAL) return system_error(folder, "sync", error);
  return {};
}

std::string sha256(std::span<const std::byte> bytes) {
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256(hash.data(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  std::string text;
  for (const unsigned char byte : hash) {
    constexpr char kDigits[] = "0123456789abcdef";
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

Result<AppendFile> AppendFile::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return system_error(path, "open", errno);
  return AppendFile(path, fd);
}

AppendFile::~AppendFile() {
  if (fd_ >= 0) ::close(fd_);
}

AppendFile::AppendFile(AppendFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

AppendFile& AppendFile::operator=(AppendFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  return *this;
}

Result<void> AppendFile::append(std::string_view line) {
  std::string whole(line);
  whole += '\n';
  if (const int error = write_all(fd_, whole.data(), whole.size()); error != 0)
    return system_error(path_, "write", error);
  return {};
}

}  // namespace convoy::record
