#include "node/record/recorder.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <set>

#include "node/record/commit_log.h"
#include "node/record/files.h"
#include "node/record/json_text.h"
#include "node/record/summary.h"
#include "node/record/text.h"

namespace convoy::record {
namespace {

constexpr std::size_t kSmoothedWindows = 5;  // speeds that people see are means over these

// How the Master names a departure that is no loss.
bool is_departure(const TraceLost& lost) {
  return lost.why == "it left";
}

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

// The positions of one P-slave's log.
struct Positions {
  IntervalSet seen;
  std::int64_t duplicated = 0;
};

struct OpenRecovery {
  Recovery recovery;
  bool view_changed = false;  // the view without the lost node is active
};

}  // namespace

struct Recorder::State {
  State(RunPaths p, RecorderOptions o, CommitLogStore c, AppendFile m, AppendFile l)
      : paths(std::move(p)),
        options(std::move(o)),
        commits(std::move(c)),
        metrics_file(std::move(m)),
        log(std::move(l)) {}

  RunPaths paths;
  RecorderOptions options;
  CommitLogStore commits;
  AppendFile metrics_file;
  AppendFile log;
  RunMetrics metrics;

  std::optional<Time> first_lease;
  std::optional<Time> last_commit;
  std::optional<ServerId> first_server;
  Clock floor;  // c_min of the last cut
  std::map<ServerId, Positions> positions;
  std::map<MemberId, MemberTotals> members;
  std::set<std::string> worker_names;
  std::map<MemberKey, Clock> clocks;  // by the first P-slave's log
  std::map<MemberKey, std::int64_t> gaps;

  Time window_began;
  double window_loss = 0;
  std::int64_t window_samples = 0;
  std::deque<Window> windows;
  // Loss at the end of training: over the last tenth of an epoch.
  std::deque<std::pair<double, std::int64_t>> recent_losses;
  std::int64_t recent_samples = 0;

  std::deque<Time> recent_commits;  // arrivals of log entries
  std::vector<Recovery> recoveries;
  std::vector<OpenRecovery> open_recoveries;
  std::optional<double> time_to_target_s;

  Result<void> log_line(Time now, const std::string& text) {
    return log.append("[" + fixed(seconds(now.since_start), 3) + "] " + printable(text));
  }
  double since_lease(Time now) const { return first_lease ? seconds(now - *first_lease) : 0; }
  double epoch_of(std::int64_t samples) const {
    return static_cast<double>(samples) / static_cast<double>(options.sample_count);
  }

