#include "node/process/watch_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

namespace convoy {

Result<void> write_watch_file(const std::string& path, const WatchAddress& where) {
  std::string text = where.address + "\n";
  if (where.keys) text += where.master_key + "\n" + where.keys->secret_key.text() + "\n";
  // A new file, since the mode of one that is there stays as it was.
  (void)unlink(path.c_str());
  const int fd = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, where.keys ? 0600 : 0644);
  const bool written = fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  if (fd >= 0) close(fd);
  if (!written) return Error{ErrorCode::kIo, path + ": cannot be written: " + std::strerror(error)};
  return {};
}

std::optional<WatchAddress> read_watch_file(const std::string& path) {
  std::ifstream in(path);
  WatchAddress where;
  std::string secret_text;
  if (!std::getline(in, where.address) || where.address.empty()) return std::nullopt;
  if (!std::getline(in, where.master_key) || !std::getline(in, secret_text)) return where;
  Result<SecretKey> secret = SecretKey::parse(secret_text);
  if (!secret) return std::nullopt;
  Result<KeyPair> keys = keys_of(*secret);
  if (!keys) return std::nullopt;
  where.keys = std::move(*keys);
  return where;
}

}  // namespace convoy
