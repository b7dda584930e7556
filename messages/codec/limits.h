// How much of anything the codec lets in: far above what a large run needs, far below what could hurt the
// receiver. A sender that would go beyond splits its message or has a bug; the receiver refuses.
//
// Constants; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace convoy::limits {

// A header frame. The largest honest ones carry a ledger or a view record (a few MiB for the counts below).
// Decoding takes at most a small multiple of it in memory, since no part of a header is read twice. The
// transport sets its own limit on a frame from kMaxTensorBytes.
inline constexpr std::size_t kMaxHeaderBytes = std::size_t{16} << 20;

// One tensor frame is one chunk: 256 KiB by default, up to 2 x that in fp64, and 3 x that again when it is
// the chunk's whole state (parameters, momentum, weight average). 256 MiB leaves room for a run that wants
// one chunk a tensor.
inline constexpr std::size_t kMaxTensorBytes = std::size_t{256} << 20;

// Chunks of a model and of a message; 64 GiB of parameters at the default size. Also bounds chunk ids, so
// that nobody sizes a table by a wild one.
inline constexpr std::size_t kMaxChunks = std::size_t{1} << 18;

// Members, and those on stand-by; the simulator goes to thousands.
inline constexpr std::size_t kMaxMembers = std::size_t{1} << 16;
inline constexpr std::size_t kMaxServers = std::size_t{1} << 12;
// (owner, backup) pairs that own a chunk.
inline constexpr std::size_t kMaxShards = std::size_t{1} << 14;

// A ledger has about one gap for each lease that is out: positions are handed out in order.
inline constexpr std::size_t kMaxIntervals = std::size_t{1} << 18;

// Leases reach 30 s ahead by default: 2,000 clocks a second.
inline constexpr std::size_t kMaxLeases = std::size_t{1} << 16;
// A P-slave sends its log in pieces.
inline constexpr std::size_t kMaxLogEntries = std::size_t{1} << 14;

// Names, hosts (at most 253 bytes by DNS), addresses, devices, build ids.
inline constexpr std::size_t kMaxNameBytes = 512;
// Sentences for a person. encode() cuts longer ones.
inline constexpr std::size_t kMaxSentenceBytes = 4096;
// A run file with its model's definition; a status of thousands of members.
inline constexpr std::size_t kMaxDocumentBytes = std::size_t{8} << 20;

// Clocks, positions, durations in ns (146 years) and counts lie in [0, kMaxCount): sums and differences of
// two cannot overflow.
inline constexpr std::int64_t kMaxCount = std::int64_t{1} << 62;

}  // namespace convoy::limits
