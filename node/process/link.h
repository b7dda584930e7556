// Link: envelopes over a transport. Encodes what a role sends, decodes and checks what arrives, adds and
// compares run id and protocol version, and says in words what it refuses.
//
// One per role instance. send() and learn_run() may be called from any thread; the sink is called from the
// transport's I/O thread, one call at a time, and must not block.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>

#include "messages/codec/codec.h"
#include "node/transport/transport.h"

namespace convoy {

class LinkSink {
 public:
  virtual ~LinkSink() = default;
  virtual void received(Envelope envelope) = 0;
  virtual void peer_lost(PeerId peer) = 0;
  virtual void peer_back(PeerId peer) = 0;
  virtual void trouble(const Trouble& trouble) = 0;
  // Something arrived that could not be used; one sentence.
  virtual void refused(const std::string& text) = 0;
};

class Link final : private TransportSink {
 public:
  // `run` of 0: not known yet; Welcome brings it (a node), and until then any run may speak.
  static Result<std::unique_ptr<Link>> start(TransportOptions options, RunId run, LinkSink& sink);

  void send(PeerId to, const Envelope& envelope);
  Result<void> connect(PeerId peer, const std::string& address, const std::string& public_key);
  void learn_run(RunId run) { run_.store(run.value); }
  RunId run() const { return RunId(run_.load()); }

  Transport& transport() { return *transport_; }
  std::uint64_t refused_messages() const { return refused_.load(); }
  void close() { transport_->close(); }

 private:
  Link(PeerId self, RunId run, LinkSink& sink) : self_(self), run_(run.value), sink_(sink) {}

  void received(PeerId from, WireFrames frames) override;
  void peer_back(PeerId peer) override { sink_.peer_back(peer); }
  void peer_lost(PeerId peer) override { sink_.peer_lost(peer); }
  void trouble(const Trouble& trouble) override { sink_.trouble(trouble); }
  // Tells us, once, and the sender. A refusal is not answered: two that refuse each other would never end.
  void refuse(PeerId from, Incarnation refused, RefuseReason reason, const std::string& text,
              bool answer = true);

  PeerId self_;
  std::atomic<std::uint64_t> run_;
  LinkSink& sink_;
  std::atomic<std::uint64_t> refused_{0};
  std::set<std::string> told_;  // of the I/O thread
  std::unique_ptr<Transport> transport_;
  // The transport may call before start() has stored it.
  std::atomic<Transport*> ready_{nullptr};
};

}  // namespace convoy
