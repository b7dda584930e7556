// FaultDriver: carries out the [[fault]] schedule of `convoy train`. It follows the run through the Master,
// as `convoy status` does; what happens to processes it does itself, the rest it has the Master hand on, and
// all of it the Master writes down.
//
// Of the launcher's loop: connect(), then work() whenever fd() is readable or due() has come.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "node/cli/child_process.h"
#include "node/cli/master_line.h"
#include "node/fault/schedule.h"

namespace convoy::cli {

// What the launcher can do to its processes, by name: "master", "w-slave-0", ...
class Processes {
 public:
  virtual ~Processes() = default;
  virtual bool running(const std::string& name) const = 0;
  // It runs, or died and will be started again.
  virtual bool expected(const std::string& name) const = 0;
  virtual void signal(const std::string& name, int number) = 0;
  // It is about to be killed, and not started again before that moment.
  virtual void keep_away(const std::string& name, SteadyMoment until) = 0;
  // Starts a node that left, or another one.
  virtual Result<void> start_node(const std::string& name) = 0;
};

class FaultDriver {
 public:
  FaultDriver(const config::RunOptions& run, bool resumed, Processes& processes);

  // The Master listens there, for the first time or again.
  void connect(const MasterPlace& place);
  int fd() const { return line_ ? line_->fd() : -1; }
  std::optional<SteadyMoment> due() const;
  void work(SteadyMoment now);
  // The run is over: nothing more happens, and what is frozen wakes up to hear of it.
  void end();

 private:
  struct Later {
    std::string name;
    bool start = false;  // else it wakes up
  };
  void hear(SteadyMoment now);
  void carry_out(const DueFault& due, SteadyMoment now);
  // False: a kind that the Master hands on.
  bool to_process(const config::FaultOptions& fault, const std::string& name, SteadyMoment now);
  void do_later(SteadyMoment now);
  std::optional<std::string> choose(const config::FaultTarget& target, FaultKind kind, const DueFault& due);

  const config::RunOptions& run_;
  FaultSchedule schedule_;
  Processes& processes_;
  const std::uint64_t first_id_;  // ids of this launcher's faults follow it
  std::uint64_t count_ = 0;
  bool skip_passed_;  // a run that goes on has had what was due before
  std::unique_ptr<MasterLine> line_;
  std::optional<SteadyMoment> began_;  // training
  RunProgress progress_;
  SteadyMoment ask_at_;
  std::deque<Inject> untold_;  // the Master has not said that it knows
  std::string refused_;        // why, the last time
  std::multimap<SteadyMoment, Later> later_;
  bool ended_ = false;
};

}  // namespace convoy::cli
