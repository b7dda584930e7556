// bsp, at a P-slave: in whatever order parts of pushes and commits arrive, each closed clock gives the same
// Apply, contributions in member order and byte for byte the same.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>
#include <sstream>
#include <vector>

#include "actors/parameter_server.h"

namespace convoy {
namespace {

constexpr std::uint32_t kMembers = 4;
constexpr std::uint32_t kChunks = 3;

PeerId peer_of(std::uint32_t member) {
  return PeerId(100 + member);
}

Frame bytes(std::uint32_t member, std::int64_t clock, std::uint32_t chunk) {
  std::vector<std::byte> b;
  for (std::int64_t x : {std::int64_t{member}, clock, std::int64_t{chunk}})
    b.push_back(static_cast<std::byte>(x));
  return Frame::of(std::move(b));
}

class Server {
 public:
  Server() : role_(options()) {
    from_master(Welcome{RunId(1), 0, Incarnation(1), sync(), "run"});
    Cut cut;
    cut.record.view = View{1, 1};
    for (std::uint32_t m = 0; m < kMembers; ++m)
      cut.record.members.push_back({{MemberId(m), Incarnation(1)}, peer_of(m), Clock(0)});
    ServerRecord server;
    server.incarnation = Incarnation(1);
    server.peer = PeerId(10);
    cut.record.servers.push_back(server);
    cut.record.shards.push_back({ServerId(0), {}, {ChunkId(0), ChunkId(1), ChunkId(2)}});
    from_master(cut);
    from_master(Go{cut.record, {}});
  }

  void from_member(std::uint32_t member, Message message) {
    Effects effects;
    role_.step(Time{}, Envelope{View{1, 1}, peer_of(member), Incarnation(1), std::move(message)}, effects);
    for (Effect& e : effects) {
      if (std::holds_alternative<Apply>(e)) applies_.push_back(std::get<Apply>(std::move(e)));
    }
  }
  const std::vector<Apply>& applies() const { return applies_; }

 private:
  static ParameterServerOptions options() {
    ParameterServerOptions o;
    o.self = PeerId(10);
    o.name = "p0";
    return o;
  }
  static SyncOptions sync() {
    SyncOptions s;
    s.mode = SyncMode::kBsp;
    s.bound = s.bound_low = 0;
    s.pull_ahead = false;
    s.batch = kMembers;
    s.sample_count = s.end_position = 1000;
    return s;
  }
  void from_master(Message message) {
    Effects effects;
    role_.step(Time{}, Envelope{View{}, kMasterPeerId, {}, std::move(message)}, effects);
  }

  ParameterServer role_;
  std::vector<Apply> applies_;
};

// One member's messages of one clock, in its own order.
std::vector<Message> clock_of(std::uint32_t member, std::int64_t clock, std::mt19937_64& random) {
  std::vector<Message> messages;
  const std::int64_t position = clock * kMembers + member;
  for (std::uint32_t chunk = 0; chunk < kChunks; ++chunk) {
    Push push;
    push.clock = Clock(clock);
    push.lease = LeaseId(static_cast<std::uint64_t>(position) + 1);
    push.trained = IntervalSet{{position, position + 1}};
    push.chunks = {{ChunkId(chunk), bytes(member, clock, chunk)}};
    messages.emplace_back(push);
  }
  std::shuffle(messages.begin(), messages.end(), random);
  messages.emplace_back(Commit{ShardId(0), Clock(clock + 1)});
  return messages;
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
    std::mt19937_64 random(seed);
    Server server;
    for (std::int64_t clock = 0; clock < kClocks; ++clock) {
      std::vector<std::vector<Message>> left;
      for (std::uint32_t m = 0; m < kMembers; ++m) left.push_back(clock_of(m, clock, random));
      // Members interleave at random; each keeps its own order.
      for (std::size_t rest = kMembers * (kChunks + 1); rest > 0; --rest) {
        std::size_t m = random() % kMembers;
        while (left[m].empty()) m = (m + 1) % kMembers;
        server.from_member(static_cast<std::uint32_t>(m), left[m].front());
        left[m].erase(left[m].begin());
      }
    }
    BOOST_REQUIRE(server.applies().size() == static_cast<std::size_t>(kClocks));
    for (const Apply& a : server.applies()) {
      BOOST_REQUIRE(a.contributions.size() == kMembers);
      for (std::uint32_t m = 0; m < kMembers; ++m) BOOST_TEST(a.contributions[m].member.id == MemberId(m));
    }
    if (expected.empty()) expected = text_of(server.applies());
    BOOST_TEST(text_of(server.applies()) == expected);
  }
}

}  // namespace convoy
