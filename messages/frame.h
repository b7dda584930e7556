// Frame: bytes that own themselves. A tensor piece travels as one frame from the buffer that made it to the
// buffer that uses it; roles hand frames on and never look inside.
//
// A value with shared, immutable content: copies are cheap (one reference count) and safe in any thread. The
// owner is released when the last copy goes, in whatever thread that happens.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace convoy {

class Frame {
 public:
  Frame() = default;

  // A view of `bytes`, kept alive by `owner` (a gradient buffer, a ZeroMQ message, ...). REQUIRES: the bytes
  // do not change while any copy of this frame exists.
  Frame(std::shared_ptr<const void> owner, std::span<const std::byte> bytes)
      : owner_(std::move(owner)), bytes_(bytes) {}

  static Frame of(std::vector<std::byte> bytes) {
    auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    const std::span<const std::byte> view(*owner);
    return Frame(std::move(owner), view);
  }
  static Frame copy_of(std::span<const std::byte> bytes) {
    return of(std::vector<std::byte>(bytes.begin(), bytes.end()));
  }

  std::span<const std::byte> bytes() const { return bytes_; }
  const std::byte* data() const { return bytes_.data(); }
  std::size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  const std::shared_ptr<const void>& owner() const { return owner_; }

  // Same bytes, wherever they lie.
  friend bool operator==(const Frame& a, const Frame& b) {
    return a.size() == b.size() && (a.data() == b.data() || std::memcmp(a.data(), b.data(), a.size()) == 0);
  }

 private:
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> bytes_;
};

}  // namespace convoy
