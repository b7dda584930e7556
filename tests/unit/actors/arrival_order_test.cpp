// bsp, at a P-slave: in whatever order parts of pushes and commits arrive, each closed clock gives the same
// Apply, contributions in member order and byte for byte the same. tests/unit/run goes on to the arithmetic.
#include <boost/test/unit_test.hpp>
#include <random>
#include <sstream>
#include <vector>

#include "tests/unit/actors/bsp_server.h"

namespace convoy {
namespace {

constexpr std::uint32_t kMembers = 4;
constexpr std::uint32_t kChunks = 3;

std::vector<ChunkData> chunks_of(std::uint32_t member, std::int64_t clock) {
  std::vector<ChunkData> chunks;
  for (std::uint32_t chunk = 0; chunk < kChunks; ++chunk) {
    std::vector<std::byte> b;
    for (std::int64_t x : {std::int64_t{member}, clock, std::int64_t{chunk}})
      b.push_back(static_cast<std::byte>(x));
    chunks.push_back({ChunkId(chunk), Frame::of(std::move(b))});
  }
  return chunks;
}

std::string text_of(const std::vector<Apply>& applies) {
  std::ostringstream out;
  for (const Apply& a : applies) {
    out << describe(Effect(a));
    for (const Contribution& c : a.contributions) {
      for (const ChunkData& d : c.chunks) {
        out << " " << d.chunk << ":";
        for (std::byte b : d.bytes.bytes()) out << static_cast<int>(b) << ",";
      }
    }
    out << "\n";
  }
  return out.str();
}

}  // namespace

BOOST_AUTO_TEST_CASE(in_bsp_the_order_of_arrival_changes_no_apply) {
  constexpr std::int64_t kClocks = 3;
  std::string expected;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      std::mt19937_64 random(seed);
      test::BspServer server(kMembers, {{ChunkId(0), ChunkId(1), ChunkId(2)}}, 0);
      for (std::int64_t clock = 0; clock < kClocks; ++clock) {
        std::vector<std::vector<Message>> messages;
        for (std::uint32_t m = 0; m < kMembers; ++m) {
          messages.push_back(
              test::clock_messages(m, kMembers, clock, ShardId(0), chunks_of(m, clock), random));
        }
        test::feed(server, std::move(messages), random);
      }
      const std::vector<Apply> applies = server.take_applies();
      BOOST_REQUIRE(applies.size() == static_cast<std::size_t>(kClocks));
      for (const Apply& a : applies) {
        BOOST_REQUIRE(a.contributions.size() == kMembers);
        for (std::uint32_t m = 0; m < kMembers; ++m) BOOST_TEST(a.contributions[m].member.id == MemberId(m));
      }
      if (expected.empty()) expected = text_of(applies);
      BOOST_TEST(text_of(applies) == expected);
    }
  }
}

}  // namespace convoy