  void on(Time now, const TraceActive& trace);
  void on(Time now, const TraceJoined& trace);
  void on(Time now, const TraceLost& trace);
  Result<void> on(Time now, const TraceLog& trace);
  Result<void> on(Time now, const TraceEvaluation& trace);
  void count_commits(Time now, const TraceLog& trace);
  void close_recoveries(Time now, bool at_end);
  void see(const MasterStatus& status);
  Result<void> close_window(Time now, const MasterStatus& status);
};

// ---- Traces

void Recorder::State::on(Time now, const TraceActive& trace) {
  if (!first_lease) {
    first_lease = now;
    window_began = now;
    recent_commits.push_back(now);
    metrics.started = true;
  } else {
    ++metrics.view_changes;
  }
  if (!first_server && !trace.record.servers.empty()) first_server = trace.record.servers.front().id;
  floor = std::max(floor, trace.record.floor);
  for (OpenRecovery& r : open_recoveries) r.view_changed = true;
}

void Recorder::State::on(Time, const TraceJoined& trace) {
  members[trace.member.id].summary.name = trace.name;
  worker_names.insert(trace.name);
}

void Recorder::State::on(Time now, const TraceLost& trace) {
  if (is_departure(trace) || !first_lease) return;
  const bool worker = worker_names.contains(trace.name);
  OpenRecovery open{
      {(worker ? "W-slave " : "") + trace.name + " lost: " + trace.why, seconds(trace.after), 0}, false};
  // The others may have stood still for a while already.
  for (std::size_t i = 1; i < recent_commits.size(); ++i) {
    if (recent_commits[i] < now - trace.after) continue;
    open.recovery.stall_s =
        std::max(open.recovery.stall_s, seconds(recent_commits[i] - recent_commits[i - 1]));
  }
  open_recoveries.push_back(std::move(open));
}

Result<void> Recorder::State::on(Time now, const TraceLog& trace) {
  auto stored = commits.append(trace.server, trace.entries);
  count_commits(now, trace);
  return stored;
}

void Recorder::State::count_commits(Time now, const TraceLog& trace) {
  if (trace.entries.empty()) return;
  Positions& own = positions[trace.server];
  for (const CommitLogEntry& e : trace.entries) {
    const std::int64_t before = own.seen.size();
    own.seen.insert(e.trained);
    own.duplicated += e.trained.size() - (own.seen.size() - before);
  }
  last_commit = now;
  if (!first_server) first_server = trace.server;
  if (trace.server != *first_server) return;
  close_recoveries(now, false);
  recent_commits.push_back(now);
  while (recent_commits.size() > 2 && now - recent_commits.front() > std::chrono::minutes(2))
    recent_commits.pop_front();
  for (const CommitLogEntry& e : trace.entries) {
    const std::int64_t samples = e.trained.size();
    metrics.samples += samples;
    window_samples += samples;
    window_loss += e.loss_sum;
    recent_losses.emplace_back(e.loss_sum, samples);
    recent_samples += samples;
    const std::int64_t enough = std::max<std::int64_t>(options.sample_count / 10, 1);
    while (recent_losses.size() > 1 && recent_samples - recent_losses.front().second >= enough) {
      recent_samples -= recent_losses.front().second;
      recent_losses.pop_front();
    }
    MemberTotals& member = members[e.member.id];
    member.summary.samples += samples;
    member.summary.clocks += 1;
    member.samples_in_window += samples;
    clocks[e.member] = std::max(clocks[e.member], e.clock + 1);
    gaps[e.member] = e.staleness;
  }
}

// A commit, or the end, closes the gap that a loss made.
void Recorder::State::close_recoveries(Time now, bool at_end) {
  if (open_recoveries.empty()) return;
  const double gap = recent_commits.empty() ? 0 : seconds(now - recent_commits.back());
  for (OpenRecovery& r : open_recoveries) r.recovery.stall_s = std::max(r.recovery.stall_s, gap);
  std::erase_if(open_recoveries, [&](OpenRecovery& r) {
    if (r.view_changed || at_end) recoveries.push_back(std::move(r.recovery));
    return r.view_changed || at_end;
  });
}

Result<void> Recorder::State::on(Time now, const TraceEvaluation& trace) {
  RunMetrics::Evaluation evaluation;
  const auto count = static_cast<double>(std::max<std::int64_t>(trace.count, 1));
  evaluation.epoch = epoch_of(trace.samples);
  evaluation.accuracy = static_cast<double>(trace.correct) / count;
  evaluation.loss = trace.loss_sum / count;
  evaluation.final = trace.final;
  metrics.last_evaluation = evaluation;
  metrics.best_accuracy = std::max(metrics.best_accuracy.value_or(0), evaluation.accuracy);
  const double t_s = since_lease(now);
  const std::optional<double>& target = options.title.target_accuracy;
  if (target && evaluation.accuracy >= *target && !time_to_target_s) time_to_target_s = t_s;
  Json line;
  line["t_s"] = rounded(t_s);
  line["epoch"] = rounded(evaluation.epoch);
  line["test_accuracy"] = evaluation.accuracy;
  line["test_loss"] = evaluation.loss;
  line["samples"] = trace.samples;
  line["final"] = trace.final;
  return metrics_file.append(dump(line));
}

// ---- Windows

void Recorder::State::see(const MasterStatus& status) {
  bool first = true;
  for (const MasterStatus::Member& m : status.members) {
    MemberTotals& member = members[m.key.id];
    member.summary.name = m.name;
    member.summary.host = m.host;
    member.summary.device = m.device;
    if (m.batch > 0) member.summary.batch = m.batch;
    member.lives[m.key.incarnation] = {m.busy, m.waiting};
    RunMetrics::Member& shown = metrics.members[m.key.id];
    const auto logged = clocks.find(m.key);
    shown.clock = logged == clocks.end() ? m.clock : std::max(m.clock, logged->second);
    const auto gap = gaps.find(m.key);
    shown.gap = gap == gaps.end() ? 0 : gap->second;
    if (!m.in_view) continue;
    const Clock clock = std::max(shown.clock, floor);
    metrics.c_min = first ? clock : std::min(metrics.c_min, clock);
    first = false;
  }
  if (first) metrics.c_min = std::max(metrics.c_min, std::max(floor, status.c_min));
}

Result<void> Recorder::State::close_window(Time now, const MasterStatus& status) {
  const double duration_s = seconds(now - window_began);
  window_began = now;
  Window window{duration_s, window_samples, {}};
  for (auto& [id, member] : members) {
    window.member_samples[id] = std::exchange(member.samples_in_window, 0);
    const Life total = member.total();
    const Duration busy = total.busy - member.at_last_window.busy;
    const Duration waiting = total.waiting - member.at_last_window.waiting;
    // Without a life sign in between, the last share stands.
    if (busy + waiting > Duration::zero())
      metrics.members[id].wait_share = seconds(waiting) / seconds(busy + waiting);
    member.at_last_window = total;
  }
  if (window_samples > 0) metrics.loss = window_loss / static_cast<double>(window_samples);
  windows.push_back(std::move(window));
  if (windows.size() > kSmoothedWindows) windows.pop_front();
  double span_s = 0;
  std::int64_t samples = 0;
  for (const Window& w : windows) {
    span_s += w.duration_s;
    samples += w.samples;
  }
  metrics.samples_per_s = static_cast<double>(samples) / span_s;
  for (auto& [id, shown] : metrics.members) {
    std::int64_t own = 0;
    for (const Window& w : windows) {
      const auto at = w.member_samples.find(id);
      if (at != w.member_samples.end()) own += at->second;
    }
    shown.samples_per_s = static_cast<double>(own) / span_s;
  }
  const std::int64_t left = options.end_position - metrics.samples;
  metrics.remaining_s.reset();
  if (metrics.samples_per_s > 0)
    metrics.remaining_s = static_cast<double>(std::max<std::int64_t>(left, 0)) / metrics.samples_per_s;

  Json line;
  line["t_s"] = rounded(since_lease(now));
  line["clock"] = metrics.c_min.value;
  line["samples"] = metrics.samples;
  line["loss"] = window_samples > 0 ? Json(window_loss / static_cast<double>(window_samples)) : Json(nullptr);
  line["samples_per_s"] = rounded(static_cast<double>(window_samples) / duration_s, 1e-3);
  line["members"] = Json::array();
  for (const MasterStatus::Member& m : status.members) {
    if (!m.in_view) continue;
    const RunMetrics::Member& shown = metrics.members[m.key.id];
    line["members"].push_back({{"id", m.key.id.value},
                               {"clock", shown.clock.value},
                               {"batch", m.batch},
                               {"gap", shown.gap},
                               {"wait_share", rounded(shown.wait_share, 1e-4)}});
  }
  window_loss = 0;
  window_samples = 0;
  return metrics_file.append(dump(line));
}

// ---- The Recorder

Result<Recorder> Recorder::open(const RunPaths& paths, RecorderOptions options) {
  auto commits = CommitLogStore::open(paths.commits());
  if (!commits) return commits.error();
  auto metrics = AppendFile::open(paths.metrics());
  if (!metrics) return metrics.error();
  auto log = AppendFile::open(paths.log());
  if (!log) return log.error();
  return Recorder(std::make_unique<State>(paths, std::move(options), std::move(*commits), std::move(*metrics),
                                          std::move(*log)));
}

Recorder::Recorder(std::unique_ptr<State> state) : state_(std::move(state)) {}
Recorder::~Recorder() = default;
Recorder::Recorder(Recorder&&) noexcept = default;
Recorder& Recorder::operator=(Recorder&&) noexcept = default;

const RunMetrics& Recorder::metrics() const {
  return state_->metrics;
}

Result<void> Recorder::note(Time now, const std::string& text) {
  return state_->log_line(now, text);
}

Result<void> Recorder::trace(Time now, const Trace& trace) {
  State& s = *state_;
  Result<void> done;
  if (const auto* t = std::get_if<TraceActive>(&trace)) s.on(now, *t);
  if (const auto* t = std::get_if<TraceJoined>(&trace)) s.on(now, *t);
  if (const auto* t = std::get_if<TraceLost>(&trace)) s.on(now, *t);
  if (const auto* t = std::get_if<TraceLog>(&trace)) done = s.on(now, *t);
  if (const auto* t = std::get_if<TraceEvaluation>(&trace)) done = s.on(now, *t);
  if (std::holds_alternative<TraceViolation>(trace)) ++s.metrics.violations;
  const std::string line = describe_for_people(trace, s.options.sample_count);
  if (!line.empty()) {
    if (auto logged = s.log_line(now, line); !logged && done) done = logged;
  }
  return done;
}

Result<void> Recorder::observe(Time now, const MasterStatus& status) {
  State& s = *state_;
  s.see(status);
  if (!s.first_lease) return {};
  s.metrics.elapsed_s = s.since_lease(now);
  if (now - s.window_began < s.options.window) return {};
  return s.close_window(now, status);
}

Result<void> Recorder::finish(Time now, const MasterStatus& status, bool finished,
                              const std::string& reason) {
  State& s = *state_;
  s.see(status);
  Result<void> done;
  const auto keep = [&](Result<void> next) {
    if (done && !next) done = std::move(next);
  };
  if (s.first_lease) {
    s.metrics.elapsed_s = s.since_lease(now);
    if (now > s.window_began && s.window_samples > 0) keep(s.close_window(now, status));
  }
  if (finished) s.metrics.remaining_s = 0;
  s.close_recoveries(now, true);
  keep(s.log_line(now, finished ? "finished: " + reason : "not finished: " + reason));

  Summary summary;
  summary.title = s.options.title;
  summary.run = s.options.run;
  summary.build_id = s.options.build_id;
  summary.started_at = s.options.started_at;
  summary.finished = finished;
  summary.reason = reason;
  summary.samples = s.metrics.samples;
  summary.epochs = s.epoch_of(summary.samples);
  summary.clocks = s.metrics.c_min;
  if (s.first_lease && s.last_commit) summary.wall_s = seconds(*s.last_commit - *s.first_lease);
  if (s.recent_samples > 0) {
    double loss = 0;
    for (const auto& [sum, samples] : s.recent_losses) loss += sum;
    summary.train_loss = loss / static_cast<double>(s.recent_samples);
  }
  summary.evaluation = s.metrics.last_evaluation;
  summary.best_accuracy = s.metrics.best_accuracy;
  summary.time_to_target_s = s.time_to_target_s;
  if (auto histograms = s.commits.histograms()) {
    summary.histograms = std::move(*histograms);
  } else {
    keep(histograms.error());
  }
  if (finished) summary.samples_lost = s.positions.empty() ? s.options.end_position : 0;
  for (const auto& [server, own] : s.positions) {
    if (finished) {
      const std::int64_t lost = own.seen.complement({0, s.options.end_position}).size();
      summary.samples_lost = std::max(*summary.samples_lost, lost);
    }
    summary.samples_duplicated = std::max(summary.samples_duplicated, own.duplicated);
  }
  summary.view_changes = s.metrics.view_changes;
  summary.violations = s.metrics.violations;
  summary.recoveries = s.recoveries;
  for (const auto& [id, member] : s.members) {
    SummaryMember m = member.summary;
    m.id = id;
    const Life total = member.total();
    m.busy_s = seconds(total.busy);
    m.wait_s = seconds(total.waiting);
    summary.members.push_back(std::move(m));
  }
  keep(replace_file(s.paths.summary(), to_json(summary)));
  return done;
}

std::string describe_for_people(const Trace& trace, std::int64_t sample_count) {
  if (const auto* t = std::get_if<TraceNote>(&trace)) return t->text;
  if (const auto* t = std::get_if<TraceViolation>(&trace)) return "VIOLATION: " + t->text;
  if (const auto* t = std::get_if<TraceJoined>(&trace)) return t->name + " is ready";
  if (const auto* t = std::get_if<TraceLost>(&trace)) {
    if (is_departure(*t)) return t->name + " left";
    return t->name + " is lost: " + t->why + " (last heard " + duration_text(seconds(t->after)) + " ago)";
  }
  if (const auto* t = std::get_if<TraceEvaluation>(&trace)) {
    const auto count = static_cast<double>(std::max<std::int64_t>(t->count, 1));
    return "epoch " + fixed(static_cast<double>(t->samples) / static_cast<double>(sample_count), 2) +
           ": test accuracy " + percent(static_cast<double>(t->correct) / count, 2) + ", test loss " +
           fixed(t->loss_sum / count, 4);
  }
  if (std::holds_alternative<TraceTrained>(trace)) return "trained: every sample of the run is committed";
  return {};
}

}  // namespace convoy::record
