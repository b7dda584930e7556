// The scalar type of a run, and flat buffers of it as bytes. A run has one scalar type end to end (wire,
// optimiser state, gradients): fp32, or fp64 with the device `reference64`.
//
// Values and views, no ownership; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "messages/base/check.h"

namespace convoy {

enum class Scalar : std::uint8_t { kF32 = 0, kF64 = 1 };

constexpr int bytes_of(Scalar scalar) {
  return scalar == Scalar::kF32 ? 4 : 8;
}
constexpr const char* to_string(Scalar scalar) {
  return scalar == Scalar::kF32 ? "fp32" : "fp64";
}

template <class T>
constexpr Scalar scalar_of() {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  return std::is_same_v<T, float> ? Scalar::kF32 : Scalar::kF64;
}

using Bytes = std::span<std::byte>;
using ConstBytes = std::span<const std::byte>;

// Views of the same memory. REQUIRES: a whole number of elements, aligned for T (who receives bytes from a
// network checks the alignment first).
template <class T>
std::span<T> elements(Bytes bytes) {
  CONVOY_CHECK(bytes.size() % sizeof(T) == 0, bytes.size());
  CONVOY_CHECK(reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(T) == 0);
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}
template <class T>
std::span<const T> elements(ConstBytes bytes) {
  CONVOY_CHECK(bytes.size() % sizeof(T) == 0, bytes.size());
  CONVOY_CHECK(reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(T) == 0);
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}
template <class T>
Bytes to_bytes(std::span<T> values) {
  return std::as_writable_bytes(values);
}
template <class T>
ConstBytes to_bytes(std::span<const T> values) {
  return std::as_bytes(values);
}
template <class T>
Bytes to_bytes(std::vector<T>& values) {
  return std::as_writable_bytes(std::span<T>(values));
}
template <class T>
ConstBytes to_bytes(const std::vector<T>& values) {
  return std::as_bytes(std::span<const T>(values));
}

}  // namespace convoy
