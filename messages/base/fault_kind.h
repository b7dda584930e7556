// What can be done to a run on purpose: kinds of [[fault]] in a run file, of `convoy fault`, and of the
// message that carries one. docs/faults.md says what each does.
//
// Values; any thread.
#pragma once

#include <cstdint>

namespace convoy {

enum class FaultKind : std::uint8_t {
  // of processes
  kKill,
  kFreeze,
  kSlow,
  kLeave,
  kJoin,
  // of links
  kPartition,
  kDrop,
  kDelay,
  kDuplicate,
  kReorder,
  kCorrupt,
  // of the Master's disk
  kDiskFull,
};

constexpr bool of_messages(FaultKind kind) {
  return kind >= FaultKind::kDrop && kind <= FaultKind::kCorrupt;
}
constexpr bool of_links(FaultKind kind) {
  return kind == FaultKind::kPartition || of_messages(kind);
}

}  // namespace convoy
