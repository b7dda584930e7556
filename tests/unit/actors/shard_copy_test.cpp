// ShardCopy: an owner and its backup, entry by entry.
#include "actors/shard_copy.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

namespace convoy {
namespace {

constexpr ShardId kShard(0);
constexpr View kView{1, 1};

MemberKey member(std::uint32_t id) {
  return {MemberId(id), Incarnation(1)};
}

ViewRecord record(std::uint32_t members, bool backup) {
  ViewRecord r;
  r.view = kView;
  for (std::uint32_t m = 0; m < members; ++m) r.members.push_back({member(m), PeerId(100 + m), Clock(0)});
  r.servers.push_back({ServerId(0), Incarnation(1), PeerId(10), "", ""});
  r.servers.push_back({ServerId(1), Incarnation(1), PeerId(11), "", ""});
  r.shards.push_back({ServerId(0), backup ? std::optional(ServerId(1)) : std::nullopt, {ChunkId(0)}});
  return r;
}

SyncOptions asynchronous() {
  SyncOptions sync;
  sync.mode = SyncMode::kAsp;
  sync.bound = sync.bound_low = kNoBound;
  sync.batch = 2;
  return sync;
}

Push push_of(std::int64_t clock, std::int64_t position) {
  Push push;
  push.shard = kShard;
  push.clock = Clock(clock);
  push.lease = LeaseId(static_cast<std::uint64_t>(position + 1));
  push.trained = {{position, position + 1}};
  push.chunks = {{ChunkId(0), Frame{}}};
  return push;
}

// One copy with the effects of its last call.
struct Copy {
  ShardCopy role;
  Effects out;
  std::uint64_t bad = 0;

  Copy(std::uint32_t members, bool owned, bool backup)
      : role(record(members, backup), kShard, owned, asynchronous(), {}, std::chrono::milliseconds(100)) {}

