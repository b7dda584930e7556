// The CAF side of a process: an actor system set up for few threads, the role's actor, and executors:
// detached actors that run jobs one after the other, so that arithmetic and disks never hold up the protocol.
//
// A dead actor is not silently missing: the system monitors each and ends the process with its reason.
#pragma once

#include <caf/all.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "node/process/ending.h"
#include "node/process/role_actor.h"

namespace convoy {

class ActorHouse {
 public:
  // `ending` hears of an actor that fails.
  explicit ActorHouse(Ending& ending);
  // Ends every actor: executors after the job at hand.
  ~ActorHouse();
  ActorHouse(const ActorHouse&) = delete;
  ActorHouse& operator=(const ActorHouse&) = delete;

  template <class Role>
  caf::actor spawn_role(std::shared_ptr<Role> role, RoleHost& host, NodeClock clock) {
    caf::actor actor = system_->spawn<RoleActor<Role>>(std::move(role), std::ref(host), clock);
    supervise(actor);
    return actor;
  }
  // On a thread of its own.
  caf::actor spawn_executor();

 private:
  void supervise(const caf::actor& actor);

  struct Config : caf::actor_system_config {
    Config();
  };

  Config config_;
  std::optional<caf::actor_system> system_;
  caf::actor supervisor_;
  std::vector<caf::actor> actors_;
};

}  // namespace convoy
