#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <limits>
#include <string>

#include "messages/codec/codec.h"
#include "messages/codec/limits.h"
#include "tests/unit/codec/random_messages.h"

namespace convoy {
namespace {

using testing::kMessageKinds;
using testing::RandomMessages;

template <class T>
std::string why(const Result<T>& result) {
  return result.ok() ? "" : result.error().message;
}

// Equal, or the reason why not.
std::string difference(const Envelope& sent, RunId run, const Result<Decoded>& received) {
  if (!received.ok()) return std::string(name_of(sent.message)) + ": " + received.error().message;
  if (received->run != run) return "another run";
  if (received->protocol_version != kProtocolVersion) return "another version";
  if (!(received->envelope == sent)) {
    return "sent " + describe(sent.message) + ", received " + describe(received->envelope.message);
  }
  return "";
}

BOOST_AUTO_TEST_SUITE(round_trip)

BOOST_AUTO_TEST_CASE(every_message_arrives_as_it_was_sent) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomMessages random(seed);
    for (std::size_t kind = 0; kind < kMessageKinds; ++kind) {
      const Envelope envelope = random.envelope(kind, seed % 20);
      BOOST_REQUIRE_EQUAL(envelope.message.index(), kind);
      const RunId run = random.run();
      const std::string wrong = difference(envelope, run, decode(encode(envelope, run)));
      BOOST_REQUIRE_MESSAGE(wrong.empty(), "seed " << seed << ": " << wrong);
    }
  }
}

BOOST_AUTO_TEST_CASE(large_messages_arrive_as_they_were_sent) {
  RandomMessages random(7);
  for (std::size_t kind = 0; kind < kMessageKinds; ++kind) {
    const Envelope envelope = random.envelope(kind, 400);
    const std::string wrong = difference(envelope, RunId(1), decode(encode(envelope, RunId(1))));
    // Names are lines of at most 512 bytes: a Hello of this size is refused, and says so.
    if (!wrong.empty()) BOOST_TEST(wrong.find("at most 512 are allowed") != std::string::npos, wrong);
  }
}

BOOST_AUTO_TEST_CASE(default_messages_arrive_where_a_default_means_something) {
  for (const Message& message :
       {Message(Hello{}), Message(Welcome{}), Message(Leave{}), Message(LeaseGrant{}), Message(Push{}),
        Message(PullReply{}), Message(CommitLog{})}) {
    const Envelope envelope{.view = {}, .from = {}, .incarnation = {}, .message = message};
    BOOST_TEST(difference(envelope, RunId(), decode(encode(envelope, RunId()))) == "");
  }
}

// The reader may read no more words than there are, and much of a large message lies behind far pointers,
// which are charged whenever they are followed, to see whether they are null as well.
BOOST_AUTO_TEST_CASE(a_message_of_many_small_parts_stays_within_the_traversal_limit) {
  ViewRecord record{.view = {1, 2}, .servers = {{.id = ServerId(0)}}};
  Cut cut{.record = record, .base = {1, 1}};
  for (std::uint32_t i = 0; i < 100; ++i) {
    record.servers.push_back({.id = ServerId(i + 1)});
    record.shards.push_back({.owner = ServerId(i), .backup = std::nullopt, .chunks = {}});
    cut.sources.push_back({.server = {.id = ServerId(i)}, .chunks = {}});
  }
  for (const Message& message : {Message(Go{record, {}}), Message(cut)}) {
    const Envelope envelope{.view = {1, 2}, .from = PeerId(1), .incarnation = {}, .message = message};
    BOOST_TEST(difference(envelope, RunId(1), decode(encode(envelope, RunId(1)))) == "");
  }
}

BOOST_AUTO_TEST_CASE(the_same_envelope_gives_the_same_bytes) {
  for (std::size_t kind = 0; kind < kMessageKinds; ++kind) {
    RandomMessages random(kind);
    const Envelope envelope = random.envelope(kind, 5);
    BOOST_TEST((encode(envelope, RunId(3)) == encode(envelope, RunId(3))));
  }
}

