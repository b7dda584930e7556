// Headers that encode() never makes: cut, altered, of other versions, built to hurt.
#include <capnp/message.h>
#include <capnp/serialize.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <functional>
#include <string>

#include "messages/codec/codec.h"
#include "messages/codec/limits.h"
#include "protocol.capnp.h"
#include "tests/unit/codec/random_messages.h"

namespace convoy {
namespace {

using testing::kMessageKinds;
using testing::RandomMessages;

// Messages of a kind: with one, most of what a kind may hold instead would be left out (a Replicate's entry).
constexpr std::size_t kDraws = 8;

Frame copy(std::span<const std::byte> bytes) {
  return Frame::copy_of(bytes);
}

template <class T>
std::string why(const Result<T>& result) {
  return result.ok() ? "" : result.error().message;
}

// Decoded or refused; and what is decoded can be sent on.
void must_hold_up(const WireMessage& message) {
  const auto decoded = decode(message);
  (void)sender_of(message.header);
  if (!decoded.ok()) {
    BOOST_REQUIRE(decoded.error().code == ErrorCode::kCorrupt || decoded.error().code == ErrorCode::kRefused);
    BOOST_REQUIRE(!decoded.error().message.empty());
    return;
  }
  const auto again = decode(encode(decoded->envelope, decoded->run));
  BOOST_REQUIRE_EQUAL(why(again), "");
  BOOST_REQUIRE(again->envelope == decoded->envelope);
}

std::string refusal(const Result<Decoded>& result) {
  BOOST_REQUIRE(!result.ok());
  BOOST_TEST((result.error().code == ErrorCode::kCorrupt));
  return result.error().message;
}

// A header as `fill` makes it, with the fields before the union right.
WireMessage built(const std::function<void(wire::Header::Builder)>& fill) {
  capnp::MallocMessageBuilder builder(1u << 14);  // one segment, if it fits
  auto header = builder.initRoot<wire::Header>();
  header.setProtocolVersion(kProtocolVersion);
  header.setSender(77);
  fill(header);
  const auto words = capnp::messageToFlatArray(builder);
  return {.header = copy(std::as_bytes(std::span(words.begin(), words.size()))), .tensors = {}};
}

bool has(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

BOOST_AUTO_TEST_SUITE(hostile)

BOOST_AUTO_TEST_CASE(a_header_cut_anywhere_is_refused) {
  RandomMessages random(1);
  for (std::size_t draw = 0; draw < kDraws * kMessageKinds; ++draw) {
    const WireMessage whole = encode(random.envelope(draw % kMessageKinds, 4), RunId(1));
    for (std::size_t size = 0; size < whole.header.size(); ++size) {
      const WireMessage cut{.header = copy(whole.header.bytes().first(size)), .tensors = whole.tensors};
      BOOST_REQUIRE(!decode(cut).ok());
      BOOST_REQUIRE(!sender_of(cut.header).ok());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_header_with_any_bit_flipped_or_byte_replaced_does_no_harm) {
  RandomMessages random(2);
  for (std::size_t draw = 0; draw < kDraws * kMessageKinds; ++draw) {
    const WireMessage whole = encode(random.envelope(draw % kMessageKinds, 3), RunId(1));
    std::vector<std::byte> bytes(whole.header.bytes().begin(), whole.header.bytes().end());
    for (std::byte& byte : bytes) {
      const std::byte before = byte;
      for (unsigned bit = 0; bit < 8; ++bit) {
        byte = before ^ static_cast<std::byte>(1u << bit);
        must_hold_up({.header = copy(bytes), .tensors = whole.tensors});
      }
      for (unsigned value : {0x00u, 0xffu, 0x7fu, 0x80u}) {
        byte = static_cast<std::byte>(value);
        must_hold_up({.header = copy(bytes), .tensors = whole.tensors});
      }
      byte = before;
    }
  }
}

BOOST_AUTO_TEST_CASE(words_of_a_header_exchanged_do_no_harm) {
  RandomMessages random(3);
  for (std::uint64_t round = 0; round < 100; ++round) {
    for (std::size_t kind = 0; kind < kMessageKinds; ++kind) {
      const WireMessage whole = encode(random.envelope(kind, 5), RunId(1));
      std::vector<std::uint64_t> words(whole.header.size() / 8);
      std::memcpy(words.data(), whole.header.data(), whole.header.size());
      std::mt19937_64 draw(round * kMessageKinds + kind);
      for (int i = 0; i < 3; ++i) std::swap(words[draw() % words.size()], words[draw() % words.size()]);
      must_hold_up({.header = copy(std::as_bytes(std::span(words))), .tensors = whole.tensors});
    }
  }
}

BOOST_AUTO_TEST_CASE(noise_is_refused) {
  std::mt19937_64 draw(4);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::uint64_t> words(draw() % 64);
    for (std::uint64_t& word : words) word = draw();
    if (!words.empty() && round % 2 == 0) words[0] = (words.size() - 1) << 32;  // a sound segment table
    must_hold_up({.header = copy(std::as_bytes(std::span(words))), .tensors = {}});
  }
}

BOOST_AUTO_TEST_CASE(another_version_is_told_by_number_and_sender) {
  for (int number : {kProtocolVersion - 1, kProtocolVersion + 1, 0xffff}) {
    const auto version = static_cast<std::uint16_t>(number);
    const WireMessage message = built([&](wire::Header::Builder header) {
      header.setProtocolVersion(version);
      header.setRunId(4);
      header.setSenderIncarnation(6);
    });
    const auto decoded = decode(message);
    BOOST_REQUIRE(!decoded.ok());
    BOOST_TEST((decoded.error().code == ErrorCode::kRefused));
    BOOST_TEST(has(decoded.error().message, "peer 77 speaks version"));
    BOOST_TEST(has(decoded.error().message, std::to_string(version).c_str()));
    const auto sender = sender_of(message.header);
    BOOST_REQUIRE(sender.ok());
    BOOST_TEST(sender->protocol_version == version);
    BOOST_TEST(
        (sender->peer == PeerId(77) && sender->run == RunId(4) && sender->incarnation == Incarnation(6)));
  }
}

BOOST_AUTO_TEST_CASE(another_version_is_told_before_anything_else_is_looked_at) {
  // Content that this version would call corrupt, and tensor frames that nothing announces.
  WireMessage message = built([](wire::Header::Builder header) {
    header.setProtocolVersion(kProtocolVersion + 1);
    header.initJoin().setSamplesPerS(-1);
  });
  message.tensors.push_back(copy(std::as_bytes(std::span("stray"))));
  const auto decoded = decode(message);
  BOOST_REQUIRE(!decoded.ok());
  BOOST_TEST((decoded.error().code == ErrorCode::kRefused));
}

BOOST_AUTO_TEST_CASE(a_refusal_is_understood_in_every_version) {
  const auto decoded = decode(built([](wire::Header::Builder header) {
    header.setProtocolVersion(kProtocolVersion + 1);
    auto refuse = header.initRefuse();
    refuse.setReason(wire::Refuse::Reason::OTHER_VERSION);
    refuse.setText("you speak another");
  }));
  BOOST_REQUIRE(decoded.ok());
  BOOST_TEST(decoded->protocol_version == kProtocolVersion + 1);
  BOOST_TEST(std::get<Refuse>(decoded->envelope.message).text == "you speak another");
}

BOOST_AUTO_TEST_CASE(no_version_at_all_is_corrupt) {
  const WireMessage message = built([](wire::Header::Builder header) { header.setProtocolVersion(0); });
  BOOST_TEST(has(refusal(decode(message)), "names no protocol version"));
  BOOST_TEST(!sender_of(message.header).ok());
}

BOOST_AUTO_TEST_CASE(a_message_of_an_unknown_kind_is_refused_by_number) {
  // The union's tag lies behind the version, in the first word of the root (after segment table and pointer).
  WireMessage message = encode({{}, PeerId(1), {}, Leave{}}, RunId(1));
  std::vector<std::byte> bytes(message.header.bytes().begin(), message.header.bytes().end());
  bytes[18] = std::byte{200};
  message.header = copy(bytes);
  BOOST_TEST(has(refusal(decode(message)), "unknown kind 200"));
}

BOOST_AUTO_TEST_CASE(unknown_enum_values_are_refused) {
  BOOST_TEST(has(refusal(decode(built([](wire::Header::Builder header) {
                   header.initHello().setRole(static_cast<wire::RoleKind>(4));
                 }))),
                 "role has the unknown value 4"));
  BOOST_TEST(has(refusal(decode(built([](wire::Header::Builder header) {
                   header.initRefuse().setReason(static_cast<wire::Refuse::Reason>(7));
                 }))),
                 "reason has the unknown value 7"));
  BOOST_TEST(has(refusal(decode(built([](wire::Header::Builder header) {
                   header.initPush().setEncoding(static_cast<wire::Encoding>(0xffff));
                 }))),
                 "encoding has the unknown value 65535"));
  BOOST_TEST(has(refusal(decode(built([](wire::Header::Builder header) {
                   header.initWelcome().initSync().setMode(static_cast<wire::SyncMode>(4));
                 }))),
                 "mode has the unknown value 4"));
}

BOOST_AUTO_TEST_CASE(what_a_message_cannot_do_without_is_missed) {
  BOOST_TEST(has(refusal(decode(built([](wire::Header::Builder header) { header.initGo(); }))), "missing"));
  BOOST_TEST(has(refusal(decode(built([](wire::Header::Builder header) { header.initCut(); }))), "missing"));
  BOOST_TEST(
      has(refusal(decode(built([](wire::Header::Builder header) { header.initEvaluate(); }))), "missing"));
  BOOST_TEST(
      has(refusal(decode(built([](wire::Header::Builder header) { header.initWelcome(); }))), "batch"));
  BOOST_TEST(has(refusal(decode(built([](wire::Header::Builder header) { header.initFetchChunks(); }))),
                 "no chunk is asked for"));
  // A null pointer would read as a push, or a commit, of nothing.
  BOOST_TEST(
      has(refusal(decode(built([](wire::Header::Builder header) { header.initReplicate().setSequence(1); }))),
          "push of the stream is missing"));
  BOOST_TEST(has(refusal(decode(built([](wire::Header::Builder header) {
                   auto replicate = header.initReplicate();
                   replicate.setSequence(1);
                   replicate.getEntry().initCommit();
                   replicate.getEntry().disownCommit();
                 }))),
                 "commit of the stream is missing"));
}

BOOST_AUTO_TEST_CASE(a_stream_entry_of_an_unknown_kind_is_refused) {
  WireMessage message = built([](wire::Header::Builder header) {
    auto replicate = header.initReplicate();
    replicate.setSequence(0x5eedULL);
    replicate.getEntry().setEnd();
  });
  // The union's tag follows shard, sequence, member and incarnation; of these only the sequence is not 0.
  std::vector<std::uint64_t> words(message.header.size() / 8);
  std::memcpy(words.data(), message.header.data(), message.header.size());
  const auto tag = std::find_if(std::find(words.begin(), words.end(), 0x5eedULL), words.end(),
                                [](std::uint64_t word) { return word >> 32 == 2 || word == 2; });
  BOOST_REQUIRE(tag != words.end());
  *tag = *tag == 2 ? 3 : std::uint64_t{3} << 32;
  message.header = copy(std::as_bytes(std::span(words)));
  BOOST_TEST(has(refusal(decode(message)), "entry of an unknown kind"));
}

BOOST_AUTO_TEST_CASE(intervals_that_are_no_set_are_refused) {
  const auto ledger = [](std::vector<Interval> intervals) {
    return decode(built([&](wire::Header::Builder header) {
      auto push = header.initPush();
      auto list = push.initTrained(static_cast<unsigned>(intervals.size()));
      for (unsigned i = 0; i < list.size(); ++i) {
        list[i].setBegin(intervals[i].begin);
        list[i].setEnd(intervals[i].end);
      }
    }));
  };
  BOOST_TEST(ledger({{0, 1}, {2, 5}}).ok());
  BOOST_TEST(has(refusal(ledger({{0, 0}})), "intervals"));
  BOOST_TEST(has(refusal(ledger({{5, 4}})), "intervals"));
  BOOST_TEST(has(refusal(ledger({{-1, 4}})), "intervals"));
  BOOST_TEST(has(refusal(ledger({{2, 5}, {0, 1}})), "intervals"));  // out of order
  BOOST_TEST(has(refusal(ledger({{0, 5}, {4, 6}})), "intervals"));  // overlap
  BOOST_TEST(has(refusal(ledger({{0, 5}, {5, 6}})), "intervals"));  // touch
  BOOST_TEST(has(refusal(ledger({{0, limits::kMaxCount}})), "intervals"));
}

BOOST_AUTO_TEST_CASE(counts_that_are_too_large_are_refused_before_anything_is_made_of_them) {
  const auto over = [](std::size_t limit) { return static_cast<unsigned>(limit + 1); };
  BOOST_TEST(has(refusal(decode(built([&](wire::Header::Builder header) {
                   header.initPush().initTrained(over(limits::kMaxIntervals));
                 }))),
                 "262145 intervals"));
  BOOST_TEST(has(refusal(decode(built([&](wire::Header::Builder header) {
                   header.initPush().initChunks(over(limits::kMaxChunks));
                 }))),
                 "262145 chunks"));
  BOOST_TEST(has(refusal(decode(built([&](wire::Header::Builder header) {
                   header.initLeaseGrant().initLeases(over(limits::kMaxLeases));
                 }))),
                 "65537 leases"));
  BOOST_TEST(has(refusal(decode(built([&](wire::Header::Builder header) {
                   header.initCommitLog().initEntries(over(limits::kMaxLogEntries));
                 }))),
                 "16385 log entries"));
  BOOST_TEST(has(refusal(decode(built([&](wire::Header::Builder header) {
                   header.initWelcome().initAllowedKeys(over(limits::kMaxMembers));
                 }))),
                 "65537 allowed keys"));
  BOOST_TEST(has(refusal(decode(built([&](wire::Header::Builder header) {
                   header.initAllowedKeys().initKeys(over(limits::kMaxMembers));
                 }))),
                 "65537 allowed keys"));
  const auto record = [&](const std::function<void(wire::ViewRecord::Builder)>& fill) {
    return refusal(decode(built([&](wire::Header::Builder header) { fill(header.initGo().initRecord()); })));
  };
  BOOST_TEST(has(record([&](auto r) { r.initMembers(over(limits::kMaxMembers)); }), "65537 members"));
  BOOST_TEST(has(record([&](auto r) { r.initStandBy(over(limits::kMaxMembers)); }), "65537 members"));
  BOOST_TEST(has(record([&](auto r) { r.initServers(over(limits::kMaxServers)); }), "4097 servers"));
  BOOST_TEST(has(record([&](auto r) { r.initShards(over(limits::kMaxShards)); }), "16385 shards"));
  BOOST_TEST(
      has(record([&](auto r) { r.initShards(1)[0].initChunks(over(limits::kMaxChunks)); }), "262145 chunks"));

  BOOST_TEST(has(refusal(decode(built([&](wire::Header::Builder header) {
                   header.initFetchChunks().initChunks(over(limits::kMaxChunks));
                 }))),
                 "262145 chunks"));
  const auto sources = [&](const std::function<void(wire::Cut::Builder)>& fill) {
    return refusal(decode(built([&](wire::Header::Builder header) {
      header.initCut().initRecord().initView().setTerm(1);
      fill(header.getCut());
    })));
  };
  BOOST_TEST(has(sources([&](auto cut) { cut.initSources(over(limits::kMaxServers)); }), "4097 sources"));
  BOOST_TEST(has(sources([&](auto cut) {
                   auto source = cut.initSources(1)[0];
                   source.initServer();
                   source.initChunks(over(limits::kMaxChunks));
                 }),
                 "262145 chunks"));

  const Frame huge = Frame::of(std::vector<std::byte>(limits::kMaxHeaderBytes + 8));
  BOOST_TEST(has(refusal(decode({.header = huge, .tensors = {}})), "at most 16777216 are allowed"));
}

BOOST_AUTO_TEST_CASE(a_list_that_claims_a_million_empty_elements_is_refused) {
  // Elements of no size take no bytes: 2^17 of them fit into any header. They are charged for all the same.
  WireMessage message = built([](wire::Header::Builder header) { header.initPush().initTrained(1); });
  std::vector<std::uint64_t> words(message.header.size() / 8);
  std::memcpy(words.data(), message.header.data(), message.header.size());
  // The list's tag (one element of two data words) becomes 2^17 elements of none.
  const std::uint64_t tag = (std::uint64_t{2} << 32) | (1u << 2);
  const auto at = std::find(words.begin(), words.end(), tag);
  BOOST_REQUIRE(at != words.end());
  *at = std::uint64_t{1u << 17} << 2;
  message.header = copy(std::as_bytes(std::span(words)));
  const std::string words_of_refusal = refusal(decode(message));
  BOOST_TEST(!has(words_of_refusal, "intervals"),
             words_of_refusal);  // stopped by Cap'n Proto's accounting, before the first element
}

BOOST_AUTO_TEST_CASE(a_small_header_cannot_be_unfolded_into_a_large_message) {
  // 1,000 leases that all point at one list of 1,000 intervals: 16 KB a lease, 40 KB on the wire.
  const unsigned n = 1000;
  WireMessage message = built([&](wire::Header::Builder header) {
    auto leases = header.initLeaseGrant().initLeases(n);
    for (unsigned i = 0; i < n; ++i) leases[i].setClock(i);
    auto list = leases[n - 1].initPositions(n);
    for (unsigned i = 0; i < n; ++i) {
      list[i].setBegin(2 * i);
      list[i].setEnd(2 * i + 1);
    }
  });
  std::vector<std::uint64_t> words(message.header.size() / 8);
  std::memcpy(words.data(), message.header.data(), message.header.size());
  // Elements are id, clock, pointer. The last one's pointer is the only one that is not null; pointers count
  // words from behind themselves.
  const std::uint64_t tag = (std::uint64_t{1} << 48) | (std::uint64_t{2} << 32) | (n << 2);
  const auto found = std::find(words.begin(), words.end(), tag);
  BOOST_REQUIRE(found != words.end());
  const auto first = static_cast<std::size_t>(found - words.begin()) + 1 + 2;
  const std::uint64_t last_pointer = words[first + 3 * (n - 1)];
  BOOST_REQUIRE_EQUAL(last_pointer & 3, 1);
  for (unsigned i = 0; i + 1 < n; ++i)
    words[first + 3 * i] = last_pointer + (std::uint64_t{3 * (n - 1 - i)} << 2);
  message.header = copy(std::as_bytes(std::span(words)));
  BOOST_TEST(has(refusal(decode(message)), "traversal limit"));
}

BOOST_AUTO_TEST_CASE(bytes_after_the_header_are_refused) {
  const WireMessage message = encode({{}, PeerId(1), {}, Leave{}}, RunId(1));
  std::vector<std::byte> bytes(message.header.bytes().begin(), message.header.bytes().end());
  bytes.resize(bytes.size() + 8);
  BOOST_TEST(has(refusal(decode({.header = copy(bytes), .tensors = {}})), "after the end"));
  bytes.resize(bytes.size() - 1);
  BOOST_TEST(has(refusal(decode({.header = copy(bytes), .tensors = {}})), "cut short"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace convoy
