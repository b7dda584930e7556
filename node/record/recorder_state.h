// What the Recorder keeps while a run goes on. Internal to recorder*.cpp.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "node/record/commit_log.h"
#include "node/record/files.h"
#include "node/record/goodput.h"
#include "node/record/recorder.h"
#include "node/record/recovery_watch.h"
#include "node/record/summary.h"
#include "node/record/text.h"
#include "node/record/update_count.h"

namespace convoy::record {

// Totals of one life of a member, as its life signs say.
struct Life {
  Duration busy{};
  Duration waiting{};
};

struct MemberTotals {
  SummaryMember summary;
  std::map<Incarnation, Life> lives;
  Life at_last_window;  // sum of lives
  std::int64_t samples_in_window = 0;

  Life total() const {
    Life sum;
    for (const auto& [incarnation, life] : lives) {
      sum.busy += life.busy;
      sum.waiting += life.waiting;
    }
    return sum;
  }
};

struct Window {
  double duration_s = 0;
  std::int64_t samples = 0;
  std::map<MemberId, std::int64_t> member_samples;
};

// The last update of a member that a log told of.
struct LastUpdate {
  Clock committed;
  std::int64_t gap = 0;
};

struct Recorder::State {
  State(RunPaths p, RecorderOptions o, CommitLogStore c, AppendFile m, AppendFile f, AppendFile l)
      : paths(std::move(p)),
        options(std::move(o)),
        commits(std::move(c)),
        metrics_file(std::move(m)),
        faults_file(std::move(f)),
        log(std::move(l)) {}

  RunPaths paths;
  RecorderOptions options;
  CommitLogStore commits;
  AppendFile metrics_file;
  AppendFile faults_file;
  AppendFile log;
  RunMetrics metrics;

  double earlier_s = 0;             // that the run had lasted under Masters before this one
  std::optional<Time> first_lease;  // of this one
  std::optional<Time> last_commit;
  Clock floor;  // c_min of the last cut
  UpdateCount updates;
  std::map<MemberId, MemberTotals> members;
  std::map<MemberKey, LastUpdate> last_updates;

  Time window_began;
  double window_loss = 0;
  std::int64_t window_samples = 0;
  std::deque<Window> windows;
  // Loss at the end of training: over the last tenth of an epoch.
  std::deque<std::pair<double, std::int64_t>> recent_losses;
  std::int64_t recent_samples = 0;

  RecoveryWatch recoveries;
  std::vector<Recovery> recovered;    // under Masters before this one too
  std::set<std::uint64_t> fault_ids;  // injected
  Goodput goodput;
  std::int64_t window_view_changes = 0;  // metrics.view_changes when the window began
  std::string report;
  std::optional<double> time_to_target_s;

  Result<void> restore();
  Result<void> restore_metrics();
  Result<void> restore_faults();
  void go_back(const IntervalSet& ledger);
  Result<void> log_line(Time now, const std::string& text) {
    return log.append("[" + fixed(seconds(now.since_start), 3) + "] " + printable(text));
  }
  double since_lease(Time now) const { return earlier_s + (first_lease ? seconds(now - *first_lease) : 0); }
  double epoch_of(std::int64_t samples) const {
    return static_cast<double>(samples) / static_cast<double>(options.sample_count);
  }

  void on(Time now, const TraceActive& trace);
  void on(Time now, const TraceJoined& trace);
  Result<void> on(Time now, const TraceLost& trace);
  Result<void> on(Time now, const TraceLog& trace);
  Result<void> on(Time now, const TraceEvaluation& trace);
  Result<bool> on(Time now, const Inject& fault);
  Result<void> keep_recoveries(Time now);
  void see_evaluation(double t_s, const RunMetrics::Evaluation& evaluation);
  void count_commits(Time now, const TraceLog& trace);
  void count_update(const CommitLogEntry& entry);
  void count_samples(const CommitLogEntry& entry);
  void see(const MasterStatus& status);
  Result<void> close_window(Time now, const MasterStatus& status);
};

}  // namespace convoy::record
