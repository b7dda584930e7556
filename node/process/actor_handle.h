// ActorHandle: how several threads talk to one actor. What is sent before it is set, or after it was let go,
// goes to nobody: sockets call before everything behind them is there, and actors finish their turn while the
// process is already ending.
//
// Any thread. CAF's threads end only when nobody holds their actors: let go of all before the ActorHouse.
#pragma once

#include <caf/all.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "actors/role.h"

namespace convoy {

// An event on its way to a role. Shared so that CAF may copy the message; never leaves the process.
struct EventBox {
  std::shared_ptr<const Event> event;
};

// Something to be done in the role's own turn, such as reading its status.
struct InTurn {
  std::shared_ptr<const std::function<void(Time)>> run;
};

// Work for an executor.
struct Job {
  std::shared_ptr<const std::function<void()>> run;
};

}  // namespace convoy

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(convoy::EventBox)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(convoy::InTurn)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(convoy::Job)

namespace convoy {

class ActorHandle {
 public:
  void set(caf::actor actor) {
    const std::lock_guard lock(mutex_);
    actor_ = std::move(actor);
  }
  void let_go() { set(nullptr); }
  caf::actor get() const {
    const std::lock_guard lock(mutex_);
    return actor_;
  }

 private:
  mutable std::mutex mutex_;
  caf::actor actor_;
};

inline void tell(const ActorHandle& role, Event event) {
  caf::anon_send(role.get(), EventBox{std::make_shared<const Event>(std::move(event))});
}

inline void in_turn_of(const ActorHandle& role, std::function<void(Time)> call, Duration after = {}) {
  InTurn box{std::make_shared<const std::function<void(Time)>>(std::move(call))};
  if (after == Duration{}) return caf::anon_send(role.get(), std::move(box));
  caf::delayed_anon_send(role.get(), after, std::move(box));
}

inline void run_on(const ActorHandle& executor, std::function<void()> job) {
  caf::anon_send(executor.get(), Job{std::make_shared<const std::function<void()>>(std::move(job))});
}

}  // namespace convoy
