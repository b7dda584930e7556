#include "node/process/actors.h"

namespace convoy {
namespace {

using WatchAtom = caf::atom_constant<caf::atom("watch")>;

class Executor final : public WatchedActor {
 public:
  using WatchedActor::WatchedActor;
  caf::behavior make_behavior() override {
    return {[this](const Job& job) {
      const Turn turn(this);
      (*job.run)();
    }};
  }
};

// Monitors the others. Held by the house: an actor that nobody holds is destroyed silently, monitors and all.
class Supervisor final : public WatchedActor {
 public:
  Supervisor(caf::actor_config& config, Ending& ending) : WatchedActor(config), ending_(ending) {}
  caf::behavior make_behavior() override {
    set_down_handler([this](caf::down_msg& down) {
      const Turn turn(this);
      if (down.reason == caf::exit_reason::user_shutdown || !down.reason) return;
      ending_.set({1, "a part of this process failed: " + system().render(down.reason)});
    });
    return {[this](WatchAtom, const caf::actor& actor) {
      const Turn turn(this);
      monitor(actor);
    }};
  }

 private:
  Ending& ending_;
};

}  // namespace

ActorHouse::Config::Config() {
  // Measured: sharing with few threads idles at 0.01 % CPU and wakes fastest for a handful of actors.
  set("scheduler.policy", caf::atom("sharing"));
  set("scheduler.max-threads", 2);
  set("logger.verbosity", caf::atom("quiet"));
}

ActorHouse::ActorHouse(Ending& ending) {
  system_.emplace(config_);
  supervisor_ = system_->spawn<Supervisor>(std::ref(ending));
}

ActorHouse::~ActorHouse() {
  for (const caf::actor& actor : actors_) caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(supervisor_, caf::exit_reason::user_shutdown);
  actors_.clear();
  supervisor_ = nullptr;
  caf::actor_system* const ended = &*system_;
  system_.reset();  // waits for all of them
  taken_over(ended);
}

caf::actor ActorHouse::spawn_executor() {
  caf::actor actor = system_->spawn<Executor, caf::detached>();
  supervise(actor);
  return actor;
}

void ActorHouse::supervise(const caf::actor& actor) {
  actors_.push_back(actor);
  caf::anon_send(supervisor_, WatchAtom::value, actor);
}

}  // namespace convoy
