// summary.json: what is left of a run when it is over, and its text. Internal to node/record.
//
// A value and a pure function; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "messages/base/ids.h"
#include "node/record/commit_log.h"
#include "node/record/metrics.h"

namespace convoy::record {

struct Recovery {
  std::string what;
  double detect_s = 0;  // since the fault was injected; of one that was not, since the node was last heard
  double stall_s = 0;   // longest time without a commit around the loss
};

struct SummaryMember {
  MemberId id;
  std::string name, host, device;
  std::int64_t samples = 0;
  std::int64_t clocks = 0;  // updates committed, in all its lives
  double busy_s = 0;
  double wait_s = 0;
  std::int64_t batch = 0;  // its last
};

struct Summary {
  RunTitle title;
  RunId run;
  std::string build_id;
  std::string started_at;
  bool finished = false;
  std::string reason;
  double epochs = 0;
  Clock clocks;  // c_min at the end
  std::int64_t samples = 0;
  double wall_s = 0;
  std::optional<double> train_loss;
  std::optional<RunMetrics::Evaluation> evaluation;  // the last one
  std::optional<double> best_accuracy;
  std::optional<double> time_to_target_s;
  CommitHistograms histograms;
  std::optional<std::int64_t> samples_lost;  // none: the run ended early, so what is not trained is not lost
  std::int64_t samples_duplicated = 0;
  std::int64_t view_changes = 0;
  std::int64_t faults_injected = 0;
  std::int64_t violations = 0;
  std::vector<Recovery> recoveries;
  std::optional<double> goodput;             // goodput.h; none: the run had no undisturbed window
  std::optional<double> full_samples_per_s;  // of the undisturbed windows
  std::vector<SummaryMember> members;
};

std::string to_json(const Summary& summary);

}  // namespace convoy::record
