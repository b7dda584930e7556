// The words that files use for our enumerations, in the order of the enumerators. Internal to config/.
#pragma once

#include <array>
#include <string_view>

#include "config/run_options.h"

namespace convoy::config::detail {

template <class E>
struct Names;

template <>
struct Names<SyncMode> {
  static constexpr std::array<const char*, 4> values{"bsp", "dsp", "dynamic", "asp"};
};
template <>
struct Names<Partition> {
  static constexpr std::array<const char*, 2> values{"proportional", "equal"};
};
template <>
struct Names<Encoding> {
  static constexpr std::array<const char*, 5> values{"fp32", "fp16", "threshold", "topk", "auto"};
};
template <>
struct Names<ScheduleKind> {
  static constexpr std::array<const char*, 5> values{"constant", "step", "cosine", "linear", "one_cycle"};
};
template <>
struct Names<DataFormat> {
  static constexpr std::array<const char*, 1> values{"idx"};
};
template <>
struct Names<FaultKind> {
  static constexpr std::array<const char*, 12> values{"kill",      "freeze",    "slow",    "leave",
                                                      "join",      "partition", "drop",    "delay",
                                                      "duplicate", "reorder",   "corrupt", "disk_full"};
};

template <class E>
constexpr const char* name_of(E value) {
  return Names<E>::values.at(static_cast<std::size_t>(value));
}

}  // namespace convoy::config::detail
