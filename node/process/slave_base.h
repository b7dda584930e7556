// What the processes of W-slaves and P-slaves share: the link to the Master, its troubles in words, the
// role's actor, and an orderly end. Part of worker_process.cpp and server_process.cpp.
//
// Threads: LinkSink from the link's I/O thread, RoleHost in the role's turn, the rest from the owner's.
#pragma once

#include <spdlog/spdlog.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "node/process/actors.h"
#include "node/process/addresses.h"
#include "node/process/faults.h"
#include "node/process/link.h"
#include "node/process/slaves.h"
#include "node/run/run_setup.h"

namespace convoy {

class SlaveBase : public RunningRole, public LinkSink, public RoleHost {
 public:
  SlaveBase(SlaveOptions options, Ending& ending, NodeClock clock)
      : options_(std::move(options)), ending_(ending), clock_(clock) {}

  void leave() override { tell(role_, LeaveRequested{}); }
  void stop() override {
    stop_work();
    if (link_) link_->close();
    work_.let_go();
    role_.let_go();
  }

  // LinkSink, from the I/O thread.
  void received(Envelope envelope) override {
    if (const std::shared_ptr<const RunSetup> setup = known_setup()) {
      if (Result<void> sound = check_tensors(envelope.message, *setup); !sound) {
        return refused("dropped a " + std::string(name_of(envelope.message)) + ": " + sound.error().message);
      }
    }
    if (const auto* fault = std::get_if<Inject>(&envelope.message)) {
      if (envelope.from != kMasterPeerId) return refused("dropped a fault that is not of the Master");
      return take(*fault);
    }
    tell(role_, std::move(envelope));
  }
  void peer_lost(PeerId peer) override {
    if (peer == kMasterPeerId) {
      spdlog::warn("{}: the connection to the Master at {} broke; dialling again", options_.name,
                   config::to_string(options_.master));
      const std::lock_guard lock(mutex_);
      without_master_since_ = clock_.now();
      last_trouble_.clear();
    }
    tell(role_, PeerLost{peer});
  }
  void peer_back(PeerId peer) override {
    if (peer == kMasterPeerId) {
      spdlog::info("{}: connected to the Master at {}", options_.name, config::to_string(options_.master));
      const std::lock_guard lock(mutex_);
      without_master_since_.reset();
    }
    tell(role_, PeerBack{peer});
  }
  void trouble(const Trouble& trouble) override {
    // Of somebody that we dial, or of one who dials us.
    spdlog::warn("{}: {}{}", options_.name, trouble.text, trouble.peer ? " Waiting, and trying again." : "");
    const std::lock_guard lock(mutex_);
    if (trouble.peer == kMasterPeerId) last_trouble_ = trouble.text;
  }
  void refused(const std::string& text) override { spdlog::warn("{}: {}", options_.name, text); }

  std::optional<Time> without_master_since() const override {
    const std::lock_guard lock(mutex_);
    return without_master_since_;
  }
  std::string last_trouble() const override {
    const std::lock_guard lock(mutex_);
    return last_trouble_;
  }

 protected:
  // Ends what the executor waits for.
  virtual void stop_work() {}
  // Steps take `factor` times as long for a while; zero: to the end.
  virtual void slow_down(double /*factor*/, Duration /*lasts*/) {}

  // Effects that every slave carries out alike. False: not one of them.
  bool carry_out_common(Effect& effect) {
    if (auto* send = std::get_if<Send>(&effect)) {
      link_->send(send->to, send->envelope);
    } else if (const auto* c = std::get_if<Connect>(&effect)) {
      dial_server(*c);
    } else if (const auto* gone = std::get_if<Disconnect>(&effect)) {
      link_->transport().disconnect(gone->peer);
    } else if (const auto* quit = std::get_if<Quit>(&effect)) {
      const std::string where = quit->failed ? " [Master at " + config::to_string(options_.master) + "]" : "";
      ending_.set({quit->failed ? 1 : 0, options_.name + ": " + quit->text + where});
    } else if (const auto* trace = std::get_if<Trace>(&effect)) {
      if (const auto* note = std::get_if<TraceNote>(trace)) spdlog::info("{}: {}", options_.name, note->text);
      if (const auto* bad = std::get_if<TraceViolation>(trace)) {
        spdlog::error("{}: VIOLATION: {}", options_.name, bad->text);
      }
    } else {
      return false;
    }
    return true;
  }

  // From here on tensors that arrive are held against it.
  void learn_setup(RunSetup setup) {
    auto shared = std::make_shared<const RunSetup>(std::move(setup));
    const std::lock_guard lock(mutex_);
    setup_ = std::move(shared);
  }

  void fail(const Error& error) {
    ending_.set({error.code == ErrorCode::kUsage ? 2 : 1, options_.name + ": " + error.message});
  }

  Result<void> start_link(TransportOptions transport) {
    transport.keys = options_.keys;
    Result<std::unique_ptr<Link>> link = Link::start(std::move(transport), RunId(0), *this);
    if (!link) return link.error();
    link_ = std::move(*link);
    return {};
  }

  // Dials the Master and starts the role. REQUIRES: link_ and role_ are set.
  Result<void> dial() {
    spdlog::info("{}: dialling the Master at {}", options_.name, config::to_string(options_.master));
    if (Result<void> ok =
            link_->connect(kMasterPeerId, config::to_string(options_.master), options_.master_key);
        !ok) {
      return ok.error();
    }
    tell(role_, Started{});
    return {};
  }

  SlaveOptions options_;
  Ending& ending_;
  NodeClock clock_;
  std::unique_ptr<Link> link_;
  ActorHandle role_;
  ActorHandle work_;  // executor

 private:
  void dial_server(const Connect& server) {
    if (!requires_encryption(server.address) && !is_over_loopback(options_.master)) {
      // Found out here, where it matters: that P-slave may well see its Master on a loopback address.
      return fail({ErrorCode::kIo, "a P-slave says that it is at " + server.address +
                                       ", a loopback address, which leads from here to this machine, while "
                                       "the Master is at " +
                                       config::to_string(options_.master) +
                                       "; set node.advertise in that P-slave's node file"});
    }
    const std::string address = as_seen_from_here(server.address, options_.master);
    if (Result<void> ok = link_->connect(server.peer, address, server.public_key); !ok) {
      spdlog::error("{}: {}", options_.name, ok.error().message);
    }
  }

  void take(const Inject& fault) {
    spdlog::warn("{}: injected: {}", options_.name, words_for(fault));
    if (fault.kind == FaultKind::kLeave) return leave();
    if (fault.kind == FaultKind::kSlow) return slow_down(fault.factor, from_seconds(fault.for_s));
    suffer(fault, link_->transport());
  }

  std::shared_ptr<const RunSetup> known_setup() const {
    const std::lock_guard lock(mutex_);
    return setup_;
  }

  mutable std::mutex mutex_;  // over what follows
  std::shared_ptr<const RunSetup> setup_;
  std::optional<Time> without_master_since_{clock_.now()};
  std::string last_trouble_;
};

}  // namespace convoy
