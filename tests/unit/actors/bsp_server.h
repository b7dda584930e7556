// A P-slave's role alone in a bsp view, spoken to by hand: what it decides to apply is collected, in order.
// With it, messages of members that arrive in any order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "actors/parameter_server.h"

namespace convoy::test {

class BspServer {
 public:
  // Owner of `shards[shard]` in a view of so many members.
  BspServer(std::uint32_t members, const std::vector<std::vector<ChunkId>>& shards, std::uint32_t shard)
      : role_(options(shard)) {
    from_master(Welcome{RunId(1), shard, Incarnation(1), sync(members), "run", {}});
    Cut cut;
    cut.record.view = kView;
    for (std::uint32_t m = 0; m < members; ++m)
      cut.record.members.push_back({{MemberId(m), Incarnation(1)}, peer_of(m), Clock(0)});
    for (std::uint32_t s = 0; s < shards.size(); ++s) {
      ServerRecord server;
      server.id = ServerId(s);
      server.incarnation = Incarnation(1);
      server.peer = options(s).self;
      cut.record.servers.push_back(server);
      cut.record.shards.push_back({ServerId(s), {}, shards[s]});
    }
    from_master(cut);
    from_master(Go{cut.record, {}});
  }

  void from_member(std::uint32_t member, Message message) {
    Effects effects;
    role_.step(Time{}, Envelope{kView, peer_of(member), Incarnation(1), std::move(message)}, effects);
    for (Effect& e : effects) {
      if (std::holds_alternative<Apply>(e)) applies_.push_back(std::get<Apply>(std::move(e)));
    }
  }

  // What was decided since the last call.
  std::vector<Apply> take_applies() { return std::exchange(applies_, {}); }

 private:
  static constexpr View kView{1, 1};

  static PeerId peer_of(std::uint32_t member) { return PeerId(100 + member); }
  static ParameterServerOptions options(std::uint32_t shard) {
    ParameterServerOptions o;
    o.self = PeerId(10 + shard);
    o.name = "p";
    return o;
  }
  static SyncOptions sync(std::uint32_t members) {
    SyncOptions s;
    s.mode = SyncMode::kBsp;
    s.bound = s.bound_low = 0;
    s.pull_ahead = false;
    s.batch = members;
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

// One member's messages of one clock to one shard: its chunks in any order, each in a push of its own and
// some of them twice, as after a lost acknowledgement; then the commit. One sample a member and clock.
inline std::vector<Message> clock_messages(std::uint32_t member, std::uint32_t members, std::int64_t clock,
                                           ShardId shard, const std::vector<ChunkData>& chunks,
                                           std::mt19937_64& random) {
  const std::int64_t position = clock * members + member;
  std::vector<Message> messages;
  for (const ChunkData& chunk : chunks) {
    Push push;
    push.shard = shard;
    push.clock = Clock(clock);
    push.lease = LeaseId(static_cast<std::uint64_t>(position) + 1);
    push.trained = IntervalSet{{position, position + 1}};
    push.chunks = {chunk};
    if (random() % 4 == 0) messages.emplace_back(push);
    messages.emplace_back(std::move(push));
  }
  std::shuffle(messages.begin(), messages.end(), random);
  messages.emplace_back(Commit{shard, Clock(clock + 1)});
  return messages;
}

// Members interleave at random; each keeps its own order.
inline void feed(BspServer& server, std::vector<std::vector<Message>> of_member, std::mt19937_64& random) {
  std::vector<std::uint32_t> turns;
  for (std::uint32_t m = 0; m < of_member.size(); ++m) turns.insert(turns.end(), of_member[m].size(), m);
  std::shuffle(turns.begin(), turns.end(), random);
  std::vector<std::size_t> next(of_member.size());
  for (const std::uint32_t m : turns) server.from_member(m, std::move(of_member[m][next[m]++]));
}

}  // namespace convoy::test
