// RoleActor: the one generic CAF actor that makes a pure role run for real. Events come as messages; effects
// go to a Host, in order, in the actor's own turn; WakeAt becomes a delayed message.
//
// The role never computes and never waits, so neither do life signs. The host is called from whatever thread
// the actor runs in, one call at a time.
#pragma once

#include <caf/all.hpp>
#include <chrono>
#include <memory>
#include <utility>

#include "actors/role.h"
#include "node/process/actor_handle.h"
#include "node/process/watched_actor.h"

namespace convoy {

// Monotonic time since this process began: what roles see as `now`.
class NodeClock {
 public:
  Time now() const {
    return Time{std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - began_)};
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

// Carries out what a role decided.
class RoleHost {
 public:
  virtual ~RoleHost() = default;
  virtual void carry_out(Effect effect) = 0;
};

using WakeAtom = caf::atom_constant<caf::atom("wake")>;

template <class Role>
class RoleActor : public WatchedActor {
 public:
  RoleActor(caf::actor_config& config, std::shared_ptr<Role> role, RoleHost& host, NodeClock clock)
      : WatchedActor(config), role_(std::move(role)), host_(&host), clock_(clock) {}

  caf::behavior make_behavior() override {
    return {
        [this](const EventBox& box) {
          const Turn turn(this);
          step(*box.event);
        },
        [this](WakeAtom, std::uint64_t token) {
          const Turn turn(this);
          if (token == wake_token_) step(Tick{});
        },
        [this](const InTurn& call) {
          const Turn turn(this);
          (*call.run)(clock_.now());
        },
    };
  }

  const char* name() const override { return "role"; }

 private:
  void step(const Event& event) {
    Effects effects;
    const Time now = clock_.now();
    role_->step(now, event, effects);
    for (Effect& effect : effects) {
      if (const auto* wake = std::get_if<WakeAt>(&effect)) {
        const Duration wait = std::max(Duration{}, wake->at - now);
        delayed_send(this, wait, WakeAtom::value, ++wake_token_);
      } else {
        host_->carry_out(std::move(effect));
      }
    }
  }

  std::shared_ptr<Role> role_;
  RoleHost* host_;  // outlives the actor system
  NodeClock clock_;
  std::uint64_t wake_token_ = 0;
};

}  // namespace convoy
