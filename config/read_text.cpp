#include "config/read_text.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace convoy::config::detail {

Result<std::string> read_text(const std::string& path) {
  constexpr std::size_t kMost = std::size_t{16} << 20;
  const auto failed = [&path](int error) {
    return Error{ErrorCode::kIo, path + ": cannot be read: " + std::strerror(error)};
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) return failed(errno);
  std::string text;
  std::array<char, 65536> buffer{};
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    text.append(buffer.data(), n);
    if (text.size() > kMost) return Error{ErrorCode::kIo, path + ": longer than any options file (16 MiB)"};
  }
  if (std::ferror(file.get()) != 0) return failed(errno);
  return text;
}

}  // namespace convoy::config::detail
