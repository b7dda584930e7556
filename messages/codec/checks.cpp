#include "messages/codec/checks.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>

#include "messages/codec/limits.h"

namespace convoy::codec {
namespace {

// Bytes of the well-formed UTF-8 sequence that `text` starts with, 0 when it starts with none (Unicode 15,
// table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF). REQUIRES: not empty.
std::size_t utf8_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  std::size_t length = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xbf;
  if (lead >= 0xc2 && lead <= 0xdf) {
    length = 2;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    length = 3;
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    length = 4;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
  } else {
    return 0;
  }
  if (text.size() < length || at(1) < low || at(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i)
    if (at(i) < 0x80 || at(i) > 0xbf) return 0;
  return length;
}

bool is_control(unsigned char c, TextKind kind) {
  if (kind == TextKind::kText && (c == '\n' || c == '\t' || c == '\r')) return false;
  return c < 0x20 || c == 0x7f;
}

template <class Range, class Key>
void check_ascending(const Range& range, Key key, const char* what) {
  for (std::size_t i = 1; i < range.size(); ++i)
    if (!(key(range[i - 1]) < key(range[i]))) refuse(std::string(what) + " do not ascend");
}

// Which chunks are in a list already. Ids are bounded by then.
class TakenChunks {
 public:
  // `chunks` ascend.
  void take(std::span<const ChunkId> chunks, const char* twice) {
    if (!chunks.empty() && chunks.back().value >= taken_.size()) taken_.resize(chunks.back().value + 1);
    for (ChunkId chunk : chunks) {
      if (taken_[chunk.value]) refuse(twice);
      taken_[chunk.value] = true;
    }
  }

 private:
  std::vector<bool> taken_;
};

}  // namespace

void refuse(std::string what) {
  throw Refusal{std::move(what)};
}

std::int64_t checked_count(std::int64_t value, const char* what) {
  if (value < 0 || value >= limits::kMaxCount)
    refuse(std::string(what) + " is " + std::to_string(value) + ", out of range");
  return value;
}

std::uint64_t checked_sequence(std::uint64_t value, const char* what) {
  if (value >= static_cast<std::uint64_t>(limits::kMaxCount))
    refuse(std::string(what) + " is " + std::to_string(value) + ", out of range");
  return value;
}

double checked_loss(double value) {
  if (std::isnan(value) || (std::isinf(value) && value < 0)) refuse("the loss is not a number");
  return value;
}

void check_text(std::string_view text, std::size_t max_bytes, TextKind kind, const char* what) {
  if (text.size() > max_bytes) {
    refuse(std::string(what) + " has " + std::to_string(text.size()) + " bytes; at most " +
           std::to_string(max_bytes) + " are allowed");
  }
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) refuse(std::string(what) + " is not UTF-8");
    if (length == 1 && is_control(static_cast<unsigned char>(text[0]), kind))
      refuse(std::string(what) + " holds a control character");
    text.remove_prefix(length);
  }
}

std::string clean_text(std::string_view text, std::size_t max_bytes) {
  std::string clean;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const bool good =
        length > 1 || (length == 1 && !is_control(static_cast<unsigned char>(text[0]), TextKind::kText));
    const std::string_view piece = good ? text.substr(0, length) : "?";
    if (clean.size() + piece.size() > max_bytes) break;
    clean += piece;
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return clean;
}

void check_tensor_size(Encoding encoding, std::size_t bytes) {
  std::size_t unit = 1;
  if (encoding == Encoding::kF16) unit = 2;
  if (encoding == Encoding::kF32) unit = 4;
  if (encoding == Encoding::kF64) unit = 8;
  if (bytes % unit != 0)
    refuse("a tensor frame of " + std::to_string(bytes) + " bytes holds no whole numbers");
}

void check_chunks_unique(std::span<const ChunkData> chunks) {
  // Almost always in the order of the forward or the backward pass, and then there is nothing to sort.
  const auto forward = [](const ChunkData& a, const ChunkData& b) { return a.chunk >= b.chunk; };
  const auto backward = [](const ChunkData& a, const ChunkData& b) { return a.chunk <= b.chunk; };
  if (std::adjacent_find(chunks.begin(), chunks.end(), forward) == chunks.end()) return;
  if (std::adjacent_find(chunks.begin(), chunks.end(), backward) == chunks.end()) return;
  std::vector<ChunkId> ids;
  ids.reserve(chunks.size());
  for (const ChunkData& c : chunks) ids.push_back(c.chunk);
  std::sort(ids.begin(), ids.end());
  if (std::adjacent_find(ids.begin(), ids.end()) != ids.end()) refuse("a chunk is in the message twice");
}

void check_chunks_ascend(std::span<const ChunkId> chunks, const char* what) {
  check_ascending(
      chunks, [](ChunkId c) { return c; }, what);
}

void check_leases_ascend(std::span<const Lease> leases) {
  check_ascending(
      leases, [](const Lease& l) { return l.clock; }, "the clocks of the leases");
}

void check_record(const ViewRecord& record) {
  if (record.view == View{}) refuse("the view record has no view");
  const auto member_id = [](const MemberRecord& m) { return m.key.id; };
  check_ascending(record.members, member_id, "members of the view record");
  check_ascending(record.stand_by, member_id, "stand-bys of the view record");
  check_ascending(
      record.servers, [](const ServerRecord& s) { return s.id; }, "servers of the view record");

  auto member = record.members.begin();
  for (const MemberRecord& idle : record.stand_by) {
    while (member != record.members.end() && member->key.id < idle.key.id) ++member;
    if (member != record.members.end() && member->key.id == idle.key.id)
      refuse("the view record has a member on stand-by");
  }

  const auto listed = [&](ServerId id) {
    const auto at = std::lower_bound(record.servers.begin(), record.servers.end(), id,
                                     [](const ServerRecord& s, ServerId i) { return s.id < i; });
    return at != record.servers.end() && at->id == id;
  };
  TakenChunks taken;
  for (const ShardRecord& shard : record.shards) {
    if (!listed(shard.owner)) refuse("the view record has a shard whose owner it does not list");
    if (shard.backup && !listed(*shard.backup))
      refuse("the view record has a shard whose backup it does not list");
    if (shard.backup && *shard.backup == shard.owner)
      refuse("the view record has an owner as its own backup");
    check_chunks_ascend(shard.chunks, "chunks of a shard");
    taken.take(shard.chunks, "the view record has a chunk in two shards");
  }
}

void check_sources(std::span<const ChunkSource> sources) {
  std::vector<ServerId> servers;
  servers.reserve(sources.size());
  TakenChunks taken;
  for (const ChunkSource& source : sources) {
    servers.push_back(source.server.id);
    check_chunks_ascend(source.chunks, "chunks of a source");
    taken.take(source.chunks, "a chunk has two sources");
  }
  std::sort(servers.begin(), servers.end());
  if (std::adjacent_find(servers.begin(), servers.end()) != servers.end())
    refuse("a server is a source of chunks twice");
}

void check_replicate(const Replicate& replicate) {
  if (replicate.sequence == 0) refuse("entries of a stream count from 1");
  const auto* push = std::get_if<Push>(&replicate.entry);
  const auto* commit = std::get_if<Commit>(&replicate.entry);
  if ((push != nullptr && push->shard != replicate.shard) ||
      (commit != nullptr && commit->shard != replicate.shard))
    refuse("the entry is of another shard than its stream");
}

}  // namespace convoy::codec
