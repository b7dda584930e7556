// Why a connection cannot be had: each reason in words, with address and errno, once per change.
#define BOOST_TEST_MODULE transport_trouble

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "node/transport/endpoint.h"
#include "tests/net/transport_fixture.h"
#include "tests/support/plain_listener.h"

namespace convoy {
namespace {

using test::PlainListener;

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A port that nobody listens on, most likely.
std::string closed_address() {
  PlainListener listener;
  return listener.address();
}

TransportOptions quick(PeerId self) {
  TransportOptions options = dialling(self);
  options.failure_timeout = 1s;
  return options;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_port_that_is_taken_is_told_at_start) {
  RecordingSink sink;
  const auto first = must_start(listening(kMasterPeer), sink);
  const auto second = Transport::start(listening(kMasterPeer, first->bound_address()), sink);
  BOOST_REQUIRE(!second.ok());
  BOOST_TEST(says(second.error().message, first->bound_address()));
  BOOST_TEST(says(second.error().message, "errno 98"));
  BOOST_TEST(says(second.error().message, "another process listens"));
  BOOST_TEST((second.error().code == ErrorCode::kIo));
}

BOOST_AUTO_TEST_CASE(an_address_of_no_interface_is_told_at_start) {
  RecordingSink sink;
  const auto transport = Transport::start(listening(kMasterPeer, "192.0.2.77:5555"), sink);
  BOOST_REQUIRE(!transport.ok());
  BOOST_TEST(says(transport.error().message, "192.0.2.77:5555"));
  BOOST_TEST(says(transport.error().message, "errno 99"));
  BOOST_TEST(says(transport.error().message, "no interface of this machine"));
}

BOOST_AUTO_TEST_CASE(an_address_that_is_none_is_told_at_once) {
  RecordingSink sink;
  const auto transport = must_start(dialling(PeerId(7)), sink);
  for (const char* address : {"nonsense", "host:", "host:http", "host:65536", "::1:80", "[::1:80", ":80", "",
                              "a b:1", "host:-1", "host:0", "host:80 ", "[[::1]]:80", "a]:80"}) {
    const Result<void> connected = transport->connect(kMasterPeer, address);
    BOOST_TEST_CONTEXT(address) {
      BOOST_REQUIRE(!connected.ok());
      BOOST_TEST((connected.error().code == ErrorCode::kUsage));
      BOOST_TEST(says(connected.error().message, address));
    }
  }
  BOOST_TEST((transport->send(kMasterPeer, text_message("x")) == Sent::kUnknownPeer));
}

BOOST_AUTO_TEST_CASE(addresses_are_read_as_people_write_them) {
  const auto parsed = [](const char* text) { return parse_endpoint(text).value(); };
  BOOST_TEST((parsed("host:80") == Endpoint{"host", 80}));
  BOOST_TEST((parsed("10.0.0.1:0") == Endpoint{"10.0.0.1", 0}));
  BOOST_TEST((parsed("[::1]:65535") == Endpoint{"::1", 65535}));
  BOOST_TEST((parsed("[fe80::1%eth0]:5") == Endpoint{"fe80::1%eth0", 5}));
  for (const char* text : {"host:80", "[::1]:65535", "[fe80::1%eth0]:5"})
    BOOST_TEST(to_string(parsed(text)) == text);
}

BOOST_AUTO_TEST_CASE(a_refused_connection_is_told_with_errno) {
  RecordingSink sink;
  const auto transport = must_start(quick(PeerId(7)), sink);
  const std::string address = closed_address();
  BOOST_REQUIRE(transport->connect(kMasterPeer, address).ok());
  BOOST_REQUIRE(sink.wait_for_trouble(TroubleKind::kRefused));
  const std::string text = sink.text(TroubleKind::kRefused);
  BOOST_TEST(says(text, address));
  BOOST_TEST(says(text, "errno 111"));
  BOOST_TEST(says(text, "nobody listens there"));
}

BOOST_AUTO_TEST_CASE(a_name_that_nobody_knows_is_told) {
  RecordingSink sink;
  const auto transport = must_start(quick(PeerId(7)), sink);
  BOOST_REQUIRE(transport->connect(kMasterPeer, "no-such-host.invalid:5555").ok());
  // The transport serves others while a name server is waited for.
  RecordingSink at_listener;
  const auto listener = must_start(listening(PeerId(2)), at_listener);
  BOOST_REQUIRE(transport->connect(PeerId(2), listener->bound_address()).ok());
  BOOST_TEST(sink.wait_for_history(PeerId(2), "back"));
  BOOST_REQUIRE(sink.wait_for_trouble(TroubleKind::kNameNotFound));
  BOOST_TEST(says(sink.text(TroubleKind::kNameNotFound), "no-such-host.invalid"));
}

BOOST_AUTO_TEST_CASE(a_name_that_nobody_knows_is_told_at_start) {
  RecordingSink sink;
  const auto transport = Transport::start(listening(kMasterPeer, "no-such-host.invalid:0"), sink);
  BOOST_REQUIRE(!transport.ok());
  BOOST_TEST(says(transport.error().message, "no-such-host.invalid"));
}

BOOST_AUTO_TEST_CASE(a_link_local_address_without_its_interface_is_told) {
  RecordingSink sink;
  const auto transport = must_start(quick(PeerId(7)), sink);
  BOOST_REQUIRE(transport->connect(kMasterPeer, "[fe80::1]:5555").ok());
  BOOST_REQUIRE(sink.wait_for_trouble(TroubleKind::kUnreachable));
  BOOST_TEST(says(sink.text(TroubleKind::kUnreachable), "[fe80::1]:5555"));
  BOOST_TEST(says(sink.text(TroubleKind::kUnreachable), "errno"));
}

BOOST_AUTO_TEST_CASE(trouble_is_told_once_and_not_per_attempt) {
  PlainListener listener;
  RecordingSink sink;
  const auto transport = must_start(quick(PeerId(7)), sink);
  BOOST_REQUIRE(transport->connect(kMasterPeer, listener.address()).ok());
  constexpr int kAttempts = 5;
  for (int i = 0; i < kAttempts; ++i) ::close(listener.accept());
  BOOST_TEST(sink.wait_for_trouble(TroubleKind::kHandshake));
  BOOST_TEST(sink.count(TroubleKind::kHandshake) == 1u);
  BOOST_TEST(sink.all_troubles() == sink.text(TroubleKind::kHandshake) + "\n");
  BOOST_TEST(sink.history(kMasterPeer) == "");
}

BOOST_AUTO_TEST_CASE(somebody_who_accepts_and_says_nothing_is_told_as_no_answer) {
  PlainListener listener;
  RecordingSink sink;
  const auto transport = must_start(quick(PeerId(7)), sink);
  BOOST_REQUIRE(transport->connect(kMasterPeer, listener.address()).ok());
  const int silent = listener.accept();
  BOOST_REQUIRE(sink.wait([&] {
    return sink.count_unlocked(TroubleKind::kNoAnswer) + sink.count_unlocked(TroubleKind::kHandshake) > 0;
  }));
  BOOST_TEST(says(sink.all_troubles(), listener.address()));
  ::close(silent);
}

BOOST_AUTO_TEST_CASE(another_peer_than_the_one_dialled_is_told_and_gets_nothing) {
  RecordingSink at_listener;
  const auto listener = must_start(listening(PeerId(8)), at_listener);
  RecordingSink at_dialler;
  const auto dialler = must_start(quick(PeerId(7)), at_dialler);
  BOOST_REQUIRE(dialler->connect(PeerId(9), listener->bound_address()).ok());
  dialler->send(PeerId(9), text_message("for 9 alone"));
  BOOST_REQUIRE(at_dialler.wait_for_trouble(TroubleKind::kOtherPeer));
  BOOST_TEST(at_dialler.history(PeerId(9)) == "");
  // The right one takes the place: it gets the message, which the other did not.
  const std::string address = listener->bound_address();
  listener->close();
  BOOST_TEST(at_listener.arrivals().empty());
  RecordingSink at_right;
  const auto right = must_start(listening(PeerId(9), address), at_right);
  BOOST_REQUIRE(at_right.wait_for_arrivals(1));
  BOOST_TEST(text_of(at_right.arrivals()[0].frames[0]) == "for 9 alone");
}

BOOST_AUTO_TEST_CASE(trouble_after_a_loss_is_told_again) {
  RecordingSink sink;
  const auto transport = must_start(quick(PeerId(7)), sink);
  std::string address = closed_address();
  BOOST_REQUIRE(transport->connect(kMasterPeer, address).ok());
  BOOST_REQUIRE(sink.wait_for_trouble(TroubleKind::kRefused));
  RecordingSink at_listener;
  auto listener = must_start(listening(kMasterPeer, address), at_listener);
  BOOST_REQUIRE(sink.wait_for_history(kMasterPeer, "back"));
  listener->close();
  BOOST_REQUIRE(sink.wait_for_history(kMasterPeer, "back lost"));
  BOOST_TEST(sink.wait([&] { return sink.count_unlocked(TroubleKind::kRefused) == 2; }));
}

BOOST_AUTO_TEST_CASE(a_name_with_several_addresses_is_tried_at_each) {
  // Of localhost's addresses one may have no listener; the other is reached nevertheless.
  const Result<std::vector<NumericAddress>> addresses = resolve({"localhost", 1});
  BOOST_REQUIRE(addresses.ok());
  RecordingSink at_listener;
  const std::string last = addresses->back().text();
  const auto listener =
      must_start(listening(kMasterPeer, last.substr(0, last.rfind(':')) + ":0"), at_listener);
  const std::string bound = listener->bound_address();
  RecordingSink sink;
  const auto transport = must_start(quick(PeerId(7)), sink);
  BOOST_REQUIRE(transport->connect(kMasterPeer, "localhost" + bound.substr(bound.rfind(':'))).ok());
  BOOST_TEST(sink.wait_for_history(kMasterPeer, "back"));
}

BOOST_AUTO_TEST_CASE(closing_does_not_wait_for_a_name_server_or_a_silent_listener) {
  PlainListener listener;
  RecordingSink sink;
  const auto transport = must_start(quick(PeerId(7)), sink);
  BOOST_REQUIRE(transport->connect(kMasterPeer, "no-such-host.invalid:5555").ok());
  BOOST_REQUIRE(transport->connect(PeerId(2), listener.address()).ok());
  const int silent = listener.accept();
  const auto before = std::chrono::steady_clock::now();
  transport->close();
  BOOST_TEST((std::chrono::steady_clock::now() - before < std::chrono::seconds(3)));
  ::close(silent);
}

}  // namespace convoy
