// Every rule that the schema states, broken once. encode() does not judge, so the messages are made with it.
#include <boost/test/unit_test.hpp>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <variant>

#include "messages/codec/codec.h"
#include "messages/codec/limits.h"

namespace convoy {
namespace {

Result<Decoded> sent(Message message) {
  return decode(encode({.view = {1, 1}, .from = PeerId(5), .incarnation = {}, .message = std::move(message)},
                       RunId(1)));
}

// Refused as corrupt, and the text holds `words`.
boost::test_tools::predicate_result refused(const Result<Decoded>& result, const std::string& words) {
  boost::test_tools::predicate_result answer(false);
  if (result.ok()) {
    answer.message() << "was accepted";
  } else if (result.error().code != ErrorCode::kCorrupt ||
             result.error().message.find(words) == std::string::npos) {
    answer.message() << to_string(result.error().code) << ": " << result.error().message;
  } else {
    return true;
  }
  return answer;
}

ViewRecord good_record() {
  return {.view = {1, 2},
          .history = 0,
          .floor = Clock(3),
          .members = {{{MemberId(1), Incarnation(1)}, PeerId(11), Clock(3)},
                      {{MemberId(4), Incarnation(2)}, PeerId(14), Clock(5)}},
          .stand_by = {{{MemberId(2), Incarnation(1)}, PeerId(12), Clock(3)}},
          .servers = {{ServerId(1), Incarnation(1), PeerId(21), "127.0.0.1:1"},
                      {ServerId(2), Incarnation(1), PeerId(22), "[::1]:2"}},
          .shards = {{ServerId(1), ServerId(2), {ChunkId(0), ChunkId(2)}},
                     {ServerId(2), std::nullopt, {ChunkId(1)}}}};
}

Push good_push() {
  return {.shard = ShardId(0),
          .clock = Clock(1),
          .lease = LeaseId(1),
          .trained = {{0, 4}},
          .encoding = Encoding::kF32,
          .chunks = {{ChunkId(0), Frame::of(std::vector<std::byte>(8))},
                     {ChunkId(1), Frame::of(std::vector<std::byte>(4))}}};
}

Replicate replicated(std::variant<Push, Commit, StreamEnd> entry) {
  return {.shard = ShardId(0),
          .stream = {1, 1},
          .sequence = 1,
          .member = {MemberId(4), Incarnation(2)},
          .entry = std::move(entry)};
}

// As good_record() may have got its chunks; p3 leaves.
Cut good_cut() {
  const ViewRecord record = good_record();
  return {.record = record,
          .base = {1, 1},
          .sources = {{{ServerId(3), Incarnation(1), PeerId(23), "127.0.0.1:3"}, {ChunkId(0), ChunkId(2)}},
                      {record.servers[0], {ChunkId(1)}}}};
}

constexpr std::int64_t kTooMany = limits::kMaxCount;
const double kNan = std::numeric_limits<double>::quiet_NaN();
const double kInfinity = std::numeric_limits<double>::infinity();

BOOST_AUTO_TEST_SUITE(rules)

BOOST_AUTO_TEST_CASE(a_record_that_keeps_the_rules_is_accepted) {
  BOOST_TEST(sent(Go{good_record(), {}}).ok());
  BOOST_TEST(sent(good_push()).ok());
  BOOST_TEST(sent(good_cut()).ok());
  BOOST_TEST(sent(FetchChunks{{1, 1}, {ChunkId(0), ChunkId(limits::kMaxChunks - 1)}}).ok());
  BOOST_TEST(sent(ReplicateAck{.shard = ShardId(0), .stream = {1, 1}, .upto = 0}).ok());
  for (const auto& entry : std::initializer_list<std::variant<Push, Commit, StreamEnd>>{
           good_push(), Commit{ShardId(0), Clock(1)}, StreamEnd{}})
    BOOST_TEST(sent(replicated(entry)).ok());
}

BOOST_AUTO_TEST_CASE(sources_that_contradict_each_other_are_refused) {
  const auto with = [](const std::function<void(std::vector<ChunkSource>&)>& spoil) {
    Cut cut = good_cut();
    spoil(cut.sources);
    return sent(cut);
  };
  BOOST_TEST(refused(with([](auto& s) { s[1].server.id = ServerId(3); }), "source of chunks twice"));
  BOOST_TEST(refused(with([](auto& s) {
                       s.push_back({s[0].server, {ChunkId(4)}});
                     }),
                     "source of chunks twice"));
  BOOST_TEST(refused(with([](auto& s) { s[0].chunks = {ChunkId(2), ChunkId(0)}; }), "chunks of a source"));
  BOOST_TEST(refused(with([](auto& s) { s[0].chunks = {ChunkId(2), ChunkId(2)}; }), "chunks of a source"));
  BOOST_TEST(refused(with([](auto& s) { s[1].chunks = {ChunkId(2)}; }), "two sources"));
  BOOST_TEST(refused(with([](auto& s) { s[1].chunks = {ChunkId(limits::kMaxChunks)}; }), "out of range"));
  BOOST_TEST(refused(with([](auto& s) { s[0].server.address = "a\nb"; }), "control character"));
}

BOOST_AUTO_TEST_CASE(a_stream_entry_that_is_not_of_its_stream_is_refused) {
  Replicate before_the_first = replicated(StreamEnd{});
  before_the_first.sequence = 0;
  BOOST_TEST(refused(sent(before_the_first), "count from 1"));
  Push push = good_push();
  push.shard = ShardId(1);
  BOOST_TEST(refused(sent(replicated(push)), "another shard"));
  BOOST_TEST(refused(sent(replicated(Commit{ShardId(1), Clock(1)})), "another shard"));
  push = good_push();
  push.chunks[1].chunk = ChunkId(0);
  BOOST_TEST(refused(sent(replicated(push)), "twice"));
}

BOOST_AUTO_TEST_CASE(chunks_that_are_asked_for_without_order_are_refused) {
  BOOST_TEST(refused(sent(FetchChunks{{1, 1}, {}}), "no chunk"));
  BOOST_TEST(refused(sent(FetchChunks{{1, 1}, {ChunkId(1), ChunkId(0)}}), "ascend"));
  BOOST_TEST(refused(sent(FetchChunks{{1, 1}, {ChunkId(1), ChunkId(1)}}), "ascend"));
  BOOST_TEST(refused(sent(FetchChunks{{1, 1}, {ChunkId(limits::kMaxChunks)}}), "out of range"));
}

BOOST_AUTO_TEST_CASE(a_view_record_that_contradicts_itself_is_refused) {
  const auto with = [](const std::function<void(ViewRecord&)>& spoil) {
    ViewRecord record = good_record();
    spoil(record);
    return sent(Go{record, {}});
  };
  BOOST_TEST(refused(with([](ViewRecord& r) { r.view = {}; }), "no view"));
  BOOST_TEST(refused(with([](ViewRecord& r) { r.floor = Clock(-1); }), "out of range"));
  BOOST_TEST(refused(with([](ViewRecord& r) { std::swap(r.members[0], r.members[1]); }), "members"));
  BOOST_TEST(refused(with([](ViewRecord& r) { r.members[1].key.id = MemberId(1); }), "members"));
  BOOST_TEST(refused(with([](ViewRecord& r) { r.members[1].n = Clock(-1); }), "out of range"));
  BOOST_TEST(refused(with([](ViewRecord& r) { r.stand_by.push_back(r.stand_by[0]); }), "stand-bys"));
  BOOST_TEST(refused(with([](ViewRecord& r) { r.stand_by[0].key.id = MemberId(4); }), "on stand-by"));
  BOOST_TEST(refused(with([](ViewRecord& r) { std::swap(r.servers[0], r.servers[1]); }), "servers"));
  BOOST_TEST(refused(with([](ViewRecord& r) { r.servers[0].address = "a\nb"; }), "control character"));
  BOOST_TEST(refused(with([](ViewRecord& r) { r.servers[0].address = std::string(513, 'a'); }), "513 bytes"));
  BOOST_TEST(refused(with([](ViewRecord& r) { r.shards[0].owner = ServerId(3); }), "owner"));
  BOOST_TEST(refused(with([](ViewRecord& r) { r.shards[0].backup = ServerId(3); }), "backup"));
  BOOST_TEST(refused(with([](ViewRecord& r) { r.shards[0].backup = ServerId(1); }), "own backup"));
  BOOST_TEST(refused(with([](ViewRecord& r) { r.shards[0].chunks = {ChunkId(2), ChunkId(0)}; }), "ascend"));
  BOOST_TEST(refused(with([](ViewRecord& r) { r.shards[0].chunks = {ChunkId(0), ChunkId(0)}; }), "ascend"));
  BOOST_TEST(refused(with([](ViewRecord& r) { r.shards[1].chunks = {ChunkId(2)}; }), "two shards"));
  BOOST_TEST(refused(with([](ViewRecord& r) { r.shards[1].chunks = {ChunkId(limits::kMaxChunks)}; }),
                     "out of range"));
}

BOOST_AUTO_TEST_CASE(views_that_go_backwards_are_refused) {
  BOOST_TEST(refused(sent(Prepare{{1, 1}, {1, 1}}), "not later"));
  BOOST_TEST(refused(sent(Prepare{{1, 9}, {2, 1}}), "not later"));
  BOOST_TEST(refused(sent(Report{.next = {1, 1}, .base = {1, 1}}), "not later"));
  Report report{.next = {1, 5}, .base = {1, 2}, .newer = good_record()};
  BOOST_TEST(refused(sent(report), "not later"));
  report.base = {1, 1};
  BOOST_TEST(sent(report).ok());
  BOOST_TEST(refused(sent(Cut{.record = good_record(), .base = {1, 2}}), "not later"));
}

BOOST_AUTO_TEST_CASE(members_out_of_order_are_refused) {
  const MemberKey one{MemberId(1), Incarnation(1)};
  const MemberKey again{MemberId(1), Incarnation(2)};
  BOOST_TEST(refused(sent(Report{.next = {1, 2}, .members = {{one, {}, {}}, {again, {}, {}}}}), "ascend"));
  BOOST_TEST(refused(sent(Cut{.record = good_record(), .members = {{one, {}}, {again, {}}}}), "ascend"));
}

BOOST_AUTO_TEST_CASE(leases_out_of_order_are_refused) {
  const Lease first{LeaseId(1), Clock(4), {{0, 3}}};
  const Lease second{LeaseId(2), Clock(5), {{5, 9}}};
  BOOST_TEST(sent(LeaseGrant{{first, second}}).ok());
  BOOST_TEST(refused(sent(LeaseGrant{{second, first}}), "leases"));
  BOOST_TEST(refused(sent(LeaseGrant{{first, first}}), "leases"));
  BOOST_TEST(refused(sent(Go{good_record(), {second, first}}), "leases"));
}

BOOST_AUTO_TEST_CASE(negative_and_wild_counts_are_refused) {
  for (std::int64_t wild : {std::int64_t{-1}, kTooMany, std::numeric_limits<std::int64_t>::min(),
                            std::numeric_limits<std::int64_t>::max()}) {
    const Clock clock(wild);
    const Duration time(wild);
    const auto sequence = static_cast<std::uint64_t>(wild);
    const MemberKey key{MemberId(1), Incarnation(1)};
    for (const Message& message : {
             Message(Welcome{.sync = {.batch = wild}}),
             Message(Welcome{.sync = {.failure_timeout = time}}),
             Message(Welcome{.sync = {.sample_count = wild}}),
             Message(Welcome{.sync = {.end_position = wild}}),
             Message(Heartbeat{.committed = clock}),
             Message(Heartbeat{.samples = wild}),
             Message(Heartbeat{.busy = time}),
             Message(Heartbeat{.waiting = time}),
             Message(LeaseRequest{.next = clock}),
             Message(LeaseRequest{.committed = clock}),
             Message(LeaseGrant{{{LeaseId(1), clock, {}}}}),
             Message(LeaseGrant{{{LeaseId(1), {}, {{wild, wild + (wild < kTooMany ? 1 : 0)}, {-3, -1}}}}}),
             Message(Pull{.clock = clock}),
             Message(Pull{.after = clock}),
             Message(Pull{.committed = clock}),
             Message(PullReply{.clock = clock}),
             Message(PullReply{.committed = clock}),
             Message(PullReply{.c_min = clock}),
             Message(Push{.clock = clock}),
             Message(Push{.correct = wild}),
             Message(PushAck{.clock = clock}),
             Message(Commit{.committed = clock}),
             Message(CommitAck{.committed = clock}),
             Message(Report{.next = {1, 1}, .members = {{key, clock, {}}}}),
             Message(Report{.next = {1, 1}, .members = {{key, {}, clock}}}),
             Message(Cut{.record = good_record(), .members = {{key, clock}}}),
             Message(Done{.log_end = sequence}),
             Message(CommitLog{.first = sequence}),
             Message(CommitLog{.entries = {{.clock = clock}}}),
             Message(CommitLog{.entries = {{.correct = wild}}}),
             Message(CommitLog{.entries = {{.staleness = wild}}}),
             Message(CommitLog{.entries = {{.delay = wild}}}),
             Message(CommitLogAck{.next = sequence}),
             Message(Evaluate{.first = wild, .last = wild, .record = good_record()}),
             Message(EvaluateResult{.correct = wild, .count = 5}),
             Message(EvaluateResult{.count = wild}),
             Message(Replicate{.sequence = sequence, .entry = StreamEnd{}}),
             Message(Replicate{.sequence = 1, .entry = Push{.clock = clock}}),
             Message(Replicate{.sequence = 1, .entry = Push{.correct = wild}}),
             Message(Replicate{.sequence = 1, .entry = Commit{.committed = clock}}),
             Message(ReplicateAck{.upto = sequence}),
         }) {
      BOOST_TEST(refused(sent(message), "out of range"), name_of(message) << " with " << wild);
    }
  }
}

BOOST_AUTO_TEST_CASE(ids_that_would_size_a_table_are_bounded) {
  const ShardId wild(limits::kMaxShards);
  for (const Message& message :
       {Message(Pull{.shard = wild}), Message(PullReply{.shard = wild}), Message(Push{.shard = wild}),
        Message(PushAck{.shard = wild}), Message(Commit{.shard = wild}), Message(CommitAck{.shard = wild}),
        Message(SnapshotPull{.shard = wild}), Message(SnapshotReply{.shard = wild}),
        Message(Replicate{.shard = wild}), Message(ReplicateAck{.shard = wild})}) {
    BOOST_TEST(refused(sent(message), "shard 16384 is out of range"), name_of(message));
  }
  Push push = good_push();
  push.chunks[1].chunk = ChunkId(limits::kMaxChunks);
  BOOST_TEST(refused(sent(push), "out of range"));
}

BOOST_AUTO_TEST_CASE(numbers_that_mean_nothing_are_refused) {
  BOOST_TEST(sent(Join{0}).ok());
  for (double speed : {kNan, kInfinity, -kInfinity, -1.0}) BOOST_TEST(refused(sent(Join{speed}), "no speed"));
  BOOST_TEST(refused(sent(EvaluateResult{.correct = 3, .count = 2}), "more samples"));
  BOOST_TEST(refused(sent(Evaluate{.first = 2, .last = 1, .record = good_record()}), "end before"));
}

BOOST_AUTO_TEST_CASE(synchronisation_that_could_not_run_is_refused) {
  const auto with = [](const SyncOptions& sync) { return sent(Welcome{.sync = sync}); };
  BOOST_TEST(with({}).ok());
  BOOST_TEST(with({.mode = SyncMode::kAsp, .bound = kNoBound, .bound_low = kNoBound}).ok());
  BOOST_TEST(refused(with({.bound = -1}), "out of range"));
  BOOST_TEST(refused(with({.bound = kNoBound - 1}), "out of range"));
  BOOST_TEST(refused(with({.bound = 2, .bound_low = 3}), "above the upper"));
  BOOST_TEST(refused(with({.bound = 0, .bound_low = 0, .pull_ahead = true}), "pull ahead"));
  BOOST_TEST(refused(with({.batch = 0}), "batch"));
  BOOST_TEST(refused(with({.sample_count = 0}), "data set is empty"));
  BOOST_TEST(refused(with({.failure_timeout = Duration{}}), "time-out"));
}

BOOST_AUTO_TEST_CASE(text_that_could_hurt_a_terminal_or_a_log_is_refused) {
  BOOST_TEST(sent(Hello{.name = "größe"}).ok());
  for (const char* bad : {"\x1b[2J", "line\nend", "tab\t", "\x7f"})
    BOOST_TEST(refused(sent(Hello{.name = bad}), "control character"));
  // Cut short, overlong, surrogate, above U+10FFFF, stray continuation, Latin-1.
  for (const char* bad :
       {"\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80", "caf\xe9 "})
    BOOST_TEST(refused(sent(Hello{.host = bad}), "UTF-8"));
  BOOST_TEST(refused(sent(Hello{.public_key = "\x01"}), "public key"));
  BOOST_TEST(refused(sent(Welcome{.allowed_keys = {"ok", "\x01"}}), "allowed key"));
  BOOST_TEST(refused(sent(AllowedKeys{1, {"ok", "\x01"}}), "allowed key"));
  BOOST_TEST(refused(sent(Hello{.device = std::string(limits::kMaxNameBytes + 1, 'x')}), "at most 512"));
  BOOST_TEST(sent(Welcome{.run_text = "[run]\r\n\tname = \"x\"\n"}).ok());
  BOOST_TEST(refused(sent(Welcome{.run_text = "\x01"}), "control character"));
  BOOST_TEST(refused(sent(Welcome{.run_text = std::string(limits::kMaxDocumentBytes + 1, 'x')}), "run file"));
  BOOST_TEST(refused(sent(StatusReply{std::string(limits::kMaxDocumentBytes + 1, 'x')}), "status"));
}

BOOST_AUTO_TEST_CASE(tensor_frames_must_be_those_that_the_header_announces) {
  const WireMessage good = encode({{1, 1}, PeerId(5), {}, good_push()}, RunId(1));
  BOOST_TEST(decode(good).ok());

  WireMessage missing = good;
  missing.tensors.pop_back();
  BOOST_TEST(refused(decode(missing), "announces 2 tensor frames, but 1 came"));

  WireMessage more = good;
  more.tensors.push_back(more.tensors[0]);
  BOOST_TEST(refused(decode(more), "announces 2 tensor frames, but 3 came"));

  WireMessage swapped = good;
  std::swap(swapped.tensors[0], swapped.tensors[1]);
  BOOST_TEST(refused(decode(swapped), "8 bytes is announced, but one of 4"));

  WireMessage stray = encode({{1, 1}, PeerId(5), {}, Leave{}}, RunId(1));
  stray.tensors.push_back(good.tensors[0]);
  BOOST_TEST(refused(decode(stray), "does not announce"));

  for (const auto& entry :
       std::initializer_list<std::variant<Push, Commit, StreamEnd>>{Commit{}, StreamEnd{}}) {
    stray = encode({{1, 1}, PeerId(5), {}, replicated(entry)}, RunId(1));
    stray.tensors.push_back(good.tensors[0]);
    BOOST_TEST(refused(decode(stray), "does not announce"));
  }
  missing = encode({{1, 1}, PeerId(5), {}, replicated(good_push())}, RunId(1));
  missing.tensors.pop_back();
  BOOST_TEST(refused(decode(missing), "announces 2 tensor frames, but 1 came"));

  Push twice = good_push();
  twice.chunks[1].chunk = ChunkId(0);
  BOOST_TEST(refused(sent(twice), "twice"));
  twice.chunks = {good_push().chunks[1], good_push().chunks[0], good_push().chunks[1]};
  BOOST_TEST(refused(sent(twice), "twice"));

  Push odd = good_push();
  odd.encoding = Encoding::kF64;
  BOOST_TEST(refused(sent(odd), "4 bytes holds no whole numbers"));
  BOOST_TEST(refused(sent(ChunkStates{.next = {1, 1}, .encoding = Encoding::kF64, .chunks = odd.chunks}),
                     "4 bytes holds no whole numbers"));
  BOOST_TEST(refused(sent(ChunkStates{.next = {1, 1}, .chunks = twice.chunks}), "twice"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace convoy
