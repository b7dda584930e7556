// A scenario: everything that a simulated run is made of. Plain values; the same scenario gives the same run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "messages/base/time.h"
#include "messages/sync_options.h"

namespace convoy::sim {

struct Network {
  Duration latency = std::chrono::microseconds(100);
  Duration jitter{};                                      // mean of an exponential extra delay a message
  double bandwidth = 1e9;                                 // bytes/s of each directed link
  double loss = 0;                                        // probability a message
  double duplicate = 0;                                   // probability a message comes twice
  double reorder = 0;                                     // probability a message is held back ...
  Duration reorder_delay = std::chrono::milliseconds(5);  // ... by up to this
};

struct WorkerSpec {
  double samples_per_s = 1000;
  Duration starts{};               // after the run's begin, or ...
  std::int64_t after_samples = 0;  // ... not 0: after so many samples are applied somewhere
  Duration warm_up = std::chrono::milliseconds(50);
};

// kAlone: commits reach one P-slave alone. The others get none from W-slaves and none by its stream.
enum class FaultKind { kCrash, kFreeze, kSlow, kLeave, kPartition, kAlone };

// Which P-slave: the one that is named; who sent the message that the fault follows, or received it (the
// named one when that was none); or the owner of a shard, whose place in the view is named.
enum class Strikes { kNamed, kSender, kReceiver, kOwner };

// A P-slave that comes later.
struct ServerSpec {
  Duration starts{};               // after the run's begin, or ...
  std::int64_t after_samples = 0;  // ... not 0: after so many samples are applied somewhere
};

// Something that happens to a node at a time. Nodes are named by index, restarts included.
struct Fault {
  FaultKind kind = FaultKind::kCrash;
  bool on_server = false;  // crash, freeze, leave: the P-slave `server`, ...
  // ... crash (it comes back), freeze, partition (from everybody): the Master; else the W-slave `worker`
  bool on_master = false;
  std::size_t worker = 0;
  Duration at{};                   // after the run's begin, or ...
  std::int64_t after_samples = 0;  // ... not 0: after so many samples are applied somewhere, or ...
  std::uint64_t after_events = 0;  // ... not 0: right after this event of the run, or ...
  // ... not empty: after so many deliveries of a message of that name.
  std::string after_message;
  std::uint64_t message_count = 1;
  std::optional<std::size_t> after_fault;  // count from the moment at which that fault of the scenario struck
  Strikes strikes = Strikes::kNamed;
  bool or_another = false;  // another P-slave when the loss of the one that is meant would end the run
  Duration lasts{};         // freeze, slow, partition: how long; crash, leave: comes back after (0 = never)
  double factor = 1;        // slow: step times grow by this
  // partition: of the W-slave with this P-slave; none = with the Master
  std::optional<std::size_t> server;
  std::optional<std::size_t> other_server;  // partition of a P-slave: with this one; none = with the Master
  bool inbound = true;                      // partition: what goes to the victim is lost
  bool outbound = true;                     // ... and what comes from it

  bool at_a_time() const { return after_samples == 0 && after_events == 0 && after_message.empty(); }
};

enum class Executor { kTimes, kIntegers };

struct Scenario {
  std::uint64_t seed = 1;
  SyncOptions sync;
  std::int64_t sample_count = 1000;
  std::int64_t end_position = 1000;
  std::int64_t test_count = 100;
  std::int64_t evaluate_every = 0;
  std::size_t chunks = 5;
  bool uneven_chunks = false;  // of sizes that differ
  bool equal_partition = true;
  Duration lease_ahead = std::chrono::seconds(2);
  std::size_t servers = 1;               // of the start
  std::vector<ServerSpec> more_servers;  // indices go on after those
  bool backups = false;
  std::size_t min_w_slaves = 1;
  std::vector<WorkerSpec> workers;
  std::vector<Fault> faults;
  Network network;
  double jitter = 0;      // step times vary by up to this part of themselves
  bool in_parts = false;  // gradients and pushes come in parts, the last layers first
  Executor executor = Executor::kIntegers;
  Duration deadline = std::chrono::seconds(3600);  // virtual; not done by then is a failure to progress

  std::int64_t chunk_bytes(std::size_t chunk) const;
  // Virtual time at which the faults and joins are over that come at a time of their own; the others come
  // with progress.
  Duration quiet_from() const;
};

// A scenario drawn from one seed: sizes log-uniform up to the limits, one in a hundred of full size; any
// mode, any faults of anybody.
struct Limits {
  std::size_t workers = 64;
  std::size_t servers = 8;
};
Scenario random_scenario(std::uint64_t seed, const Limits& limits);

// One line that says what the scenario is.
std::string describe(const Scenario& scenario);
std::string describe(const Fault& fault);

}  // namespace convoy::sim
