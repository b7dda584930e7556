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

enum class FaultKind { kCrash, kFreeze, kSlow, kLeave, kPartition };

// Something that happens to a node at a time. Workers are named by index, restarts included.
struct Fault {
  FaultKind kind = FaultKind::kCrash;
  std::size_t worker = 0;
  Duration at{};                   // after the run's begin, or ...
  std::int64_t after_samples = 0;  // ... not 0: after so many samples are applied somewhere, or ...
  std::uint64_t after_events = 0;  // ... not 0: right after this event of the run
  Duration lasts{};   // freeze, slow, partition: how long; crash, leave: comes back after (0 = never)
  double factor = 1;  // slow: step times grow by this
  std::optional<std::size_t> server;  // partition: with this P-slave; none = with the Master
  bool inbound = true;                // partition: what goes to the worker is lost
  bool outbound = true;               // ... and what comes from it
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
  bool equal_partition = true;
  Duration lease_ahead = std::chrono::seconds(2);
  std::size_t servers = 1;
  std::size_t min_w_slaves = 1;
  std::vector<WorkerSpec> workers;
  std::vector<Fault> faults;
  Network network;
  double jitter = 0;      // step times vary by up to this part of themselves
  bool in_parts = false;  // gradients and pushes come in parts, the last layers first
  Executor executor = Executor::kIntegers;
  Duration deadline = std::chrono::seconds(3600);  // virtual; not done by then is a failure to progress

  // Virtual time at which the faults and joins are over that come at a time of their own; the others come
  // with progress.
  Duration quiet_from() const;
};

// A scenario drawn from one seed: sizes log-uniform up to the limits, any mode, any faults of W-slaves.
struct Limits {
  std::size_t workers = 32;
  std::size_t servers = 4;
};
Scenario random_scenario(std::uint64_t seed, const Limits& limits);

// One line that says what the scenario is.
std::string describe(const Scenario& scenario);
std::string describe(const Fault& fault);

}  // namespace convoy::sim