  template <typename Call>
  void with(const Call& call) {
    out.clear();
    ServerPost post{PeerId(10), Incarnation(1), kView, Time{}, out, bad};
    call(role, post);
  }
  template <typename Wanted>
  std::vector<Wanted> sent() const {
    std::vector<Wanted> found;
    for (const Effect& e : out) {
      const auto* send = std::get_if<Send>(&e);
      if (send == nullptr) continue;
      if (const auto* m = std::get_if<Wanted>(&send->envelope.message)) found.push_back(*m);
    }
    return found;
  }
  std::vector<MemberKey> applied() const {
    std::vector<MemberKey> order;
    for (const Effect& e : out) {
      if (const auto* a = std::get_if<Apply>(&e)) {
        for (const Contribution& c : a->contributions) order.push_back(c.member);
      }
    }
    return order;
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(an_owner_without_backup_answers_by_itself) {
  Copy owner(1, true, false);
  owner.with([](ShardCopy& c, ServerPost& p) { c.on_push(p, member(0), push_of(0, 0)); });
  BOOST_TEST(owner.sent<PushAck>().size() == 1u);
  BOOST_TEST(owner.sent<Replicate>().empty());
  owner.with([](ShardCopy& c, ServerPost& p) { c.on_commit(p, member(0), Commit{kShard, Clock(1)}); });
  BOOST_TEST(owner.applied().size() == 1u);
  BOOST_TEST(owner.sent<CommitAck>().size() == 1u);
}

BOOST_AUTO_TEST_CASE(nothing_is_acknowledged_or_applied_before_the_backup_has_it) {
  Copy owner(1, true, true);
  owner.with([](ShardCopy& c, ServerPost& p) { c.on_push(p, member(0), push_of(0, 0)); });
  BOOST_TEST(owner.sent<PushAck>().empty());
  BOOST_TEST_REQUIRE(owner.sent<Replicate>().size() == 1u);
  // A repeat streams nothing more, and is no more acknowledged than the first.
  owner.with([](ShardCopy& c, ServerPost& p) { c.on_push(p, member(0), push_of(0, 0)); });
  BOOST_TEST(owner.out.empty());
  owner.with([](ShardCopy& c, ServerPost& p) { c.on_acknowledged(p, ReplicateAck{kShard, kView, 1}); });
  BOOST_TEST(owner.sent<PushAck>().size() == 1u);
  owner.with([](ShardCopy& c, ServerPost& p) { c.on_commit(p, member(0), Commit{kShard, Clock(1)}); });
  BOOST_TEST(owner.applied().empty());
  BOOST_TEST(owner.sent<CommitAck>().empty());
  BOOST_TEST((owner.role.ledger() == IntervalSet{}));
  owner.with([](ShardCopy& c, ServerPost& p) { c.on_acknowledged(p, ReplicateAck{kShard, kView, 2}); });
  BOOST_TEST(owner.applied().size() == 1u);
  BOOST_TEST(owner.sent<CommitAck>().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_backup_takes_the_stream_in_order_whatever_the_network_does) {
  Copy owner(2, true, true);
  std::vector<Replicate> stream;
  const auto collect = [&] {
    for (Replicate& r : owner.sent<Replicate>()) stream.push_back(r);
  };
  for (std::uint32_t m : {1u, 0u}) {
    owner.with([&](ShardCopy& c, ServerPost& p) { c.on_push(p, member(m), push_of(0, m)); });
    collect();
  }
  for (std::uint32_t m : {1u, 0u}) {
    owner.with([&](ShardCopy& c, ServerPost& p) { c.on_commit(p, member(m), Commit{kShard, Clock(1)}); });
    collect();
  }
  BOOST_TEST_REQUIRE(stream.size() == 4u);
  Copy backup(2, false, true);
  std::vector<MemberKey> order;
  for (const std::size_t next : {3u, 1u, 1u, 0u, 2u, 0u}) {
    backup.with([&](ShardCopy& c, ServerPost& p) { c.on_replicate(p, stream[next], true); });
    for (MemberKey key : backup.applied()) order.push_back(key);
  }
  BOOST_TEST((order == std::vector<MemberKey>{member(1), member(0)}));
  BOOST_TEST_REQUIRE(backup.sent<ReplicateAck>().size() == 1u);
  BOOST_TEST(backup.sent<ReplicateAck>().front().upto == 4u);
}

BOOST_AUTO_TEST_CASE(a_frozen_backup_takes_nothing_and_keeps_it_for_later) {
  Copy owner(1, true, true);
  owner.with([](ShardCopy& c, ServerPost& p) { c.on_push(p, member(0), push_of(0, 0)); });
  const Replicate entry = owner.sent<Replicate>().front();
  Copy backup(1, false, true);
  backup.with([&](ShardCopy& c, ServerPost& p) { c.on_replicate(p, entry, false); });
  BOOST_TEST(backup.sent<ReplicateAck>().front().upto == 0u);
  BOOST_TEST(!backup.role.has(member(0), Clock(0), LeaseId(1)));
  backup.with([](ShardCopy& c, ServerPost& p) { c.take_early(p); });
  BOOST_TEST(backup.role.has(member(0), Clock(0), LeaseId(1)));
}

BOOST_AUTO_TEST_CASE(a_cut_brings_owner_and_backup_to_the_same_order) {
  // Both have the pushes; the owner has a commit of m1 that the backup has not acknowledged, and the cut one
  // of m0 that only another shard has seen.
  Copy owner(2, true, true);
  Copy backup(2, false, true);
  const auto pass_on = [&] {
    for (const Replicate& r : owner.sent<Replicate>())
      backup.with([&](ShardCopy& c, ServerPost& p) { c.on_replicate(p, r, true); });
  };
  for (std::uint32_t m : {0u, 1u}) {
    owner.with([&](ShardCopy& c, ServerPost& p) { c.on_push(p, member(m), push_of(0, m)); });
    pass_on();
  }
  owner.with([](ShardCopy& c, ServerPost& p) { c.on_acknowledged(p, ReplicateAck{kShard, kView, 2}); });
  owner.with([](ShardCopy& c, ServerPost& p) { c.on_commit(p, member(1), Commit{kShard, Clock(1)}); });
  pass_on();
  const std::vector<CutMember> cut{{member(0), Clock(1)}, {member(1), Clock(1)}};
  BOOST_TEST(owner.role.why_not(cut).empty());
  owner.with([&](ShardCopy& c, ServerPost& p) { c.make_cut(p, cut); });
  const std::vector<MemberKey> at_owner = owner.applied();
  BOOST_TEST((at_owner == std::vector<MemberKey>{member(1), member(0)}));
  std::vector<MemberKey> at_backup = {member(1)};  // applied when it came
  pass_on();
  BOOST_TEST(backup.role.stream_ended());
  backup.with([&](ShardCopy& c, ServerPost& p) { c.make_cut(p, cut); });
  for (MemberKey key : backup.applied()) at_backup.push_back(key);
  BOOST_TEST((at_backup == at_owner));
  BOOST_TEST((owner.role.ledger() == backup.role.ledger()));
  // Again: nothing changes.
  owner.with([&](ShardCopy& c, ServerPost& p) { c.make_cut(p, cut); });
  BOOST_TEST(owner.out.empty());
}

BOOST_AUTO_TEST_CASE(a_cut_that_takes_back_or_asks_for_what_never_came_is_refused) {
  Copy owner(1, true, false);
  owner.with([](ShardCopy& c, ServerPost& p) { c.on_push(p, member(0), push_of(0, 0)); });
  owner.with([](ShardCopy& c, ServerPost& p) { c.on_commit(p, member(0), Commit{kShard, Clock(1)}); });
  BOOST_TEST(owner.role.why_not({{member(0), Clock(1)}}).empty());
  BOOST_TEST(!owner.role.why_not({{member(0), Clock(0)}}).empty());
  BOOST_TEST(!owner.role.why_not({{member(0), Clock(2)}}).empty());
  BOOST_TEST(!owner.role.why_not({{member(3), Clock(0)}}).empty());
}

}  // namespace convoy
