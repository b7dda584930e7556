// WatchedActor: what our actors derive from, so that ThreadSanitizer knows the order that CAF keeps but was
// not compiled to show: an actor is made before its first turn, its turns follow each other, a message is
// sent before it is handled, and all turns are over when the actor system is gone. Nothing in other builds.
//
// A handler of a derived class holds a Turn from before it looks at the message until it is done.
#pragma once

#include <caf/all.hpp>

#include "node/transport/happens_before.h"

namespace convoy {

#if defined(__SANITIZE_THREAD__)

class WatchedActor : public caf::event_based_actor {
 public:
  using caf::event_based_actor::enqueue;
  using caf::event_based_actor::event_based_actor;

  void launch(caf::execution_unit* unit, bool lazy, bool hide) override {
    handed_over(this);
    caf::event_based_actor::launch(unit, lazy, hide);
  }
  void enqueue(caf::mailbox_element_ptr message, caf::execution_unit* unit) override {
    handed_over(this);
    caf::event_based_actor::enqueue(std::move(message), unit);
  }
  caf::resumable::resume_result resume(caf::execution_unit* unit, std::size_t most) override {
    taken_over(this);
    const auto result = caf::event_based_actor::resume(unit, most);
    handed_over(this);  // too late for the next turn, which may have begun; in time for the end
    return result;
  }
  void on_destroy() override {
    taken_over(this);
    caf::event_based_actor::on_destroy();
  }

 protected:
  class Turn {
   public:
    explicit Turn(WatchedActor* actor) : actor_(actor) { taken_over(actor_); }
    ~Turn() {
      handed_over(actor_);
      handed_over(&actor_->system());
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    WatchedActor* actor_;
  };
};

#else

class WatchedActor : public caf::event_based_actor {
 public:
  using caf::event_based_actor::event_based_actor;

 protected:
  struct Turn {
    explicit Turn(WatchedActor* /*actor*/) {}
  };
};

#endif

}  // namespace convoy
