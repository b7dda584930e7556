// Inside the codec: enums of messages.h to the schema's and back. Switches without a default, so that a value
// added on either side does not compile here until it has its partner. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <string>

#include "messages/base/check.h"
#include "messages/codec/checks.h"
#include "messages/messages.h"
#include "protocol.capnp.h"

namespace convoy::codec {

template <class Wire>
[[noreturn]] void refuse_enum(Wire value, const char* what) {
  refuse(std::string(what) + " has the unknown value " + std::to_string(static_cast<std::uint16_t>(value)));
}

inline wire::RoleKind to_wire(RoleKind value) {
  switch (value) {
    case RoleKind::kMaster:
      return wire::RoleKind::MASTER;
    case RoleKind::kWorker:
      return wire::RoleKind::WORKER;
    case RoleKind::kServer:
      return wire::RoleKind::SERVER;
    case RoleKind::kObserver:
      return wire::RoleKind::OBSERVER;
  }
  CONVOY_CHECK(false, "RoleKind ", static_cast<int>(value));
}
inline RoleKind from_wire(wire::RoleKind value) {
  switch (value) {
    case wire::RoleKind::MASTER:
      return RoleKind::kMaster;
    case wire::RoleKind::WORKER:
      return RoleKind::kWorker;
    case wire::RoleKind::SERVER:
      return RoleKind::kServer;
    case wire::RoleKind::OBSERVER:
      return RoleKind::kObserver;
  }
  refuse_enum(value, "the role");
}

inline wire::Encoding to_wire(Encoding value) {
  switch (value) {
    case Encoding::kF32:
      return wire::Encoding::F32;
    case Encoding::kF64:
      return wire::Encoding::F64;
    case Encoding::kF16:
      return wire::Encoding::F16;
    case Encoding::kThreshold:
      return wire::Encoding::THRESHOLD;
    case Encoding::kTopK:
      return wire::Encoding::TOP_K;
  }
  CONVOY_CHECK(false, "Encoding ", static_cast<int>(value));
}
inline Encoding from_wire(wire::Encoding value) {
  switch (value) {
    case wire::Encoding::F32:
      return Encoding::kF32;
    case wire::Encoding::F64:
      return Encoding::kF64;
    case wire::Encoding::F16:
      return Encoding::kF16;
    case wire::Encoding::THRESHOLD:
      return Encoding::kThreshold;
    case wire::Encoding::TOP_K:
      return Encoding::kTopK;
  }
  refuse_enum(value, "the encoding");
}

inline wire::SyncMode to_wire(SyncMode value) {
  switch (value) {
    case SyncMode::kBsp:
      return wire::SyncMode::BSP;
    case SyncMode::kDsp:
      return wire::SyncMode::DSP;
    case SyncMode::kDynamic:
      return wire::SyncMode::DYNAMIC;
    case SyncMode::kAsp:
      return wire::SyncMode::ASP;
  }
  CONVOY_CHECK(false, "SyncMode ", static_cast<int>(value));
}
inline SyncMode from_wire(wire::SyncMode value) {
  switch (value) {
    case wire::SyncMode::BSP:
      return SyncMode::kBsp;
    case wire::SyncMode::DSP:
      return SyncMode::kDsp;
    case wire::SyncMode::DYNAMIC:
      return SyncMode::kDynamic;
    case wire::SyncMode::ASP:
      return SyncMode::kAsp;
  }
  refuse_enum(value, "the mode");
}

inline wire::Refuse::Reason to_wire(RefuseReason value) {
  switch (value) {
    case RefuseReason::kOtherRun:
      return wire::Refuse::Reason::OTHER_RUN;
    case RefuseReason::kOtherVersion:
      return wire::Refuse::Reason::OTHER_VERSION;
    case RefuseReason::kStale:
      return wire::Refuse::Reason::STALE;
    case RefuseReason::kUnknown:
      return wire::Refuse::Reason::UNKNOWN;
    case RefuseReason::kBadMessage:
      return wire::Refuse::Reason::BAD_MESSAGE;
    case RefuseReason::kEnded:
      return wire::Refuse::Reason::ENDED;
    case RefuseReason::kNameTaken:
      return wire::Refuse::Reason::NAME_TAKEN;
  }
  CONVOY_CHECK(false, "RefuseReason ", static_cast<int>(value));
}
inline RefuseReason from_wire(wire::Refuse::Reason value) {
  switch (value) {
    case wire::Refuse::Reason::OTHER_RUN:
      return RefuseReason::kOtherRun;
    case wire::Refuse::Reason::OTHER_VERSION:
      return RefuseReason::kOtherVersion;
    case wire::Refuse::Reason::STALE:
      return RefuseReason::kStale;
    case wire::Refuse::Reason::UNKNOWN:
      return RefuseReason::kUnknown;
    case wire::Refuse::Reason::BAD_MESSAGE:
      return RefuseReason::kBadMessage;
    case wire::Refuse::Reason::ENDED:
      return RefuseReason::kEnded;
    case wire::Refuse::Reason::NAME_TAKEN:
      return RefuseReason::kNameTaken;
  }
  refuse_enum(value, "the reason");
}

inline wire::FaultKind to_wire(FaultKind value) {
  switch (value) {
    case FaultKind::kKill:
      return wire::FaultKind::KILL;
    case FaultKind::kFreeze:
      return wire::FaultKind::FREEZE;
    case FaultKind::kSlow:
      return wire::FaultKind::SLOW;
    case FaultKind::kLeave:
      return wire::FaultKind::LEAVE;
    case FaultKind::kJoin:
      return wire::FaultKind::JOIN;
    case FaultKind::kPartition:
      return wire::FaultKind::PARTITION;
    case FaultKind::kDrop:
      return wire::FaultKind::DROP;
    case FaultKind::kDelay:
      return wire::FaultKind::DELAY;
    case FaultKind::kDuplicate:
      return wire::FaultKind::DUPLICATE;
    case FaultKind::kReorder:
      return wire::FaultKind::REORDER;
    case FaultKind::kCorrupt:
      return wire::FaultKind::CORRUPT;
    case FaultKind::kDiskFull:
      return wire::FaultKind::DISK_FULL;
  }
  CONVOY_CHECK(false, "FaultKind ", static_cast<int>(value));
}
inline FaultKind from_wire(wire::FaultKind value) {
  switch (value) {
    case wire::FaultKind::KILL:
      return FaultKind::kKill;
    case wire::FaultKind::FREEZE:
      return FaultKind::kFreeze;
    case wire::FaultKind::SLOW:
      return FaultKind::kSlow;
    case wire::FaultKind::LEAVE:
      return FaultKind::kLeave;
    case wire::FaultKind::JOIN:
      return FaultKind::kJoin;
    case wire::FaultKind::PARTITION:
      return FaultKind::kPartition;
    case wire::FaultKind::DROP:
      return FaultKind::kDrop;
    case wire::FaultKind::DELAY:
      return FaultKind::kDelay;
    case wire::FaultKind::DUPLICATE:
      return FaultKind::kDuplicate;
    case wire::FaultKind::REORDER:
      return FaultKind::kReorder;
    case wire::FaultKind::CORRUPT:
      return FaultKind::kCorrupt;
    case wire::FaultKind::DISK_FULL:
      return FaultKind::kDiskFull;
  }
  refuse_enum(value, "the kind of a fault");
}

}  // namespace convoy::codec
