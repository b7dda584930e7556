// Strong ids, clocks and views: what tells one actor, tensor piece or moment of the protocol from another.
//
// Values, no ownership, any thread. Nothing here converts to or from a bare integer by itself; `value` is for
// printing, hashing and the codec.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>

namespace convoy {

template <class Tag, class Rep>
struct Id {
  using rep = Rep;
  Rep value{};

  constexpr Id() = default;
  constexpr explicit Id(Rep v) : value(v) {}
  friend constexpr auto operator<=>(Id, Id) = default;
  friend std::ostream& operator<<(std::ostream& out, Id id) { return out << Tag::prefix << id.value; }
};

struct PeerTag {
  static constexpr const char* prefix = "peer ";
};
struct MemberTag {
  static constexpr const char* prefix = "m";
};
struct ServerTag {
  static constexpr const char* prefix = "p";
};
struct IncarnationTag {
  static constexpr const char* prefix = "#";
};
struct ChunkTag {
  static constexpr const char* prefix = "chunk ";
};
struct ShardTag {
  static constexpr const char* prefix = "shard ";
};
struct LeaseTag {
  static constexpr const char* prefix = "lease ";
};
struct SnapshotTag {
  static constexpr const char* prefix = "snapshot ";
};
struct RunTag {
  static constexpr const char* prefix = "run ";
};

// One running role instance, for as long as its process lives: what messages are sent to. Drawn at random by
// the instance itself; a restarted process is another peer.
using PeerId = Id<PeerTag, std::uint64_t>;
// A replica as the protocol sees it. Handed out by the Master, stable over restarts of the same named node;
// the order of member ids is the order in which bsp sums.
using MemberId = Id<MemberTag, std::uint32_t>;
// A parameter server (P-slave). Handed out by the Master.
using ServerId = Id<ServerTag, std::uint32_t>;
// Counts the lives of a member or P-slave. Messages of an earlier life are refused.
using Incarnation = Id<IncarnationTag, std::uint32_t>;
// Index into the chunk table that every node derives from the model (see kernels/graph).
using ChunkId = Id<ChunkTag, std::uint32_t>;
// Index into ViewRecord::shards: chunks that have the same owner and backup in one view.
using ShardId = Id<ShardTag, std::uint32_t>;
// One lease; never used twice within a term of the Master.
using LeaseId = Id<LeaseTag, std::uint64_t>;
// One frozen picture of all parameters, taken at a cut.
using SnapshotId = Id<SnapshotTag, std::uint32_t>;
// One run; a node of another run is refused.
using RunId = Id<RunTag, std::uint64_t>;

// Number of updates that a member has committed; also the name of the update that comes next (clock 0 is the
// first).
struct Clock {
  std::int64_t value = 0;

  constexpr Clock() = default;
  constexpr explicit Clock(std::int64_t v) : value(v) {}
  friend constexpr auto operator<=>(Clock, Clock) = default;
  friend constexpr Clock operator+(Clock c, std::int64_t d) { return Clock(c.value + d); }
  friend constexpr Clock operator-(Clock c, std::int64_t d) { return Clock(c.value - d); }
  friend constexpr std::int64_t operator-(Clock a, Clock b) { return a.value - b.value; }
  constexpr Clock& operator++() {
    ++value;
    return *this;
  }
  friend std::ostream& operator<<(std::ostream& out, Clock c) { return out << c.value; }
};

// Numbered membership. Terms count starts of a Master (journaled before its first message), attempts count
// view changes within a term. Ordered: a higher view supersedes a lower one. {0,0} is "no view yet".
struct View {
  std::uint32_t term = 0;
  std::uint32_t attempt = 0;

  friend constexpr auto operator<=>(View, View) = default;
  friend std::ostream& operator<<(std::ostream& out, View v) {
    return out << "v" << v.term << "." << v.attempt;
  }
};

struct MemberKey {
  MemberId id;
  Incarnation incarnation;

  friend constexpr auto operator<=>(MemberKey, MemberKey) = default;
  friend std::ostream& operator<<(std::ostream& out, MemberKey k) { return out << k.id << k.incarnation; }
};

// One life of a P-slave: what it holds and logs ends with it.
struct ServerKey {
  ServerId id;
  Incarnation incarnation;

  friend constexpr auto operator<=>(ServerKey, ServerKey) = default;
  friend std::ostream& operator<<(std::ostream& out, ServerKey k) { return out << k.id << k.incarnation; }
};

}  // namespace convoy

template <class Tag, class Rep>
struct std::hash<convoy::Id<Tag, Rep>> {
  std::size_t operator()(convoy::Id<Tag, Rep> id) const noexcept { return std::hash<Rep>{}(id.value); }
};
