// Draws messages that keep every rule of the schema, for round trips, fuzz seeds and benchmarks.
//
// The same seed draws the same messages. Values, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <variant>

#include "messages/messages.h"

namespace convoy::testing {

inline constexpr std::size_t kMessageKinds = std::variant_size_v<Message>;
inline const std::size_t kReplicate = Message(Replicate{}).index();
inline constexpr std::size_t kStreamEntries = std::variant_size_v<decltype(Replicate::entry)>;

class RandomMessages {
 public:
  explicit RandomMessages(std::uint64_t seed) : random_(seed) {}

  // `size` bounds the length of lists and texts.
  Envelope envelope(std::size_t kind, std::size_t size);
  Message message(std::size_t kind, std::size_t size);  // index into the variant
  ViewRecord record(std::size_t size);
  RunId run() { return RunId(word()); }

 private:
  template <class T>
  T draw();  // one specialisation a struct

  std::uint64_t word() { return random_(); }
  std::uint64_t below(std::uint64_t end) { return end == 0 ? 0 : word() % end; }
  std::uint32_t word32() { return static_cast<std::uint32_t>(word()); }
  bool flip() { return word() % 2 == 0; }
  std::size_t length() { return below(size_ + 1); }
  std::int64_t count();
  double loss();
  std::string text(bool lines);
  Encoding encoding() { return static_cast<Encoding>(below(5)); }
  View view();
  View later_than(View v);
  Clock clock() { return Clock(count()); }
  ShardId shard() { return ShardId(static_cast<std::uint32_t>(below(1000))); }
  ServerRecord server(ServerId id);
  IntervalSet positions();
  std::vector<Lease> leases();
  std::vector<ChunkData> chunks(Encoding encoding);
  std::vector<std::uint32_t> ascending_ids(std::size_t n);

  std::mt19937_64 random_;
  std::size_t size_ = 0;
};

// Where one file draws what another one fills.
template <>
Push RandomMessages::draw();
template <>
Commit RandomMessages::draw();
template <>
Prepare RandomMessages::draw();
template <>
Report RandomMessages::draw();
template <>
Cut RandomMessages::draw();
template <>
Done RandomMessages::draw();
template <>
Go RandomMessages::draw();
template <>
Replicate RandomMessages::draw();
template <>
ReplicateAck RandomMessages::draw();
template <>
FetchChunks RandomMessages::draw();
template <>
ChunkStates RandomMessages::draw();
template <>
Inject RandomMessages::draw();
template <>
Injected RandomMessages::draw();

}  // namespace convoy::testing
