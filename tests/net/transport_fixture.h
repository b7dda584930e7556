// What the transport's tests share: a sink that records and can be waited for, and messages to send.
#pragma once

#include <boost/test/unit_test.hpp>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "node/transport/transport.h"

namespace convoy {

// Long enough for a loaded machine under a sanitizer; a test that reaches it fails.
inline constexpr auto kPatience = std::chrono::seconds(20);

struct Arrival {
  PeerId from;
  WireFrames frames;
};

class RecordingSink : public TransportSink {
 public:
  void received(PeerId from, WireFrames frames) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !held_; });
    arrivals_.push_back({from, std::move(frames)});
    changed_.notify_all();
  }
  void peer_back(PeerId peer) override { note(peer, "back"); }
  void peer_lost(PeerId peer) override { note(peer, "lost"); }
  void trouble(const Trouble& trouble) override {
    const std::lock_guard lock(mutex_);
    troubles_.push_back(trouble);
    changed_.notify_all();
  }

  // False when it did not happen in time. `holds` runs under the lock and may use the *_unlocked members.
  bool wait(const std::function<bool()>& holds) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, holds);
  }
  bool wait_for_arrivals(std::size_t count) {
    return wait([this, count] { return arrivals_.size() >= count; });
  }
  // "back", "back lost", "back lost back", ...
  bool wait_for_history(PeerId peer, const std::string& history) {
    return wait([this, peer, history] { return histories_[peer] == history; });
  }
  bool wait_for_trouble(TroubleKind kind) {
    return wait([this, kind] { return count_unlocked(kind) > 0; });
  }

  // While held, received() waits: a reader that does not read.
  void hold(bool held) {
    const std::lock_guard lock(mutex_);
    held_ = held;
    changed_.notify_all();
  }

  std::vector<Arrival> arrivals() {
    const std::lock_guard lock(mutex_);
    return arrivals_;
  }
  void forget_arrivals() {
    const std::lock_guard lock(mutex_);
    arrivals_.clear();
  }
  std::string history(PeerId peer) {
    const std::lock_guard lock(mutex_);
    return histories_[peer];
  }
  std::size_t count(TroubleKind kind) {
    const std::lock_guard lock(mutex_);
    return count_unlocked(kind);
  }
  // The text of the first trouble of this kind; empty when there is none.
  std::string text(TroubleKind kind) {
    const std::lock_guard lock(mutex_);
    for (const Trouble& t : troubles_)
      if (t.kind == kind) return t.text;
    return {};
  }
  std::string all_troubles() {
    const std::lock_guard lock(mutex_);
    std::string all;
    for (const Trouble& t : troubles_) all += t.text + "\n";
    return all;
  }

  std::size_t arrivals_unlocked() const { return arrivals_.size(); }
  std::size_t count_unlocked(TroubleKind kind) const {
    std::size_t n = 0;
    for (const Trouble& t : troubles_) n += t.kind == kind ? 1 : 0;
    return n;
  }

 private:
  void note(PeerId peer, const char* what) {
    const std::lock_guard lock(mutex_);
    std::string& history = histories_[peer];
    history += (history.empty() ? "" : " ") + std::string(what);
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;
  std::vector<Arrival> arrivals_;
  std::map<PeerId, std::string> histories_;
  std::vector<Trouble> troubles_;
};

inline Frame text_frame(const std::string& text) {
  return Frame::copy_of(std::as_bytes(std::span(text)));
}
inline std::string text_of(const Frame& frame) {
  return std::string(reinterpret_cast<const char*>(frame.data()), frame.size());
}
inline WireFrames text_message(const std::string& text) {
  return {text_frame(text)};
}
// Bytes that differ from frame to frame and place to place.
inline Frame pattern(std::size_t size, unsigned seed) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>((i * 31 + i / 256 + seed) & 0xff);
  return Frame::of(std::move(bytes));
}

inline TransportOptions listening(PeerId self, const std::string& address = "127.0.0.1:0") {
  TransportOptions options;
  options.self = self;
  options.bind = address;
  return options;
}
inline TransportOptions dialling(PeerId self) {
  TransportOptions options;
  options.self = self;
  return options;
}

inline std::unique_ptr<Transport> must_start(TransportOptions options, TransportSink& sink) {
  Result<std::unique_ptr<Transport>> transport = Transport::start(std::move(options), sink);
  BOOST_REQUIRE_MESSAGE(transport.ok(), (transport.ok() ? std::string() : transport.error().message));
  return std::move(*transport);
}

// A listener (kMasterPeer) and a dialler (peer 7) that is connected to it.
struct Pair {
  static constexpr PeerId kDialler{7};

  explicit Pair(const std::string& address = "127.0.0.1:0")
      : listener(must_start(listening(kMasterPeer, address), at_listener)),
        dialler(must_start(dialling(kDialler), at_dialler)) {
    BOOST_REQUIRE(dialler->connect(kMasterPeer, listener->bound_address()).ok());
    BOOST_REQUIRE(at_dialler.wait_for_history(kMasterPeer, "back"));
    BOOST_REQUIRE(at_listener.wait_for_history(kDialler, "back"));
  }

  RecordingSink at_listener;
  RecordingSink at_dialler;
  std::unique_ptr<Transport> listener;
  std::unique_ptr<Transport> dialler;
};

}  // namespace convoy
