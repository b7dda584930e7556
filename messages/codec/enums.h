// Inside the codec: enums of messages.h and of the schema have the same numbers, so that translating is a
// cast and, on the way in, one comparison. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <string>

#include "messages/codec/checks.h"
#include "messages/messages.h"
#include "protocol.capnp.h"

namespace convoy::codec {

template <class A, class B>
constexpr bool same(A a, B b) {
  return static_cast<std::uint16_t>(a) == static_cast<std::uint16_t>(b);
}
static_assert(same(RoleKind::kMaster, wire::RoleKind::MASTER));
static_assert(same(RoleKind::kWorker, wire::RoleKind::WORKER));
static_assert(same(RoleKind::kServer, wire::RoleKind::SERVER));
static_assert(same(RoleKind::kObserver, wire::RoleKind::OBSERVER));
static_assert(same(Encoding::kF32, wire::Encoding::F32));
static_assert(same(Encoding::kF64, wire::Encoding::F64));
static_assert(same(Encoding::kF16, wire::Encoding::F16));
static_assert(same(Encoding::kThreshold, wire::Encoding::THRESHOLD));
static_assert(same(Encoding::kTopK, wire::Encoding::TOP_K));
static_assert(same(RefuseReason::kOtherRun, wire::Refuse::Reason::OTHER_RUN));
static_assert(same(RefuseReason::kOtherVersion, wire::Refuse::Reason::OTHER_VERSION));
static_assert(same(RefuseReason::kStale, wire::Refuse::Reason::STALE));
static_assert(same(RefuseReason::kUnknown, wire::Refuse::Reason::UNKNOWN));
static_assert(same(RefuseReason::kBadMessage, wire::Refuse::Reason::BAD_MESSAGE));
static_assert(same(RefuseReason::kEnded, wire::Refuse::Reason::ENDED));

constexpr RoleKind last_of(wire::RoleKind) {
  return RoleKind::kObserver;
}
constexpr Encoding last_of(wire::Encoding) {
  return Encoding::kTopK;
}
constexpr RefuseReason last_of(wire::Refuse::Reason) {
  return RefuseReason::kEnded;
}

template <class Wire>
auto checked_enum(Wire value, const char* what) {
  constexpr auto last = last_of(Wire{});
  const auto number = static_cast<std::uint16_t>(value);
  if (number > static_cast<std::uint16_t>(last))
    refuse(std::string(what) + " has the unknown value " + std::to_string(number));
  return static_cast<std::remove_const_t<decltype(last)>>(number);
}

template <class Wire, class Plain>
constexpr Wire to_wire(Plain value) {
  return static_cast<Wire>(value);
}

}  // namespace convoy::codec
