// plan_shards: who owns and backs up what, from view to view.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <random>

#include "master/partition.h"

namespace convoy {
namespace {

using Shards = std::vector<ShardRecord>;

std::vector<ServerId> servers(std::initializer_list<std::uint32_t> ids) {
  std::vector<ServerId> out;
  for (std::uint32_t id : ids) out.emplace_back(id);
  return out;
}

std::map<ChunkId, ServerId> owners(const Shards& shards) {
  std::map<ChunkId, ServerId> out;
  for (const ShardRecord& s : shards) {
    for (ChunkId c : s.chunks) out.emplace(c, s.owner);
  }
  return out;
}

// Every chunk once, loads as even as a single chunk allows, backups in the ring and never the owner.
void check_plan(const Shards& shards, const std::vector<std::int64_t>& bytes,
                const std::vector<ServerId>& ids, bool backups) {
  std::map<ServerId, std::int64_t> load;
  for (ServerId id : ids) load[id] = 0;
  std::size_t chunks = 0;
  for (const ShardRecord& s : shards) {
    BOOST_TEST(!s.chunks.empty());
    BOOST_TEST(std::is_sorted(s.chunks.begin(), s.chunks.end()));
    BOOST_TEST(load.contains(s.owner));
    BOOST_TEST(s.backup.has_value() == (backups && ids.size() > 1));
    if (s.backup) BOOST_TEST(*s.backup != s.owner);
    chunks += s.chunks.size();
    for (ChunkId c : s.chunks) load[s.owner] += bytes[c.value];
  }
  BOOST_TEST(chunks == bytes.size());
  BOOST_TEST(owners(shards).size() == bytes.size());
  std::int64_t least = load.begin()->second;
  std::int64_t most = least;
  for (const auto& [id, sum] : load) {
    least = std::min(least, sum);
    most = std::max(most, sum);
  }
  BOOST_TEST(most - least <= *std::max_element(bytes.begin(), bytes.end()));
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_same_p_slaves_get_the_same_shards_again) {
  const std::vector<std::int64_t> bytes{5, 5, 5, 5, 3, 1};
  const Shards first = plan_shards(bytes, servers({0, 1, 2}), {}, true);
  check_plan(first, bytes, servers({0, 1, 2}), true);
  BOOST_TEST((plan_shards(bytes, servers({0, 1, 2}), first, true) == first));
}

BOOST_AUTO_TEST_CASE(the_backup_of_a_lost_owner_takes_its_chunks) {
  const std::vector<std::int64_t> bytes{4, 4, 4, 4};
  const Shards base{{ServerId(0), ServerId(1), {ChunkId(0), ChunkId(1)}},
                    {ServerId(1), ServerId(0), {ChunkId(2), ChunkId(3)}}};
  const Shards alone = plan_shards(bytes, servers({1}), base, true);
  BOOST_TEST_REQUIRE(alone.size() == 1u);
  BOOST_TEST(alone[0].owner == ServerId(1));
  BOOST_TEST(!alone[0].backup.has_value());
  BOOST_TEST(alone[0].chunks.size() == 4u);
}

BOOST_AUTO_TEST_CASE(a_joiner_takes_only_what_evens_the_load) {
  const std::vector<std::int64_t> bytes(12, 7);
  const Shards two = plan_shards(bytes, servers({0, 1}), {}, false);
  const Shards three = plan_shards(bytes, servers({0, 1, 2}), two, false);
  check_plan(three, bytes, servers({0, 1, 2}), false);
  const auto before = owners(two);
  std::size_t moved = 0;
  for (const auto& [chunk, owner] : owners(three)) {
    if (before.at(chunk) == owner) continue;
    ++moved;
    BOOST_TEST(owner == ServerId(2));
  }
  BOOST_TEST(moved == 4u);
}

BOOST_AUTO_TEST_CASE(p_slaves_beyond_the_chunks_own_nothing) {
  const Shards shards = plan_shards({9, 9}, servers({0, 1, 2, 3}), {}, true);
  BOOST_TEST(shards.size() == 2u);
  check_plan(shards, {9, 9}, servers({0, 1, 2, 3}), true);
}

BOOST_AUTO_TEST_CASE(any_coming_and_going_leaves_every_chunk_with_one_owner) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::int64_t> bytes(1 + random() % 20);
    for (std::int64_t& b : bytes) b = 1 + static_cast<std::int64_t>(random() % 100);
    const bool backups = random() % 2 == 0;
    Shards shards;
    for (int view = 0; view < 8; ++view) {
      std::vector<ServerId> ids;
      for (std::uint32_t id = 0; id < 6; ++id) {
        if (random() % 2 == 0) ids.emplace_back(id);
      }
      if (ids.empty()) ids.emplace_back(7);
      shards = plan_shards(bytes, ids, shards, backups);
      check_plan(shards, bytes, ids, backups);
    }
  }
}

}  // namespace convoy
