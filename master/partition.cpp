#include "master/partition.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "messages/base/check.h"

namespace convoy {

std::vector<std::int64_t> partition_batch(std::int64_t batch, const std::vector<double>& speeds, bool equal) {
  const std::size_t count = speeds.size();
  std::vector<std::int64_t> shares(count, 0);
  if (count == 0) return shares;
  double known = 0;
  std::size_t known_count = 0;
  for (double s : speeds) {
    if (s > 0 && std::isfinite(s)) {
      known += s;
      ++known_count;
    }
  }
  const double mean = known_count == 0 ? 1 : known / static_cast<double>(known_count);
  std::vector<double> weights(count, 1);
  if (!equal) {
    for (std::size_t i = 0; i < count; ++i)
      weights[i] = speeds[i] > 0 && std::isfinite(speeds[i]) ? speeds[i] : mean;
  }
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  const std::int64_t floor = batch >= static_cast<std::int64_t>(count) ? 1 : 0;
  const std::int64_t free = batch - floor * static_cast<std::int64_t>(count);
  std::vector<std::pair<double, std::size_t>> remainders;
  std::int64_t given = 0;
  for (std::size_t i = 0; i < count; ++i) {
    // Ideal share less the sample that everybody has.
    const double ideal =
        std::max(0.0, static_cast<double>(batch) * weights[i] / total - static_cast<double>(floor));
    shares[i] = std::min(static_cast<std::int64_t>(ideal), free - given);
    given += shares[i];
    remainders.emplace_back(ideal - static_cast<double>(shares[i]), i);
  }
  std::stable_sort(remainders.begin(), remainders.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t k = 0; given < free; k = (k + 1) % count) {
    ++shares[remainders[k].second];
    ++given;
  }
  for (std::int64_t& s : shares) s += floor;
  return shares;
}

std::vector<std::vector<ChunkId>> partition_chunks(const std::vector<std::int64_t>& chunk_bytes,
                                                   std::size_t server_count) {
  CONVOY_CHECK(server_count > 0, "no P-slave to own chunks");
  std::vector<std::uint32_t> order(chunk_bytes.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return chunk_bytes[a] > chunk_bytes[b]; });
  std::vector<std::vector<ChunkId>> parts(server_count);
  std::vector<std::int64_t> load(server_count, 0);
  for (std::uint32_t chunk : order) {
    const auto least = static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin());
    parts[least].push_back(ChunkId(chunk));
    load[least] += chunk_bytes[chunk];
  }
  for (auto& part : parts) std::sort(part.begin(), part.end());
  return parts;
}

std::vector<ShardRecord> plan_shards(const std::vector<std::int64_t>& chunk_bytes,
                                     const std::vector<ServerId>& servers,
                                     const std::vector<ShardRecord>& base, bool backups) {
  CONVOY_CHECK(!servers.empty(), "no P-slave to own chunks");
  const std::size_t count = servers.size();
  const auto place_of = [&](ServerId id) {
    return static_cast<std::size_t>(std::lower_bound(servers.begin(), servers.end(), id) - servers.begin());
  };
  const auto serves = [&](ServerId id) { return std::binary_search(servers.begin(), servers.end(), id); };
  std::vector<std::vector<ChunkId>> parts(count);
  std::vector<std::int64_t> load(count, 0);
  const auto bytes = [&](ChunkId c) { return chunk_bytes[c.value]; };
  const auto give = [&](std::size_t to, ChunkId c) {
    parts[to].push_back(c);
    load[to] += bytes(c);
  };
  std::vector<bool> given(chunk_bytes.size(), false);
  for (const ShardRecord& s : base) {
    const bool stays = serves(s.owner);
    if (!stays && !(s.backup && serves(*s.backup))) continue;
    for (ChunkId c : s.chunks) {
      give(place_of(stays ? s.owner : *s.backup), c);
      given[c.value] = true;
    }
  }
  std::vector<std::uint32_t> rest;
  for (std::uint32_t c = 0; c < given.size(); ++c) {
    if (!given[c]) rest.push_back(c);
  }
  std::stable_sort(rest.begin(), rest.end(), [&](auto a, auto b) { return chunk_bytes[a] > chunk_bytes[b]; });
  for (std::uint32_t c : rest)
    give(static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin()), ChunkId(c));

  // Each move makes the sum of the squared loads smaller, so this ends.
  for (;;) {
    const auto most = static_cast<std::size_t>(std::max_element(load.begin(), load.end()) - load.begin());
    const auto least = static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin());
    const std::int64_t gap = load[most] - load[least];
    auto best = parts[most].end();
    for (auto at = parts[most].begin(); at != parts[most].end(); ++at) {
      if (bytes(*at) < gap && (best == parts[most].end() || bytes(*at) > bytes(*best))) best = at;
    }
    if (best == parts[most].end()) break;
    const ChunkId moved = *best;
    parts[most].erase(best);
    load[most] -= bytes(moved);
    give(least, moved);
  }
  std::vector<ShardRecord> shards;
  for (std::size_t i = 0; i < count; ++i) {
    if (parts[i].empty()) continue;
    std::sort(parts[i].begin(), parts[i].end());
    std::optional<ServerId> backup;
    if (backups && count > 1) backup = servers[(i + 1) % count];
    shards.push_back({servers[i], backup, std::move(parts[i])});
  }
  return shards;
}

}  // namespace convoy
