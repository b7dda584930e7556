#include "node/transport/link_bench.h"

#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "node/transport/transport.h"
#include "node/transport/zmq_socket.h"

namespace convoy {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr PeerId kParent = kMasterPeer;
constexpr PeerId kChild{2};
constexpr std::size_t kPiece = 256 << 10;       // tensor frames are this large in a run
constexpr std::size_t kWindowBytes = 64 << 20;  // in flight, one way
constexpr std::size_t kWindowMessages = 4096;
constexpr auto kPatience = std::chrono::seconds(60);

enum class Op : std::uint8_t { kEcho, kStream, kPush, kPull, kAck, kEnd };

struct Head {
  Op op = Op::kEcho;
  std::uint8_t unused[3]{};
  std::uint32_t ack_every = 0;  // of a stream; 0: no answer
  std::uint64_t bytes = 0;      // that a pull asks for
};

Frame frame_of(const Head& head) {
  std::vector<std::byte> bytes(sizeof head);
  std::memcpy(bytes.data(), &head, sizeof head);
  return Frame::of(std::move(bytes));
}

std::optional<Head> head_of(const WireFrames& frames) {
  if (frames.empty() || frames[0].size() != sizeof(Head)) return std::nullopt;
  Head head;
  std::memcpy(&head, frames[0].data(), sizeof head);
  return head;
}

// Hands messages from the transport's thread to the one that works, as a node does.
class Inbox final : public TransportSink {
 public:
  void received(PeerId /*from*/, WireFrames frames) override {
    const std::lock_guard lock(mutex_);
    messages_.push_back(std::move(frames));
    changed_.notify_one();
  }
  void peer_back(PeerId /*peer*/) override {
    const std::lock_guard lock(mutex_);
    connected_ = true;
    changed_.notify_one();
  }
  void peer_lost(PeerId /*peer*/) override {
    const std::lock_guard lock(mutex_);
    gone_ = true;
    changed_.notify_one();
  }
  void trouble(const Trouble& /*trouble*/) override {}

  bool wait_connected() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [this] { return connected_ || gone_; }) && !gone_;
  }
  std::optional<WireFrames> next() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kPatience, [this] { return !messages_.empty() || gone_; }))
      return std::nullopt;
    if (messages_.empty()) return std::nullopt;
    WireFrames frames = std::move(messages_.front());
    messages_.pop_front();
    return frames;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<WireFrames> messages_;
  bool connected_ = false;
  bool gone_ = false;
};

std::shared_ptr<std::vector<float>> floats(std::size_t bytes) {
  return std::make_shared<std::vector<float>>((bytes + 3) / 4, 1.0f);
}

Frame whole(const std::shared_ptr<std::vector<float>>& buffer, std::size_t bytes) {
  return Frame(buffer, std::as_bytes(std::span(*buffer)).first(bytes));
}

void append_pieces(WireFrames& frames, const std::shared_ptr<std::vector<float>>& buffer, std::size_t bytes) {
  const std::span<const std::byte> all = std::as_bytes(std::span(*buffer)).first(bytes);
  for (std::size_t at = 0; at < bytes; at += kPiece)
    frames.emplace_back(buffer, all.subspan(at, std::min(kPiece, bytes - at)));
}

void add(std::vector<float>& sum, const WireFrames& frames) {
  float* to = sum.data();
  for (std::size_t f = 1; f < frames.size(); ++f) {
    const auto* from = reinterpret_cast<const float*>(frames[f].data());
    const std::size_t count = frames[f].size() / sizeof(float);
    for (std::size_t i = 0; i < count; ++i) to[i] += from[i];
    to += count;
  }
}

