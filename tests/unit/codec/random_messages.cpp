// Structs are filled through structured bindings on purpose: one that gains a field no longer compiles here,
// so that every round trip covers it.
#include "tests/unit/codec/random_messages.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

namespace convoy::testing {

std::int64_t RandomMessages::count() {
  // Uniform in magnitude, so that 0 and the largest allowed are both drawn.
  return static_cast<std::int64_t>(word() >> (2 + below(62)));
}

double RandomMessages::loss() {
  switch (below(8)) {
    case 0:
      return 0;
    case 1:
      return std::numeric_limits<double>::infinity();
    case 2:
      return -1e-7;
    default:
      return static_cast<double>(word()) * 0x1p-40;
  }
}

std::string RandomMessages::text(bool lines) {
  static constexpr std::array<const char*, 8> kPieces = {"a", "node-7", " ", "::1", "é", "日本", "🚚", "[x]"};
  std::string s;
  for (std::size_t n = length(); n > 0; --n) s += lines && flip() ? "\n" : kPieces[below(kPieces.size())];
  return s;
}

View RandomMessages::view() {
  return {word32(), word32()};
}

View RandomMessages::later_than(View v) {
  if (flip() && v.attempt < std::numeric_limits<std::uint32_t>::max()) return {v.term, v.attempt + 1};
  return {v.term + 1, static_cast<std::uint32_t>(below(3))};
}

IntervalSet RandomMessages::positions() {
  IntervalSet set;
  std::int64_t at = static_cast<std::int64_t>(below(1000));
  for (std::size_t n = length(); n > 0; --n) {
    const std::int64_t end = at + 1 + static_cast<std::int64_t>(below(100));
    set.insert(Interval{at, end});
    at = end + 1 + static_cast<std::int64_t>(below(100));
  }
  return set;
}

std::vector<Lease> RandomMessages::leases() {
  std::vector<Lease> result;
  Clock at(static_cast<std::int64_t>(below(1000)));
  for (std::size_t n = length(); n > 0; --n) {
    result.emplace_back();
    auto& [id, lease_clock, set] = result.back();
    id = LeaseId(word());
    lease_clock = at;
    set = positions();
    at = at + 1 + static_cast<std::int64_t>(below(3));
  }
  return result;
}

std::vector<ChunkData> RandomMessages::chunks(Encoding encoding) {
  const std::size_t unit = encoding == Encoding::kF64 ? 8 : encoding == Encoding::kF32 ? 4 : 2;
  std::vector<std::uint32_t> ids = ascending_ids(length());
  const std::uint64_t order = below(3);
  if (order == 1) std::reverse(ids.begin(), ids.end());
  if (order == 2) std::shuffle(ids.begin(), ids.end(), random_);
  std::vector<ChunkData> result;
  for (std::uint32_t id : ids) {
    result.emplace_back();
    auto& [chunk, bytes] = result.back();
    chunk = ChunkId(id);
    bytes = Frame::of(std::vector<std::byte>(unit * below(20), static_cast<std::byte>(below(256))));
  }
  return result;
}

std::vector<std::uint32_t> RandomMessages::ascending_ids(std::size_t n) {
  std::vector<std::uint32_t> ids;
  std::uint32_t at = static_cast<std::uint32_t>(below(5));
  for (; n > 0; --n, at += 1 + static_cast<std::uint32_t>(below(3))) ids.push_back(at);
  return ids;
}

template <>
SyncOptions RandomMessages::draw() {
  SyncOptions m;
  auto& [mode, bound, bound_low, pull_ahead, pull_ahead_alone, batch, failure_timeout, sample_count,
         end_position] = m;
  pull_ahead_alone = count() % 2 == 0;
  mode = static_cast<SyncMode>(below(4));
  bound = flip() ? kNoBound : count();
  bound_low = std::min(bound, flip() ? kNoBound : count());
  pull_ahead = bound > 0 && flip();
  batch = std::max<std::int64_t>(1, count());
  sample_count = std::max<std::int64_t>(1, count());
  end_position = count();
  failure_timeout = Duration(std::max<std::int64_t>(1, count()));
  return m;
}

template <>
Hello RandomMessages::draw() {
  Hello m;
  auto& [role, name, host, device, address, build_id, public_key, previous] = m;
  role = static_cast<RoleKind>(below(4));
  for (std::string* s : {&name, &host, &device, &address, &build_id, &public_key}) *s = text(false);
  previous = Incarnation(word32());
  return m;
}

template <>
Welcome RandomMessages::draw() {
  Welcome m;
  auto& [run_id, id, incarnation, sync, run_text, allowed_keys] = m;
  run_id = run();
  id = word32();
  incarnation = Incarnation(word32());
  sync = draw<SyncOptions>();
  run_text = text(true);
  allowed_keys = {text(false), text(false)};
  return m;
}

template <>
Join RandomMessages::draw() {
  Join m;
  auto& [samples_per_s] = m;
  samples_per_s = static_cast<double>(count());
  return m;
}

template <>
Leave RandomMessages::draw() {
  return {};
}

template <>
Farewell RandomMessages::draw() {
  return {};
}

template <>
Refuse RandomMessages::draw() {
  Refuse m;
  auto& [reason, refused, words] = m;
  reason = static_cast<RefuseReason>(below(7));
  refused = Incarnation(word32());
  words = text(true);
  return m;
}

template <>
Stop RandomMessages::draw() {
  Stop m;
  auto& [failed, words] = m;
  failed = flip();
  words = text(true);
  return m;
}

template <>
Heartbeat RandomMessages::draw() {
  Heartbeat m;
  auto& [sequence, committed, samples, busy, waiting, keys_version, silent] = m;
  sequence = word();
  committed = clock();
  samples = count();
  busy = Duration(count());
  waiting = Duration(count());
  keys_version = word();
  for (std::uint64_t peer = below(1000); below(4) != 0; peer += 1 + below(1000))
    silent.push_back(PeerId(peer));
  return m;
}

template <>
HeartbeatReply RandomMessages::draw() {
  HeartbeatReply m;
  auto& [sequence] = m;
  sequence = word();
  return m;
}

template <>
LeaseRequest RandomMessages::draw() {
  LeaseRequest m;
  auto& [next, committed, idle] = m;
  next = clock();
  committed = clock();
  idle = flip();
  return m;
}

template <>
LeaseGrant RandomMessages::draw() {
  LeaseGrant m;
  auto& [list] = m;
  list = leases();
  return m;
}

template <>
Pull RandomMessages::draw() {
  Pull m;
  auto& [to, at, after, committed] = m;
  to = shard();
  at = clock();
  after = clock();
  committed = clock();
  return m;
}

template <>
PullReply RandomMessages::draw() {
  PullReply m;
  auto& [from, at, committed, c_min, ahead_rate, how, list] = m;
  from = shard();
  at = clock();
  committed = clock();
  c_min = clock();
  ahead_rate = 0.125;
  how = encoding();
  list = chunks(how);
  return m;
}

template <>
Push RandomMessages::draw() {
  Push m;
  auto& [to, at, lease, trained, digest, loss_sum, correct, how, list] = m;
  to = shard();
  at = clock();
  lease = LeaseId(word());
  trained = positions();
  digest = word();
  loss_sum = loss();
  correct = count();
  how = encoding();
  list = chunks(how);
  return m;
}

template <>
PushAck RandomMessages::draw() {
  PushAck m;
  auto& [from, at, lease] = m;
  from = shard();
  at = clock();
  lease = LeaseId(word());
  return m;
}

template <>
Commit RandomMessages::draw() {
  Commit m;
  auto& [to, committed] = m;
  to = shard();
  committed = clock();
  return m;
}

template <>
CommitAck RandomMessages::draw() {
  CommitAck m;
  auto& [from, committed] = m;
  from = shard();
  committed = clock();
  return m;
}

template <>
CommitLog RandomMessages::draw() {
  CommitLog m;
  auto& [first, entries] = m;
  first = static_cast<std::uint64_t>(count());
  for (std::size_t n = length(); n > 0; --n) {
    entries.emplace_back();
    auto& [member, at, trained, digest, loss_sum, correct, staleness, delay] = entries.back();
    member = {MemberId(word32()), Incarnation(word32())};
    at = clock();
    trained = positions();
    digest = word();
    loss_sum = loss();
    correct = count();
    staleness = count();
    delay = count();
  }
  return m;
}

template <>
CommitLogAck RandomMessages::draw() {
  CommitLogAck m;
  auto& [next] = m;
  next = static_cast<std::uint64_t>(count());
  return m;
}

template <>
Evaluate RandomMessages::draw() {
  Evaluate m;
  auto& [snapshot, task, first, last, view_record] = m;
  snapshot = SnapshotId(word32());
  task = word32();
  first = count() / 2;
  last = first + count() / 2;
  view_record = record(size_);
  return m;
}

template <>
SnapshotPull RandomMessages::draw() {
  SnapshotPull m;
  auto& [snapshot, from] = m;
  snapshot = SnapshotId(word32());
  from = shard();
  return m;
}

template <>
SnapshotReply RandomMessages::draw() {
  SnapshotReply m;
  auto& [snapshot, from, how, list] = m;
  snapshot = SnapshotId(word32());
  from = shard();
  how = encoding();
  list = chunks(how);
  return m;
}

template <>
EvaluateResult RandomMessages::draw() {
  EvaluateResult m;
  auto& [snapshot, task, correct, loss_sum, n] = m;
  snapshot = SnapshotId(word32());
  task = word32();
  n = count();
  correct = static_cast<std::int64_t>(below(static_cast<std::uint64_t>(n) + 1));
  loss_sum = loss();
  return m;
}

template <>
StatusRequest RandomMessages::draw() {
  return {};
}

template <>
StatusReply RandomMessages::draw() {
  StatusReply m;
  auto& [json] = m;
  json = text(true);
  return m;
}

template <>
AllowedKeys RandomMessages::draw() {
  AllowedKeys m;
  auto& [version, keys] = m;
  version = word();
  keys = {text(false), text(false)};
  return m;
}

Message RandomMessages::message(std::size_t kind, std::size_t size) {
  size_ = size;
  Message result;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    // Only the alternative of this index is drawn.
    (void)((I == kind && (result = draw<std::variant_alternative_t<I, Message>>(), true)) || ...);
  }
  (std::make_index_sequence<kMessageKinds>());
  return result;
}

Envelope RandomMessages::envelope(std::size_t kind, std::size_t size) {
  Envelope result;
  auto& [v, from, incarnation, content] = result;
  v = view();
  from = PeerId(word());
  incarnation = Incarnation(word32());
  content = message(kind, size);
  return result;
}

}  // namespace convoy::testing
