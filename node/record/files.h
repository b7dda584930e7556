// Files that appear whole or not at all, and files that grow by lines. Internal to node/record.
//
// Free functions, any thread; an AppendFile owns its descriptor and has one user at a time. Errors name the
// path and say what the system said.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "messages/base/result.h"

namespace convoy::record {

// kIo: "<path>: cannot <what>: <text of errno>".
Error system_error(const std::string& path, std::string_view what, int error);

Result<std::vector<std::byte>> read_bytes(const std::string& path);
Result<std::string> read_text(const std::string& path);

// A new file, durable when this returns.
Result<void> write_durably(const std::string& path, std::span<const std::byte> bytes);
// Replaces what is there in one step: written under a temporary name, made durable, renamed.
Result<void> replace_file(const std::string& path, std::string_view text);
// Makes the names in a folder durable.
Result<void> sync_folder(const std::string& path);

// SHA-256 as hex digits: what sha256sum prints.
std::string sha256(std::span<const std::byte> bytes);

class AppendFile {
 public:
  static Result<AppendFile> open(const std::string& path);
  ~AppendFile();
  AppendFile(AppendFile&& other) noexcept;
  AppendFile& operator=(AppendFile&& other) noexcept;

  // `line` without its end; written in one go, so that readers see whole lines.
  Result<void> append(std::string_view line);

 private:
  AppendFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  std::string path_;
  int fd_ = -1;
};

}  // namespace convoy::record
