// What a peer can make a P-slave hold.
#include <boost/test/unit_test.hpp>

#include "actors/parameter_server.h"

namespace convoy {
namespace {

constexpr View kView{1, 1};
constexpr PeerId kMember{100};
constexpr PeerId kBackup{11};

// The owner of one shard of two chunks, with a backup that never answers, and one member.
class Owner {
 public:
  Owner() : role_(options()) {
    Effects out;
    role_.step(Time{}, Started{}, out);
    from_master(Welcome{RunId(1), 0, Incarnation(1), sync(), "run", {}});
    Cut cut;
    cut.record.view = kView;
    cut.record.members.push_back({{MemberId(0), Incarnation(1)}, kMember, Clock(0)});
    cut.record.servers.push_back({ServerId(0), Incarnation(1), PeerId(10), "127.0.0.1:1", ""});
    cut.record.servers.push_back({ServerId(1), Incarnation(1), kBackup, "127.0.0.1:2", ""});
    cut.record.shards.push_back({ServerId(0), ServerId(1), {ChunkId(0), ChunkId(1)}});
    from_master(cut);
    from_master(Go{cut.record, {}});
  }

  // Messages that go to the backup because of it.
  std::size_t streamed(Message message) {
    Effects out;
    role_.step(Time{}, Envelope{kView, kMember, Incarnation(1), std::move(message)}, out);
    std::size_t sent = 0;
    for (const Effect& e : out) {
      const auto* send = std::get_if<Send>(&e);
      sent += send != nullptr && send->to == kBackup ? 1 : 0;
    }
    return sent;
  }

 private:
  static ParameterServerOptions options() {
    ParameterServerOptions o;
    o.self = PeerId(10);
    o.name = "p";
    return o;
  }
  static SyncOptions sync() {
    SyncOptions s;
    s.mode = SyncMode::kDsp;
    s.batch = 1;
    s.sample_count = s.end_position = 1000;
    return s;
  }
  void from_master(Message message) {
    Effects out;
    role_.step(Time{}, Envelope{View{}, kMasterPeerId, {}, std::move(message)}, out);
  }

  ParameterServer role_;
};

Push part(std::uint32_t chunk) {
  Push push;
  push.shard = ShardId(0);
  push.clock = Clock(0);
  push.lease = LeaseId(1);
  push.trained = IntervalSet{{0, 1}};
  push.chunks = {{ChunkId(chunk), Frame()}};
  return push;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(bounds)

BOOST_AUTO_TEST_CASE(a_part_that_is_pushed_again_and_again_is_held_a_bounded_number_of_times) {
  Owner owner;
  BOOST_TEST(owner.streamed(part(0)) == 1u);
  std::size_t streamed = 1;
  for (int i = 0; i < 5000; ++i) streamed += owner.streamed(part(0));
  BOOST_TEST(streamed == 1024u);
}

BOOST_AUTO_TEST_CASE(a_push_that_is_far_ahead_is_refused_and_not_held) {
  Owner owner;
  Push far = part(0);
  far.clock = Clock(2);
  BOOST_TEST(owner.streamed(far) == 0u);
  far.clock = Clock(1'000'000'000);
  BOOST_TEST(owner.streamed(far) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace convoy
