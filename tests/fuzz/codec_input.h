// One fuzz input = one wire message. Tensor bytes mean nothing to the codec, so only their sizes are kept:
//
//   byte 0        low 6 bits: number of tensor frames; upper 2 bits: offset of the header in memory, x 2
//   2 bytes each  size of a tensor frame, little-endian
//   the rest      header frame
//
// Pure functions, any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "messages/codec/codec.h"

namespace convoy::testing {

inline constexpr std::size_t kMaxFuzzTensors = 63;

// What is missing of a short input reads as nothing.
inline WireMessage parse_codec_input(std::span<const std::byte> input) {
  WireMessage message;
  if (input.empty()) return message;
  const auto first = std::to_integer<std::size_t>(input[0]);
  input = input.subspan(1);
  for (std::size_t n = first & kMaxFuzzTensors; n > 0 && input.size() >= 2; --n) {
    const std::size_t size =
        std::to_integer<std::size_t>(input[0]) | (std::to_integer<std::size_t>(input[1]) << 8);
    message.tensors.push_back(Frame::of(std::vector<std::byte>(size)));
    input = input.subspan(2);
  }
  const std::size_t offset = 2 * (first >> 6);
  auto memory = std::make_shared<std::vector<std::byte>>(offset + input.size());
  std::copy(input.begin(), input.end(), memory->begin() + static_cast<std::ptrdiff_t>(offset));
  const std::span<const std::byte> header = std::span(*memory).subspan(offset);
  message.header = Frame(std::move(memory), header);
  return message;
}

// REQUIRES: at most kMaxFuzzTensors tensor frames, each below 64 KiB.
inline std::vector<std::byte> make_codec_input(const WireMessage& message, std::size_t offset = 0) {
  std::vector<std::byte> input;
  input.push_back(static_cast<std::byte>(message.tensors.size() | ((offset / 2) << 6)));
  for (const Frame& tensor : message.tensors) {
    input.push_back(static_cast<std::byte>(tensor.size() & 0xff));
    input.push_back(static_cast<std::byte>(tensor.size() >> 8));
  }
  input.insert(input.end(), message.header.bytes().begin(), message.header.bytes().end());
  return input;
}

}  // namespace convoy::testing
