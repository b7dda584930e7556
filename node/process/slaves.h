// W-slaves and P-slaves as they run: role actor, executor, link. All they need to know of the run comes from
// the Master.
//
// Made, told to leave and stopped by one thread, main's.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "config/common_options.h"
#include "messages/base/result.h"
#include "node/process/ending.h"
#include "node/process/role_actor.h"
#include "node/security/keys.h"

namespace convoy {

class ActorHouse;

// What W-slaves and P-slaves have in common.
struct SlaveOptions {
  std::string name;  // stable over restarts
  config::Address master;
  std::optional<KeyPair> keys;  // ours, with encryption
  std::string master_key;       // the Master's public key; empty: not encrypted
};

struct WorkerProcessOptions {
  SlaveOptions slave;
  config::WSlaveOptions device;
  std::string data_dir;  // empty: as the run file says
};

struct ServerProcessOptions {
  SlaveOptions slave;
  std::string advertise;   // host that W-slaves dial; empty: this machine's address towards the Master
  std::uint16_t port = 0;  // 0: any free one
};

// One running role of this process. Its end sets the Ending that it was given.
//
// Order of the end: stop() every role, then destroy the ActorHouse, then the roles.
class RunningRole {
 public:
  virtual ~RunningRole() = default;
  // Asks it to go gracefully.
  virtual void leave() = 0;
  // Sends what is queued (for a moment), closes the sockets, ends what the executor waits for.
  virtual void stop() = 0;
  // Since when there has been no connection to the Master, none while there is one; and the last reason why
  // not.
  virtual std::optional<Time> without_master_since() const = 0;
  virtual std::string last_trouble() const = 0;
};

Result<std::unique_ptr<RunningRole>> start_worker(const WorkerProcessOptions& options, ActorHouse& house,
                                                  Ending& ending, NodeClock clock);
Result<std::unique_ptr<RunningRole>> start_server(const ServerProcessOptions& options, ActorHouse& house,
                                                  Ending& ending, NodeClock clock);

}  // namespace convoy