BOOST_AUTO_TEST_CASE(tensor_bytes_are_handed_on_and_not_copied) {
  const Frame bytes = Frame::of(std::vector<std::byte>(4096, std::byte{7}));
  const Envelope envelope{.view = {1, 1},
                          .from = PeerId(1),
                          .incarnation = Incarnation(1),
                          .message = Push{.shard = ShardId(0),
                                          .clock = Clock(1),
                                          .lease = LeaseId(1),
                                          .trained = {{0, 10}},
                                          .encoding = Encoding::kF32,
                                          .chunks = {{ChunkId(0), bytes}}}};
  WireMessage wire = encode(envelope, RunId(1));
  BOOST_REQUIRE_EQUAL(wire.tensors.size(), 1);
  BOOST_TEST(wire.tensors[0].data() == bytes.data());
  const auto decoded = decode(std::move(wire));
  BOOST_REQUIRE(decoded.ok());
  BOOST_TEST(std::get<Push>(decoded->envelope.message).chunks[0].bytes.data() == bytes.data());
}

BOOST_AUTO_TEST_CASE(a_header_may_lie_anywhere_in_memory) {
  RandomMessages random(11);
  for (std::size_t kind = 0; kind < kMessageKinds; ++kind) {
    const Envelope envelope = random.envelope(kind, 6);
    const WireMessage aligned = encode(envelope, RunId(2));
    for (std::size_t offset = 0; offset < 8; ++offset) {
      auto memory = std::make_shared<std::vector<std::byte>>(aligned.header.size() + offset);
      std::copy_n(aligned.header.data(), aligned.header.size(), memory->data() + offset);
      const std::span<const std::byte> view(memory->data() + offset, aligned.header.size());
      const WireMessage moved{.header = Frame(memory, view), .tensors = aligned.tensors};
      BOOST_REQUIRE_EQUAL(difference(envelope, RunId(2), decode(moved)), "");
      BOOST_REQUIRE(sender_of(moved.header).ok());
    }
  }
}

BOOST_AUTO_TEST_CASE(who_sent_a_header_can_be_told_without_its_message) {
  RandomMessages random(12);
  for (std::size_t kind = 0; kind < kMessageKinds; ++kind) {
    const Envelope envelope = random.envelope(kind, 3);
    const auto sender = sender_of(encode(envelope, RunId(9)).header);
    BOOST_REQUIRE(sender.ok());
    BOOST_TEST((*sender == Sender{.protocol_version = kProtocolVersion,
                                  .run = RunId(9),
                                  .peer = envelope.from,
                                  .incarnation = envelope.incarnation,
                                  .view = envelope.view}));
  }
}

BOOST_AUTO_TEST_CASE(a_view_record_can_be_kept_by_itself) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RandomMessages random(seed);
    const ViewRecord record = random.record(seed % 10);
    const Frame bytes = encode_record(record);
    const auto read = decode_record(bytes.bytes());
    BOOST_REQUIRE_EQUAL(why(read), "");
    BOOST_TEST((*read == record));
    const auto cut_short = decode_record(bytes.bytes().first(bytes.size() - 8));
    BOOST_TEST(!cut_short.ok());
  }
}

BOOST_AUTO_TEST_CASE(words_for_people_are_mended_rather_than_refused) {
  const auto received = [](const std::string& text) {
    const auto decoded = decode(encode({{}, PeerId(1), {}, Stop{.failed = true, .text = text}}, RunId(1)));
    BOOST_REQUIRE_EQUAL(why(decoded), "");
    return std::get<Stop>(decoded->envelope.message).text;
  };
  BOOST_TEST(received("disk full\n\tat byte 7: é") == "disk full\n\tat byte 7: é");
  BOOST_TEST(received("caf\xe9 \x1b[31m red \x7f") == "caf? ?[31m red ?");
  BOOST_TEST(received("\xc3") == "?");
  BOOST_TEST(received(std::string("a\0b", 3)) == "a?b");
  const std::string cut = received(std::string(limits::kMaxSentenceBytes - 1, 'x') + "é and more");
  BOOST_TEST(cut == std::string(limits::kMaxSentenceBytes - 1, 'x'));
}

BOOST_AUTO_TEST_CASE(a_diverged_loss_arrives_as_infinity) {
  for (double loss : {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity(),
                      std::numeric_limits<double>::infinity()}) {
    const auto decoded = decode(
        encode({{}, PeerId(1), {}, EvaluateResult{.snapshot = {}, .loss_sum = loss, .count = 1}}, RunId(1)));
    BOOST_REQUIRE(decoded.ok());
    BOOST_TEST(std::get<EvaluateResult>(decoded->envelope.message).loss_sum ==
               std::numeric_limits<double>::infinity());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace convoy