double since(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The plain ZeroMQ program: a header and a payload frame by DEALER sockets, sent without a copy.
void never_free(void* /*data*/, void* /*hint*/) {}

bool raw_send(void* socket, const Head& head, std::vector<float>* payload, std::size_t bytes) {
  if (zmq_send(socket, &head, sizeof head, payload != nullptr ? ZMQ_SNDMORE : 0) < 0) return false;
  if (payload == nullptr) return true;
  zmq_msg_t message;
  zmq_msg_init_data(&message, payload->data(), bytes, never_free, nullptr);
  return zmq_msg_send(&message, socket, 0) >= 0;
}

bool raw_receive(void* socket, Head& head) {
  bool first = true;
  for (bool more = true; more; first = false) {
    zmq_msg_t message;
    zmq_msg_init(&message);
    if (zmq_msg_recv(&message, socket, 0) < 0) return false;
    if (first && zmq_msg_size(&message) == sizeof head)
      std::memcpy(&head, zmq_msg_data(&message), sizeof head);
    more = zmq_msg_more(&message) != 0;
    zmq_msg_close(&message);
  }
  return true;
}

void raw_child(const std::string& endpoint) {
  const Context context;
  Result<Socket> socket = Socket::open(context, ZMQ_DEALER);
  if (!socket || zmq_connect(socket->get(), endpoint.c_str()) != 0) return;
  socket->set(ZMQ_LINGER, 1000);
  std::uint32_t count = 0;
  for (Head head; raw_receive(socket->get(), head) && head.op != Op::kEnd;)
    if (++count; head.ack_every != 0 && count % head.ack_every == 0)
      raw_send(socket->get(), Head{.op = Op::kAck}, nullptr, 0);
}

struct Plan {
  std::size_t messages;  // of a one-way run
  std::size_t window;
  std::size_t rounds;  // of the rest, for each repeat
  static Plan of(std::size_t bytes) {
    const std::size_t size = bytes + 1;
    return {std::clamp<std::size_t>((std::size_t{800} << 20) / size, 16, 200'000),
            std::clamp<std::size_t>(kWindowBytes / size, 2, kWindowMessages),
            std::clamp<std::size_t>((std::size_t{100} << 20) / size, 3, 500)};
  }
};

class Bench {
 public:
  explicit Bench(const LinkBenchOptions& options) : options_(options) {}

  ~Bench() {
    if (transport_) transport_->send(kChild, {frame_of({.op = Op::kEnd})});
    if (raw_) raw_send(raw_.get(), Head{.op = Op::kEnd}, nullptr, 0);
    if (transport_) transport_->close();
    if (child_ <= 0) return;
    if (failed_) ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

  Result<void> start() {
    TransportOptions transport_options;
    transport_options.self = kParent;
    transport_options.bind = "127.0.0.1:0";
    Result<std::unique_ptr<Transport>> transport = Transport::start(transport_options, inbox_);
    if (!transport) return transport.error();
    transport_ = std::move(*transport);

    Result<Socket> raw = Socket::open(raw_context_, ZMQ_DEALER);
    if (!raw) return raw.error();
    raw_ = std::move(*raw);
    raw_.set(ZMQ_LINGER, 1000);
    raw_.set(ZMQ_RCVTIMEO, static_cast<int>(std::chrono::milliseconds(kPatience).count()));
    raw_.set(ZMQ_SNDTIMEO, static_cast<int>(std::chrono::milliseconds(kPatience).count()));
    if (zmq_bind(raw_.get(), "tcp://127.0.0.1:*") != 0)
      return Error{ErrorCode::kIo, std::string("cannot listen on 127.0.0.1: ") + zmq_strerror(errno)};

    std::vector<std::string> command = options_.child_command;
    command.push_back(transport_->bound_address());
    command.push_back(raw_.last_endpoint());
    std::vector<char*> arguments;
    for (std::string& argument : command) arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    if (const int error = posix_spawn(&child_, arguments[0], nullptr, nullptr, arguments.data(), environ);
        error != 0)
      return Error{ErrorCode::kIo, "cannot start " + command[0] + ": " + std::strerror(error)};
    if (!inbox_.wait_connected()) return lost();
    return {};
  }

  Result<LinkFigures> measure(std::size_t bytes) {
    const Plan plan = Plan::of(bytes);
    const auto payload = floats(bytes);
    LinkFigures figures;
    figures.bytes = bytes;
    std::vector<double> push, pull, round_trip, one_way, raw, ratio;
    for (int repeat = -1; repeat < options_.repeats; ++repeat) {  // the first warms up
      const auto through = stream(payload, bytes, plan);
      const auto plain = raw_stream(*payload, bytes, plan);
      const auto echo =
          timed(plan.rounds, {.op = Op::kEcho}, [&](WireFrames& m) { m.push_back(whole(payload, bytes)); });
      const auto pushed =
          timed(plan.rounds, {.op = Op::kPush}, [&](WireFrames& m) { append_pieces(m, payload, bytes); });
      const auto pulled = timed(plan.rounds, {.op = Op::kPull, .bytes = bytes}, [](WireFrames&) {});
      if (!through || !plain || !echo || !pushed || !pulled) return lost();
      if (repeat < 0) continue;
      one_way.push_back(*through);
      raw.push_back(*plain);
      ratio.push_back(*through / *plain);
      round_trip.push_back(*echo * 1e6);
      push.push_back(*pushed * 1e3);
      pull.push_back(*pulled * 1e3);
    }
    figures.push_ms = median(push);
    figures.pull_ms = median(pull);
    figures.roundtrip_us = median(round_trip);
    figures.one_way_gbps = median(one_way);
    figures.raw_zmq_gbps = median(raw);
    figures.one_way_ratio = median(ratio);
    return figures;
  }

 private:
  Error lost() {
    failed_ = true;
    return Error{ErrorCode::kIo, "the other process of the measurement does not answer"};
  }

  // Median seconds of a question and its answer.
  template <class Fill>
  std::optional<double> timed(std::size_t rounds, const Head& head, Fill fill) {
    std::vector<double> times;
    for (std::size_t i = 0; i < rounds; ++i) {
      WireFrames message{frame_of(head)};
      fill(message);
      const auto start = SteadyClock::now();
      if (transport_->send(kChild, std::move(message)) != Sent::kQueued || !inbox_.next())
        return std::nullopt;
      times.push_back(since(start));
    }
    return median(times);
  }

  static std::uint32_t ack_every(const Plan& plan) {
    return static_cast<std::uint32_t>(std::max<std::size_t>(1, plan.window / 2));
  }

  static double gigabits(std::size_t messages, std::size_t bytes, double seconds) {
    return static_cast<double>(messages) * static_cast<double>(bytes) * 8e-9 / seconds;
  }

  std::optional<double> stream(const std::shared_ptr<std::vector<float>>& payload, std::size_t bytes,
                               const Plan& plan) {
    const std::uint32_t every = ack_every(plan);
    const std::size_t messages = plan.messages / every * every;
    const Frame head = frame_of({.op = Op::kStream, .ack_every = every});
    const auto start = SteadyClock::now();
    std::size_t acked = 0;
    for (std::size_t sent = 0; sent < messages; ++sent) {
      for (; sent - acked >= plan.window; acked += every)
        if (!inbox_.next()) return std::nullopt;
      if (transport_->send(kChild, {head, whole(payload, bytes)}) != Sent::kQueued) return std::nullopt;
    }
    for (; acked < messages; acked += every)
      if (!inbox_.next()) return std::nullopt;
    return gigabits(messages, bytes, since(start));
  }

  std::optional<double> raw_stream(std::vector<float>& payload, std::size_t bytes, const Plan& plan) {
    // A plain program leaves it to ZeroMQ to hold back, and asks for one answer at the end.
    const std::uint32_t every = ack_every(plan);
    const std::size_t messages = plan.messages / every * every;
    const auto start = SteadyClock::now();
    for (std::size_t sent = 0; sent < messages; ++sent)
      if (!raw_send(raw_.get(), {.op = Op::kStream, .ack_every = every}, &payload, bytes))
        return std::nullopt;
    Head ack;
    for (std::size_t acked = 0; acked < messages; acked += every)
      if (!raw_receive(raw_.get(), ack)) return std::nullopt;
    return gigabits(messages, bytes, since(start));
  }

  const LinkBenchOptions& options_;
  Inbox inbox_;
  std::unique_ptr<Transport> transport_;
  Context raw_context_;
  Socket raw_;
  pid_t child_ = 0;
  bool failed_ = false;
};

}  // namespace

Result<std::vector<LinkFigures>> run_link_bench(const LinkBenchOptions& options) {
  if (options.child_command.empty() || options.repeats < 1)
    return Error{ErrorCode::kUsage, "bench link needs at least one repeat and a program for the other half"};
  Bench bench(options);
  if (const Result<void> started = bench.start(); !started) return started.error();
  std::vector<LinkFigures> all;
  for (const std::size_t bytes : options.sizes) {
    Result<LinkFigures> figures = bench.measure(bytes);
    if (!figures) return figures.error();
    all.push_back(*figures);
  }
  return all;
}

int link_bench_child(const std::vector<std::string>& arguments) {
  if (arguments.size() != 2) return 2;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Inbox inbox;
  TransportOptions options;
  options.self = kChild;
  const Result<std::unique_ptr<Transport>> transport = Transport::start(options, inbox);
  if (!transport || !(*transport)->connect(kParent, arguments[0])) return 1;
  std::thread raw(raw_child, arguments[1]);
  std::shared_ptr<std::vector<float>> sum = floats(0);
  std::uint32_t streamed = 0;
  bool ended = false;
  while (!ended) {
    std::optional<WireFrames> message = inbox.next();
    if (!message) break;
    const std::optional<Head> head = head_of(*message);
    if (!head) continue;
    WireFrames answer{frame_of({.op = Op::kAck})};
    switch (head->op) {
      case Op::kEcho:
        answer.insert(answer.end(), message->begin() + 1, message->end());
        break;
      case Op::kStream:
        if (head->ack_every == 0 || ++streamed % head->ack_every != 0) continue;
        break;
      case Op::kPush: {
        std::size_t bytes = 0;
        for (std::size_t f = 1; f < message->size(); ++f) bytes += (*message)[f].size();
        if (sum->size() * sizeof(float) < bytes) sum = floats(bytes);
        add(*sum, *message);
        break;
      }
      case Op::kPull:
        if (sum->size() * sizeof(float) < head->bytes) sum = floats(head->bytes);
        append_pieces(answer, sum, head->bytes);
        break;
      case Op::kAck:
        continue;
      case Op::kEnd:
        ended = true;
        continue;
    }
    message.reset();
    (*transport)->send(kParent, std::move(answer));
  }
  (*transport)->close();
  if (!ended) _exit(1);  // the plain half may wait for ever
  raw.join();
  return 0;
}

}  // namespace convoy
