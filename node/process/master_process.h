// The Master as it runs: role actor, link, and the clerk that keeps the run's folder and shows its progress.
#pragma once

#include <memory>
#include <string>

#include "config/run_file.h"
#include "messages/base/result.h"
#include "node/process/ending.h"
#include "node/process/role_actor.h"
#include "node/record/run_dir.h"

namespace convoy {

class ActorHouse;

struct MasterProcessOptions {
  config::RunFile run;
  record::RunStart start = record::RunStart::kNew;
};

class MasterProcess {
 public:
  virtual ~MasterProcess() = default;
  // "host:port" that nodes dial.
  virtual const std::string& address() const = 0;
  virtual void leave() = 0;
  // Writes the summary and closes the sockets. `outcome` is what the process ends with; an error here makes
  // it worse.
  virtual Result<void> stop(const Ending::Outcome& outcome) = 0;
  // REQUIRES: the ActorHouse is gone.
  virtual void close_display() = 0;
};

// Loads the data set's sizes, takes the run's folder, journals a new term, listens. REQUIRES: as for
// RunningRole.
Result<std::unique_ptr<MasterProcess>> start_master(const MasterProcessOptions& options, ActorHouse& house,
                                                    Ending& ending, NodeClock clock);

}  // namespace convoy
