// Messages between transports over real sockets: that they arrive whole, in order and uncopied, within
// bounds, and that peers which come and go are told.
#define BOOST_TEST_MODULE transport

#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "node/transport/happens_before.h"
#include "node/transport/hello.h"
#include "node/transport/zmq_socket.h"
#include "tests/net/transport_fixture.h"

namespace convoy {
namespace {

using SteadyClock = std::chrono::steady_clock;

boost::test_tools::assertion_result has_ipv6(boost::unit_test::test_unit_id /*id*/) {
  const int fd = ::socket(AF_INET6, SOCK_STREAM, 0);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  const bool has = fd >= 0 && ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  if (fd >= 0) ::close(fd);
  boost::test_tools::assertion_result result(has);
  if (!has) result.message() << "this machine has no ::1";
  return result;
}

// A buffer that tells when nobody refers to it any more.
struct Watched {
  explicit Watched(std::size_t size) : bytes(size, std::byte{1}) {}
  std::vector<std::byte> bytes;
};

class Release {
 public:
  Frame frame(std::size_t size) {
    std::shared_ptr<const Watched> owner(new Watched(size), [this](const Watched* w) {
      delete w;
      const std::lock_guard lock(mutex_);
      ++released_;
      changed_.notify_all();
    });
    const std::span<const std::byte> view(owner->bytes);
    return Frame(std::move(owner), view);
  }
  bool wait(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return released_ >= count; });
  }
  int released() {
    const std::lock_guard lock(mutex_);
    return released_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int released_ = 0;
};

void check_round_trip(Pair& pair) {
  BOOST_TEST((pair.dialler->send(kMasterPeer, {text_frame("ask"), pattern(100'000, 1)}) == Sent::kQueued));
  BOOST_REQUIRE(pair.at_listener.wait_for_arrivals(1));
  const Arrival asked = pair.at_listener.arrivals()[0];
  BOOST_TEST(asked.from == Pair::kDialler);
  BOOST_REQUIRE(asked.frames.size() == 2u);
  BOOST_TEST(text_of(asked.frames[0]) == "ask");
  BOOST_TEST((asked.frames[1] == pattern(100'000, 1)));

  BOOST_TEST(
      (pair.listener->send(Pair::kDialler, {text_frame("answer"), Frame(), pattern(3, 2)}) == Sent::kQueued));
  BOOST_REQUIRE(pair.at_dialler.wait_for_arrivals(1));
  const Arrival answered = pair.at_dialler.arrivals()[0];
  BOOST_TEST(answered.from == kMasterPeer);
  BOOST_REQUIRE(answered.frames.size() == 3u);
  BOOST_TEST(text_of(answered.frames[0]) == "answer");
  BOOST_TEST(answered.frames[1].empty());
  BOOST_TEST((answered.frames[2] == pattern(3, 2)));
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_question_and_its_answer_travel_over_ipv4) {
  Pair pair;
  BOOST_TEST(pair.listener->bound_address().starts_with("127.0.0.1:"));
  check_round_trip(pair);
}

BOOST_AUTO_TEST_CASE(a_question_and_its_answer_travel_over_ipv6, *boost::unit_test::precondition(has_ipv6)) {
  Pair pair("[::1]:0");
  BOOST_TEST(pair.listener->bound_address().starts_with("[::1]:"));
  check_round_trip(pair);
}

BOOST_AUTO_TEST_CASE(a_host_name_works_on_both_sides) {
  Pair pair("localhost:0");
  check_round_trip(pair);
  RecordingSink sink;
  const auto by_name = must_start(dialling(PeerId(8)), sink);
  const std::string bound = pair.listener->bound_address();
  BOOST_REQUIRE(by_name->connect(kMasterPeer, "localhost" + bound.substr(bound.rfind(':'))).ok());
  BOOST_TEST(sink.wait_for_history(kMasterPeer, "back"));
}

BOOST_AUTO_TEST_CASE(messages_arrive_in_order_with_all_their_frames_both_ways) {
  Pair pair;
  constexpr unsigned kCount = 2000;
  const auto message = [](unsigned i) {
    WireFrames frames{text_frame(std::to_string(i))};
    for (unsigned f = 0; f < i % 4; ++f) frames.push_back(pattern((i * 37 + f * 4001) % 20'000, i + f));
    return frames;
  };
  for (unsigned i = 0; i < kCount; ++i) {
    BOOST_REQUIRE((pair.dialler->send(kMasterPeer, message(i)) == Sent::kQueued));
    BOOST_REQUIRE((pair.listener->send(Pair::kDialler, message(i)) == Sent::kQueued));
  }
  for (RecordingSink* sink : {&pair.at_listener, &pair.at_dialler}) {
    BOOST_REQUIRE(sink->wait_for_arrivals(kCount));
    const std::vector<Arrival> arrivals = sink->arrivals();
    for (unsigned i = 0; i < kCount; ++i) BOOST_REQUIRE((arrivals[i].frames == message(i)));
  }
}

BOOST_AUTO_TEST_CASE(received_frames_are_aligned_to_eight_bytes) {
  Pair pair;
  for (std::size_t size : {1u, 9u, 513u, 5001u, 8192u, 8193u, 70'001u})
    pair.dialler->send(kMasterPeer, {text_frame("odd"), pattern(size, 0), pattern(size, 1)});
  BOOST_REQUIRE(pair.at_listener.wait_for_arrivals(7));
  for (const Arrival& arrival : pair.at_listener.arrivals())
    for (const Frame& frame : arrival.frames)
      BOOST_TEST(reinterpret_cast<std::uintptr_t>(frame.data()) % 8 == 0u);
}

BOOST_AUTO_TEST_CASE(zeromq_is_handed_the_very_bytes_of_a_frame_and_hands_on_its_own) {
  // In-process sockets pass a message on as it is, so that what arrives shows what was sent.
  const Context context;
  Result<Socket> a = Socket::open(context, ZMQ_PAIR);
  Result<Socket> b = Socket::open(context, ZMQ_PAIR);
  BOOST_REQUIRE((a.ok() && b.ok()));
  BOOST_REQUIRE(zmq_bind(a->get(), "inproc://bytes") == 0);
  BOOST_REQUIRE(zmq_connect(b->get(), "inproc://bytes") == 0);
  Release release;
  const std::byte* sent_at = nullptr;
  {
    const Frame big = release.frame(4 << 20);
    sent_at = big.data();
    BOOST_REQUIRE(send_frames(*a, {}, {text_frame("header"), big, text_frame("tail")}, nullptr));
  }
  BOOST_TEST(release.released() == 0);
  Received received;
  BOOST_REQUIRE(receive_frames(*b, false, received));
  BOOST_REQUIRE(received.frames.size() == 3u);
  const Frame copy = received.frames[1];
  received.frames.clear();
  if (!kCopyAllReceived) {
    BOOST_TEST(copy.data() == sent_at);
    BOOST_TEST(release.released() == 0);
  }
  BOOST_TEST((copy.bytes().back() == std::byte{1}));
}

BOOST_AUTO_TEST_CASE(a_four_megabyte_frame_is_released_when_it_has_left_and_not_before) {
  Pair pair;
  pair.at_listener.hold(true);
  Release release;
  constexpr int kCount = 10;
  for (int i = 0; i < kCount; ++i)
    BOOST_REQUIRE(
        (pair.dialler->send(kMasterPeer, {text_frame("push"), release.frame(4 << 20)}) == Sent::kQueued));
  pair.at_listener.hold(false);
  BOOST_REQUIRE(pair.at_listener.wait_for_arrivals(kCount));
  BOOST_TEST(release.wait(kCount));
  const std::vector<Arrival> arrivals = pair.at_listener.arrivals();
  for (const Arrival& arrival : arrivals) {
    BOOST_REQUIRE(arrival.frames[1].size() == std::size_t{4} << 20);
    BOOST_TEST((arrival.frames[1].bytes().back() == std::byte{1}));
  }
  BOOST_TEST(pair.dialler->counters().bytes_sent == kCount * ((std::uint64_t{4} << 20) + 4));
}

BOOST_AUTO_TEST_CASE(a_message_to_a_stranger_is_refused_and_counted) {
  Pair pair;
  BOOST_TEST((pair.listener->send(PeerId(99), text_message("who?")) == Sent::kUnknownPeer));
  BOOST_TEST((pair.dialler->send(PeerId(99), text_message("who?")) == Sent::kUnknownPeer));
  BOOST_TEST(pair.listener->counters().dropped_unknown == 1u);
  BOOST_TEST(pair.dialler->counters().dropped_unknown == 1u);
}

BOOST_AUTO_TEST_CASE(who_dials_before_the_listener_is_there_reaches_it_later) {
  std::string address;
  {
    RecordingSink nobody;
    address = must_start(listening(kMasterPeer), nobody)->bound_address();
  }
  RecordingSink at_dialler;
  const auto dialler = must_start(dialling(PeerId(7)), at_dialler);
  BOOST_REQUIRE(dialler->connect(kMasterPeer, address).ok());
  BOOST_TEST((dialler->send(kMasterPeer, text_message("early")) == Sent::kQueued));
  BOOST_REQUIRE(at_dialler.wait_for_trouble(TroubleKind::kRefused));
  RecordingSink at_listener;
  const auto listener = must_start(listening(kMasterPeer, address), at_listener);
  BOOST_REQUIRE(at_listener.wait_for_arrivals(1));
  BOOST_TEST(text_of(at_listener.arrivals()[0].frames[0]) == "early");
  BOOST_TEST(at_dialler.wait_for_history(kMasterPeer, "back"));
}

BOOST_AUTO_TEST_CASE(of_messages_to_a_peer_that_is_not_there_the_newest_are_kept) {
  std::string address;
  {
    RecordingSink nobody;
    address = must_start(listening(kMasterPeer), nobody)->bound_address();
  }
  RecordingSink at_dialler;
  const auto dialler = must_start(dialling(PeerId(7)), at_dialler);
  BOOST_REQUIRE(dialler->connect(kMasterPeer, address).ok());
  for (int i = 0; i < 1000; ++i) dialler->send(kMasterPeer, text_message(std::to_string(i)));
  BOOST_REQUIRE(at_dialler.wait_for_trouble(TroubleKind::kRefused));
  RecordingSink at_listener;
  const auto listener = must_start(listening(kMasterPeer, address), at_listener);
  BOOST_REQUIRE(at_listener.wait([&] { return at_listener.arrivals_unlocked() >= 64; }));
  const std::vector<Arrival> arrivals = at_listener.arrivals();
  BOOST_TEST(text_of(arrivals.front().frames[0]) == "936");
  BOOST_TEST(text_of(arrivals.back().frames[0]) == "999");
  BOOST_TEST(dialler->counters().dropped_disconnected == 936u);
}

BOOST_AUTO_TEST_CASE(a_dialler_comes_back_after_the_listener_restarts) {
  RecordingSink at_dialler;
  const auto dialler = must_start(dialling(PeerId(7)), at_dialler);
  std::string address = "127.0.0.1:0";
  std::string history;
  for (int life = 0; life < 4; ++life) {
    RecordingSink at_listener;
    const auto listener = must_start(listening(kMasterPeer, address), at_listener);
    if (life == 0) {
      address = listener->bound_address();
      BOOST_REQUIRE(dialler->connect(kMasterPeer, address).ok());
    }
    history += life == 0 ? "back" : " back";
    BOOST_REQUIRE(at_dialler.wait_for_history(kMasterPeer, history));
    dialler->send(kMasterPeer, text_message("life " + std::to_string(life)));
    BOOST_REQUIRE(at_listener.wait_for_arrivals(1));
    BOOST_TEST(text_of(at_listener.arrivals()[0].frames[0]) == "life " + std::to_string(life));
    listener->close();
    history += " lost";
    BOOST_REQUIRE(at_dialler.wait_for_history(kMasterPeer, history));
  }
}

BOOST_AUTO_TEST_CASE(what_was_sent_before_closing_arrives_before_the_loss_is_told) {
  Pair pair;
  constexpr std::size_t kCount = 100;
  for (std::size_t i = 0; i < kCount; ++i)
    pair.dialler->send(kMasterPeer, {text_frame("last words"), pattern(50'000, 1)});
  pair.dialler->close();
  BOOST_REQUIRE(pair.at_listener.wait_for_history(Pair::kDialler, "back lost"));
  BOOST_TEST(pair.at_listener.arrivals().size() == kCount);
  BOOST_TEST((pair.listener->send(Pair::kDialler, text_message("gone?")) == Sent::kUnknownPeer));
  BOOST_TEST((pair.dialler->send(kMasterPeer, text_message("after")) == Sent::kClosed));
}

BOOST_AUTO_TEST_CASE(a_peer_given_up_is_not_told_as_lost_here_but_there) {
  Pair pair;
  pair.dialler->send(kMasterPeer, text_message("bye"));
  pair.dialler->disconnect(kMasterPeer);
  BOOST_REQUIRE(pair.at_listener.wait_for_history(Pair::kDialler, "back lost"));
  BOOST_TEST(pair.at_listener.arrivals().size() == 1u);
  BOOST_TEST((pair.dialler->send(kMasterPeer, text_message("?")) == Sent::kUnknownPeer));
  BOOST_REQUIRE(pair.dialler->connect(kMasterPeer, pair.listener->bound_address()).ok());
  BOOST_REQUIRE(pair.at_dialler.wait_for_history(kMasterPeer, "back back"));
}

BOOST_AUTO_TEST_CASE(a_killed_process_is_told_as_lost_within_a_second) {
  RecordingSink sink;
  const auto listener = must_start(listening(kMasterPeer), sink);
  std::string address = listener->bound_address();
  std::string program = TRANSPORT_PEER;
  std::string id = "4711";
  char* const arguments[] = {program.data(), address.data(), id.data(), nullptr};
  pid_t child = 0;
  BOOST_REQUIRE(posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments, environ) == 0);
  const bool up = sink.wait_for_history(PeerId(4711), "back") && sink.wait_for_arrivals(1);
  const auto killed_at = SteadyClock::now();
  ::kill(child, SIGKILL);
  const bool told = sink.wait_for_history(PeerId(4711), "back lost");
  const auto took = SteadyClock::now() - killed_at;
  int status = 0;
  ::waitpid(child, &status, 0);
  BOOST_TEST(up);
  BOOST_TEST(told);
  BOOST_TEST((took < std::chrono::seconds(1)));
  BOOST_TEST((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
}

// Slow is not dead, and neither is frozen, as far as the transport goes: its system still answers. Roles have
// life signs of their own for that.
BOOST_AUTO_TEST_CASE(a_frozen_process_keeps_its_connection_until_it_dies) {
  RecordingSink sink;
  TransportOptions options = listening(kMasterPeer);
  options.failure_timeout = 1s;
  const auto listener = must_start(options, sink);
  std::string address = listener->bound_address();
  std::string program = TRANSPORT_PEER;
  std::string id = "4712";
  char* const arguments[] = {program.data(), address.data(), id.data(), nullptr};
  pid_t child = 0;
  BOOST_REQUIRE(posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments, environ) == 0);
  const bool up = sink.wait_for_history(PeerId(4712), "back");
  ::kill(child, SIGSTOP);
  const Sent sent = listener->send(PeerId(4712), {Frame::copy_of(std::as_bytes(std::span("are you there")))});
  ::kill(child, SIGKILL);
  const bool told = sink.wait_for_history(PeerId(4712), "back lost");
  ::waitpid(child, nullptr, 0);
  BOOST_TEST(up);
  BOOST_TEST((sent == Sent::kQueued));
  BOOST_TEST(told);
}

BOOST_AUTO_TEST_CASE(many_peers_share_one_listener) {
  constexpr std::uint64_t kPeers = 60;
  RecordingSink at_listener;
  const auto listener = must_start(listening(kMasterPeer), at_listener);
  std::vector<std::unique_ptr<RecordingSink>> sinks;
  std::vector<std::unique_ptr<Transport>> diallers;
  for (std::uint64_t i = 0; i < kPeers; ++i) {
    sinks.push_back(std::make_unique<RecordingSink>());
    diallers.push_back(must_start(dialling(PeerId(100 + i)), *sinks.back()));
    BOOST_REQUIRE(diallers.back()->connect(kMasterPeer, listener->bound_address()).ok());
    diallers.back()->send(kMasterPeer, text_message("from " + std::to_string(100 + i)));
  }
  BOOST_REQUIRE(at_listener.wait_for_arrivals(kPeers));
  for (const Arrival& arrival : at_listener.arrivals()) {
    BOOST_TEST(text_of(arrival.frames[0]) == "from " + std::to_string(arrival.from.value));
    BOOST_REQUIRE(
        (listener->send(arrival.from, text_message(std::to_string(arrival.from.value))) == Sent::kQueued));
  }
  for (std::uint64_t i = 0; i < kPeers; ++i) {
    BOOST_REQUIRE(sinks[i]->wait_for_arrivals(1));
    BOOST_TEST(text_of(sinks[i]->arrivals()[0].frames[0]) == std::to_string(100 + i));
  }
  for (std::uint64_t i = 0; i < kPeers; i += 2) diallers[i]->close();
  for (std::uint64_t i = 0; i < kPeers; i += 2)
    BOOST_TEST(at_listener.wait_for_history(PeerId(100 + i), "back lost"));
  for (std::uint64_t i = 1; i < kPeers; i += 2) BOOST_TEST(at_listener.history(PeerId(100 + i)) == "back");
}

BOOST_AUTO_TEST_CASE(a_second_connection_of_the_same_peer_replaces_the_first) {
  Pair pair;
  RecordingSink at_second;
  const auto second = must_start(dialling(Pair::kDialler), at_second);
  BOOST_REQUIRE(second->connect(kMasterPeer, pair.listener->bound_address()).ok());
  // The listener answers the second before it tells of it. ZeroMQ leaves the first connection open, unheard.
  BOOST_REQUIRE(at_second.wait_for_history(kMasterPeer, "back"));
  BOOST_REQUIRE(pair.at_listener.wait_for_history(Pair::kDialler, "back lost back"));
  BOOST_REQUIRE((pair.listener->send(Pair::kDialler, text_message("to the second")) == Sent::kQueued));
  BOOST_TEST(at_second.wait_for_arrivals(1));
  BOOST_TEST(pair.at_dialler.arrivals().empty());
}

BOOST_AUTO_TEST_CASE(dialling_again_what_is_dialled_leaves_the_connection_alone) {
  Pair pair;
  BOOST_REQUIRE(pair.dialler->connect(kMasterPeer, pair.listener->bound_address()).ok());
  BOOST_REQUIRE((pair.dialler->send(kMasterPeer, text_message("still here")) == Sent::kQueued));
  BOOST_REQUIRE(pair.at_listener.wait_for_arrivals(1));
  BOOST_TEST(pair.at_listener.history(Pair::kDialler) == "back");
  BOOST_TEST(pair.at_dialler.history(kMasterPeer) == "back");
}

BOOST_AUTO_TEST_CASE(two_peers_that_dial_each_other_count_as_one_connection) {
  RecordingSink at_a;
  RecordingSink at_b;
  const auto a = must_start(listening(PeerId(10)), at_a);
  const auto b = must_start(listening(PeerId(11)), at_b);
  BOOST_REQUIRE(a->connect(PeerId(11), b->bound_address()).ok());
  BOOST_REQUIRE(at_b.wait_for_history(PeerId(10), "back"));
  BOOST_REQUIRE(at_a.wait_for_history(PeerId(11), "back"));
  BOOST_REQUIRE(b->connect(PeerId(10), a->bound_address()).ok());
  for (int i = 0; i < 100; ++i) {
    BOOST_REQUIRE((a->send(PeerId(11), text_message("a")) == Sent::kQueued));
    BOOST_REQUIRE((b->send(PeerId(10), text_message("b")) == Sent::kQueued));
  }
  BOOST_TEST(at_a.wait_for_arrivals(100));
  BOOST_TEST(at_b.wait_for_arrivals(100));
  BOOST_TEST(at_a.history(PeerId(11)) == "back");
  BOOST_TEST(at_b.history(PeerId(10)) == "back");
  b->close();
  BOOST_TEST(at_a.wait_for_history(PeerId(11), "back lost"));
}

BOOST_AUTO_TEST_CASE(a_flood_at_a_peer_that_does_not_read_stays_within_bounds) {
  constexpr std::size_t kFrame = 1 << 20;
  constexpr std::size_t kBound = 8 * kFrame + kFrame / 2;
  RecordingSink at_listener;
  RecordingSink at_dialler;
  TransportOptions slow = listening(kMasterPeer);
  slow.failure_timeout = 120s;
  const auto listener = must_start(slow, at_listener);
  TransportOptions fast = dialling(PeerId(7));
  fast.failure_timeout = 120s;
  fast.max_outstanding_bytes = kBound;
  const auto dialler = must_start(fast, at_dialler);
  BOOST_REQUIRE(dialler->connect(kMasterPeer, listener->bound_address()).ok());
  BOOST_REQUIRE(at_dialler.wait_for_history(kMasterPeer, "back"));

  at_listener.hold(true);
  const Frame payload = pattern(kFrame, 1);
  std::size_t queued = 0;
  std::size_t full = 0;
  const auto deadline = SteadyClock::now() + kPatience;
  // Full for good once the queues of both systems are full as well; a hundred refusals in a row say so.
  for (int refused_in_a_row = 0; refused_in_a_row < 100 && SteadyClock::now() < deadline;) {
    const Sent sent = dialler->send(kMasterPeer, {text_frame("flood"), payload});
    BOOST_REQUIRE((sent == Sent::kQueued || sent == Sent::kFull));
    queued += sent == Sent::kQueued ? 1 : 0;
    full += sent == Sent::kFull ? 1 : 0;
    refused_in_a_row = sent == Sent::kFull ? refused_in_a_row + 1 : 0;
    BOOST_REQUIRE(dialler->counters().outstanding_bytes <= kBound);
    if (sent == Sent::kFull) std::this_thread::yield();
  }
  BOOST_TEST(full >= 100u);
  BOOST_TEST(dialler->counters().dropped_full == full);
  at_listener.hold(false);
  // Nothing that was accepted is missing, and everything accepted leaves the accounts.
  BOOST_TEST(at_listener.wait_for_arrivals(queued));
  BOOST_REQUIRE((dialler->send(kMasterPeer, text_message("more")) == Sent::kQueued));
  BOOST_TEST(at_listener.wait_for_arrivals(queued + 1));
  BOOST_TEST(at_listener.arrivals().size() == queued + 1);
}

BOOST_AUTO_TEST_CASE(closing_while_everybody_sends_ends_in_time) {
  Pair pair;
  std::atomic<bool> stop{false};
  const auto pump = [&stop](Transport& transport, PeerId to) {
    const Frame payload = pattern(300'000, 3);
    while (!stop.load()) {
      const Sent sent = transport.send(to, {text_frame("busy"), payload});
      if (sent == Sent::kClosed) return;
      if (sent == Sent::kFull) std::this_thread::yield();
    }
  };
  std::thread up([&] { pump(*pair.dialler, kMasterPeer); });
  std::thread down([&] { pump(*pair.listener, Pair::kDialler); });
  BOOST_TEST(pair.at_listener.wait_for_arrivals(20));
  BOOST_TEST(pair.at_dialler.wait_for_arrivals(20));
  const auto before = SteadyClock::now();
  pair.dialler->close();
  pair.listener->close();
  const auto took = SteadyClock::now() - before;
  stop = true;
  up.join();
  down.join();
  BOOST_TEST((took < std::chrono::seconds(5)));
  BOOST_TEST((pair.dialler->send(kMasterPeer, text_message("late")) == Sent::kClosed));
}

BOOST_AUTO_TEST_CASE(closing_does_not_wait_longer_than_linger_for_a_peer_that_does_not_read) {
  Pair pair;
  pair.at_listener.hold(true);
  const Frame payload = pattern(1 << 20, 3);
  for (int i = 0; i < 900; ++i) pair.dialler->send(kMasterPeer, {text_frame("stuck"), payload});
  const auto before = SteadyClock::now();
  pair.dialler->close();
  const auto took = SteadyClock::now() - before;
  pair.at_listener.hold(false);
  BOOST_TEST((took >= std::chrono::milliseconds(400)));
  BOOST_TEST((took < std::chrono::seconds(5)));
  BOOST_TEST(pair.dialler->counters().outstanding_bytes == 0u);
}

BOOST_AUTO_TEST_CASE(a_frame_beyond_the_limit_ends_its_connection_and_no_other) {
  RecordingSink at_listener;
  TransportOptions options = listening(kMasterPeer);
  options.max_frame_bytes = 1 << 20;
  const auto listener = must_start(options, at_listener);
  RecordingSink at_good;
  RecordingSink at_bad;
  const auto good = must_start(dialling(PeerId(7)), at_good);
  const auto bad = must_start(dialling(PeerId(8)), at_bad);
  BOOST_REQUIRE(good->connect(kMasterPeer, listener->bound_address()).ok());
  BOOST_REQUIRE(bad->connect(kMasterPeer, listener->bound_address()).ok());
  BOOST_REQUIRE(at_listener.wait_for_history(PeerId(7), "back"));
  BOOST_REQUIRE(at_listener.wait_for_history(PeerId(8), "back"));
  bad->send(kMasterPeer, {text_frame("too much"), pattern((1 << 20) + 1, 0)});
  BOOST_REQUIRE(at_bad.wait_for_history(kMasterPeer, "back lost back"));
  good->send(kMasterPeer, {text_frame("just right"), pattern(1 << 20, 0)});
  BOOST_REQUIRE(at_listener.wait_for_arrivals(1));
  BOOST_TEST(at_listener.arrivals()[0].from == PeerId(7));
  BOOST_TEST(at_listener.history(PeerId(7)) == "back");
}

BOOST_AUTO_TEST_CASE(what_is_no_transport_is_counted_and_harms_nobody) {
  Pair pair;
  const Context context;
  const auto raw = [&](std::string_view id) {
    Result<Socket> socket = Socket::open(context, ZMQ_DEALER);
    BOOST_REQUIRE(socket.ok());
    if (!id.empty()) socket->set(ZMQ_ROUTING_ID, id);
    socket->set(ZMQ_LINGER, 1000);
    BOOST_REQUIRE(zmq_connect(socket->get(), ("tcp://" + pair.listener->bound_address()).c_str()) == 0);
    return std::move(*socket);
  };
  const Socket anonymous = raw("");
  const Socket named = raw("Cxxxxxxxx");
  const Socket liar = raw("Cyyyyyyyy");
  BOOST_REQUIRE(zmq_send(anonymous.get(), "hello?", 6, 0) == 6);
  BOOST_REQUIRE(zmq_send(named.get(), "hello?", 6, 0) == 6);
  BOOST_REQUIRE(send_frames(liar, {}, encode_hello({false, Pair::kDialler, kMasterPeer}), nullptr));
  BOOST_REQUIRE(pair.at_listener.wait_for_trouble(TroubleKind::kBadMessage));
  // All three were read once an answer to a later question of each is impossible to miss: ask by a good peer.
  const auto deadline = SteadyClock::now() + kPatience;
  while (pair.listener->counters().bad_messages < 3 && SteadyClock::now() < deadline) {
    pair.at_listener.forget_arrivals();
    pair.dialler->send(kMasterPeer, text_message("still there?"));
    BOOST_REQUIRE(pair.at_listener.wait_for_arrivals(1));
  }
  BOOST_TEST(pair.listener->counters().bad_messages == 3u);
  BOOST_TEST(pair.at_listener.history(Pair::kDialler) == "back");
  BOOST_TEST((pair.listener->send(Pair::kDialler, text_message("yes")) == Sent::kQueued));
  BOOST_TEST(pair.at_dialler.wait_for_arrivals(1));
}

BOOST_AUTO_TEST_CASE(greetings_survive_their_encoding_and_nonsense_is_refused) {
  const TransportHello hello{true, PeerId(0x0123456789abcdef), PeerId(~0ull)};
  const WireFrames frames = encode_hello(hello);
  BOOST_REQUIRE(is_hello(frames));
  BOOST_REQUIRE(decode_hello(frames).ok());
  BOOST_TEST((*decode_hello(frames) == hello));
  for (std::size_t size = 0; size < frames[1].size(); ++size)
    BOOST_TEST(!decode_hello({Frame(), Frame::copy_of(frames[1].bytes().first(size))}).ok());
  std::vector<std::byte> other(frames[1].bytes().begin(), frames[1].bytes().end());
  other[4] = std::byte{9};
  const auto refused = decode_hello({Frame(), Frame::of(other)});
  BOOST_REQUIRE(!refused.ok());
  BOOST_TEST(refused.error().message.find("version 9") != std::string::npos);
  BOOST_TEST((peer_of_routing_id(routing_id(PeerId(77))) == PeerId(77)));
  BOOST_TEST(!peer_of_routing_id("X12345678").has_value());
  BOOST_TEST(!peer_of_routing_id("C1234567").has_value());
}

}  // namespace convoy
