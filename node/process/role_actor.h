// RoleActor: the one generic CAF actor that makes a pure role run for real. Events come as messages; effects
// go to a Host, in order, in the actor's own turn; WakeAt becomes a delayed message.
//
// The role never computes and never waits, so neither do life signs. The host is called from whatever thread
// the actor runs in, one call at a time.
#pragma once

#include <caf/all.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "actors/role.h"

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

// An event on its way to a role. Shared so that CAF may copy the message; never leaves the process.
struct EventBox {
  std::shared_ptr<const Event> event;
};

// Something to be done in the role's own turn, such as reading its status.
struct InTurn {
  std::shared_ptr<const std::function<void(Time)>> run;
};

using WakeAtom = caf::atom_constant<caf::atom("wake")>;

}  // namespace convoy

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(convoy::EventBox)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(convoy::InTurn)

namespace convoy {

template <class Role>
class RoleActor : public caf::event_based_actor {
 public:
  RoleActor(caf::actor_config& config, std::shared_ptr<Role> role, RoleHost& host, NodeClock clock)
      : caf::event_based_actor(config), role_(std::move(role)), host_(&host), clock_(clock) {}

  caf::behavior make_behavior() override {
    return {
        [this](const EventBox& box) { step(*box.event); },
        [this](WakeAtom, std::uint64_t token) {
          if (token == wake_token_) step(Tick{});
        },
        [this](const InTurn& call) { (*call.run)(clock_.now()); },
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

inline void in_turn_of(const caf::actor& role, std::function<void(Time)> call) {
  caf::anon_send(role, InTurn{std::make_shared<const std::function<void(Time)>>(std::move(call))});
}

inline void tell(const caf::actor& role, Event event) {
  caf::anon_send(role, EventBox{std::make_shared<const Event>(std::move(event))});
}

}  // namespace convoy
