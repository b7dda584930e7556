// Everything that a run file says, with its defaults filled in. Read by `train` and `master`; nodes get it
// over the wire as the text that serialise() of config/run_file.h makes.
//
// Names of files are as written: relative ones start at the working directory, that of the model file at the
// run file. Plain values, no ownership, any thread. Ranges and contradictions were checked by the reader:
// code that gets RunOptions need not check again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/common_options.h"
#include "messages/base/fault_kind.h"

namespace convoy::config {

// Exactly one of name, file (or definition) and onnx is set.
struct ModelOptions {
  std::string name;        // model zoo
  std::string file;        // as the run file named it; for messages only, its text is in `definition`
  std::string definition;  // text of the model file (TOML layers), so that it travels with the options
  std::string onnx;

  friend bool operator==(const ModelOptions&, const ModelOptions&) = default;
};

enum class DataFormat { kIdx };

struct DataOptions {
  std::string name;  // "mnist", "fashion-mnist"; empty when the file names format and dir
  DataFormat format = DataFormat::kIdx;
  std::string dir;  // "data/<name>" unless given. A node looks in <node.data_dir>/<name> when name is set
  std::optional<double> mean;  // of pixels scaled to [0, 1]; none: the data set's own
  std::optional<double> std;

  friend bool operator==(const DataOptions&, const DataOptions&) = default;
};

enum class ScheduleKind { kConstant, kStep, kCosine, kLinear, kOneCycle };

// The learning rate as a function of the samples trained; shares are of the whole run.
//   constant   lr after the warm-up
//   step       times step_factor after every step_epochs that follow the warm-up
//   linear     straight from lr after the warm-up to lr x final at the end
//   cosine     the same along half a cosine
//   one_cycle  half a cosine up during the warm-up, half a cosine down to lr x final after it
struct ScheduleOptions {
  ScheduleKind kind = ScheduleKind::kConstant;
  double warmup = 0;         // share of the run, [0, 1); default 0.3 for one_cycle
  double warmup_from = 0.1;  // the warm-up starts at lr x this; default 0.04 for one_cycle
  double final = 0;          // linear, cosine and one_cycle end at lr x this; default 4e-6 for one_cycle
  double step_epochs = 1;
  double step_factor = 0.1;

  friend bool operator==(const ScheduleOptions&, const ScheduleOptions&) = default;
};

struct TrainOptions {
  double epochs = 1;        // training ends at position round(epochs x N)
  std::int64_t batch = 64;  // global: of all members together
  double lr = 0.01;
  double momentum = 0;
  bool nesterov = false;
  double weight_decay = 0;
  ScheduleOptions schedule;
  std::optional<double> target_accuracy;  // time_to_target_s is taken when an evaluation reaches it

  friend bool operator==(const TrainOptions&, const TrainOptions&) = default;
};

struct EvalOptions {
  double every_epochs = 1;  // 0: at the end only
  double average = 0;       // decay of the weight average used for evaluation; 0: off

  friend bool operator==(const EvalOptions&, const EvalOptions&) = default;
};

enum class SyncMode { kBsp, kDsp, kDynamic, kAsp };
enum class Partition { kProportional, kEqual };

struct SyncOptions {
  SyncMode mode = SyncMode::kDsp;
  std::optional<std::int64_t> bound = 4;  // bsp: 0; dynamic: s_hi; none: no bound (asp, inf)
  std::int64_t bound_low = 1;             // dynamic: s_lo; 1 and unused in the other modes
  Partition partition = Partition::kProportional;
  std::int64_t local_steps = 1;
  std::optional<bool> pull_ahead;  // none: while there is one member and the bound allows; never with bound 0

  friend bool operator==(const SyncOptions&, const SyncOptions&) = default;
};

enum class Encoding { kFp32, kFp16, kThreshold, kTopK, kAuto };

struct WireOptions {
  Encoding encoding = Encoding::kFp32;

  friend bool operator==(const WireOptions&, const WireOptions&) = default;
};

struct PlanOptions {
  std::optional<std::int64_t> segments = 1;  // none: the planner decides ("auto")

  friend bool operator==(const PlanOptions&, const PlanOptions&) = default;
};

struct ClusterOptions {
  Address listen{"127.0.0.1", 0};
  std::optional<Address> advertise;  // what nodes dial, when it differs from listen (port 0: that of listen)
  double failure_timeout_s = 5;
  int backups = 1;  // copies of each shard beside the owner's, as soon as there are two P-slaves
  int min_w_slaves = 1;
  int min_p_slaves = 1;
  double lease_ahead_s = 30;

  friend bool operator==(const ClusterOptions&, const ClusterOptions&) = default;
};

struct KernelOptions {
  std::string record;  // empty: do not
  std::string replay;

  friend bool operator==(const KernelOptions&, const KernelOptions&) = default;
};

struct CheckpointOptions {
  double every_s = 60;  // 0: never
  int keep = 3;

  friend bool operator==(const CheckpointOptions&, const CheckpointOptions&) = default;
};

struct PSlaveOptions {
  int threads = 1;

  friend bool operator==(const PSlaveOptions&, const PSlaveOptions&) = default;
};

// What `convoy train` starts on this machine.
struct LocalOptions {
  std::vector<WSlaveOptions> w_slaves{WSlaveOptions{}};
  std::vector<PSlaveOptions> p_slaves{PSlaveOptions{}};

  friend bool operator==(const LocalOptions&, const LocalOptions&) = default;
};

using convoy::FaultKind;

struct FaultTarget {
  enum class Kind { kMaster, kWSlave, kPSlave, kAnyWSlave, kAnyPSlave };
  Kind kind = Kind::kMaster;
  int index = 0;  // of w-slave[i], p-slave[i]

  friend bool operator==(const FaultTarget&, const FaultTarget&) = default;
};

struct FaultMoment {
  enum class Unit { kSeconds, kClock, kEpoch };
  Unit unit = Unit::kSeconds;
  double value = 0;

  friend bool operator==(const FaultMoment&, const FaultMoment&) = default;
};

struct FaultOptions {
  FaultKind kind = FaultKind::kKill;
  FaultTarget target;
  std::optional<FaultTarget> to;  // of "a->b": the link from target to this
  std::optional<FaultMoment> at;  // at most one of at and every
  std::optional<FaultMoment> every;
  double for_s = 0;        // how long it lasts, 0: to the end; kill and leave: until it is started again
  double factor = 1;       // slow
  double probability = 1;  // a step or message
  double delay_ms = 0;     // delay
  std::uint64_t seed = 0;

  friend bool operator==(const FaultOptions&, const FaultOptions&) = default;
};

struct RunOptions {
  std::string name;  // default: the run file's own, without .toml
  std::string dir;   // the run's own folder; default runs/<name>
  std::uint64_t seed = 1;
  ModelOptions model;
  DataOptions data;
  TrainOptions train;
  EvalOptions eval;
  SyncOptions sync;
  WireOptions wire;
  PlanOptions plan;
  ClusterOptions cluster;
  KernelOptions kernels;
  CheckpointOptions checkpoint;
  LocalOptions local;
  std::vector<FaultOptions> faults;

  friend bool operator==(const RunOptions&, const RunOptions&) = default;
};

const char* to_string(SyncMode mode);
const char* to_string(Partition partition);
const char* to_string(Encoding encoding);
const char* to_string(ScheduleKind kind);
const char* to_string(FaultKind kind);
std::optional<FaultKind> parse_fault_kind(std::string_view name);
const char* to_string(DataFormat format);

}  // namespace convoy::config
