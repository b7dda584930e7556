#include "node/record/recorder.h"

#include <algorithm>

#include "node/record/json_text.h"
#include "node/record/recorder_state.h"
#include "node/record/report.h"

namespace convoy::record {
namespace {

// How the Master names a departure that is no loss.
bool is_departure(const TraceLost& lost) {
  return lost.why == "it left";
}

}  // namespace

// ---- Traces

void Recorder::State::on(Time now, const TraceActive& trace) {
  if (!first_lease) {
    first_lease = now;
    window_began = now;
    recoveries.begin(now);
    metrics.started = true;
  } else {
    ++metrics.view_changes;
  }
  floor = std::max(floor, trace.record.floor);
  recoveries.view_changed();
}

void Recorder::State::on(Time, const TraceJoined& trace) {
  members[trace.member.id].summary.name = trace.name;
}

Result<void> Recorder::State::on(Time now, const TraceLost& trace) {
  if (first_lease && !is_departure(trace)) {
    const std::string who = (trace.server ? "P-slave " : "W-slave ") + trace.name;
    recoveries.lost(now, trace.after, trace.name, who + " lost: " + trace.why);
  }
  if (!trace.server) return {};
  return commits.record_end(*trace.server, is_departure(trace) ? ServerEnd::kLeft : ServerEnd::kLost);
}

Result<void> Recorder::State::on(Time now, const TraceLog& trace) {
  auto stored = commits.append({trace.server, trace.incarnation}, trace.entries);
  count_commits(now, trace);
  if (auto kept = keep_recoveries(now); stored && !kept) return kept;
  return stored;
}

void Recorder::State::count_commits(Time now, const TraceLog& trace) {
  bool news = false;
  for (const CommitLogEntry& e : trace.entries) {
    // Each P-slave grants by what it has heard, so each may have seen another gap.
    LastUpdate& last = last_updates[e.member];
    if (e.clock + 1 > last.committed) last = {e.clock + 1, 0};
    if (e.clock + 1 == last.committed) last.gap = std::max(last.gap, e.staleness);
    if (!updates.add({trace.server, trace.incarnation}, e)) continue;
    count_update(e);
    news = true;
  }
  if (!news) return;
  last_commit = now;
  recoveries.committed(now);
}

void Recorder::State::count_update(const CommitLogEntry& entry) {
  const std::int64_t samples = entry.trained.size();
  window_samples += samples;
  window_loss += entry.loss_sum;
  recent_losses.emplace_back(entry.loss_sum, samples);
  recent_samples += samples;
  const std::int64_t enough = std::max<std::int64_t>(options.sample_count / 10, 1);
  while (recent_losses.size() > 1 && recent_samples - recent_losses.front().second >= enough) {
    recent_samples -= recent_losses.front().second;
    recent_losses.pop_front();
  }
  members[entry.member.id].samples_in_window += samples;
  count_samples(entry);
}

void Recorder::State::count_samples(const CommitLogEntry& entry) {
  metrics.samples += entry.trained.size();
  SummaryMember& member = members[entry.member.id].summary;
  member.samples += entry.trained.size();
  member.clocks += 1;
}

Result<void> Recorder::State::on(Time now, const TraceEvaluation& trace) {
  RunMetrics::Evaluation evaluation;
  const auto count = static_cast<double>(std::max<std::int64_t>(trace.count, 1));
  evaluation.epoch = epoch_of(trace.samples);
  evaluation.accuracy = static_cast<double>(trace.correct) / count;
  evaluation.loss = trace.loss_sum / count;
  evaluation.final = trace.final;
  const double t_s = since_lease(now);
  see_evaluation(t_s, evaluation);
  Json line;
  line["t_s"] = rounded(t_s);
  line["epoch"] = rounded(evaluation.epoch);
  line["test_accuracy"] = evaluation.accuracy;
  line["test_loss"] = evaluation.loss;
  line["samples"] = trace.samples;
  line["final"] = trace.final;
  return metrics_file.append(dump(line));
}

void Recorder::State::see_evaluation(double t_s, const RunMetrics::Evaluation& evaluation) {
  metrics.last_evaluation = evaluation;
  metrics.best_accuracy = std::max(metrics.best_accuracy.value_or(0), evaluation.accuracy);
  const std::optional<double>& target = options.title.target_accuracy;
  if (target && evaluation.accuracy >= *target && !time_to_target_s) time_to_target_s = t_s;
}

// ---- The Recorder

Result<Recorder> Recorder::open(const RunPaths& paths, RecorderOptions options) {
  auto commits = CommitLogStore::open(paths.commits());
  if (!commits) return commits.error();
  auto metrics = AppendFile::open(paths.metrics());
  if (!metrics) return metrics.error();
  auto faults = AppendFile::open(paths.faults());
  if (!faults) return faults.error();
  auto log = AppendFile::open(paths.log());
  if (!log) return log.error();
  auto state = std::make_unique<State>(paths, std::move(options), std::move(*commits), std::move(*metrics),
                                       std::move(*faults), std::move(*log));
  if (auto restored = state->restore(); !restored) return restored.error();
  return Recorder(std::move(state));
}

Recorder::Recorder(std::unique_ptr<State> state) : state_(std::move(state)) {}
Recorder::~Recorder() = default;
Recorder::Recorder(Recorder&&) noexcept = default;
Recorder& Recorder::operator=(Recorder&&) noexcept = default;

const std::string& Recorder::report() const {
  return state_->report;
}

const RunMetrics& Recorder::metrics() const {
  return state_->metrics;
}

Result<std::map<ServerKey, std::uint64_t>> Recorder::log_entries() {
  return state_->commits.counts();
}

Result<void> Recorder::note(Time now, const std::string& text) {
  return state_->log_line(now, text);
}

Result<bool> Recorder::fault(Time now, const Inject& fault) {
  return state_->on(now, fault);
}

Result<void> Recorder::trace(Time now, const Trace& trace) {
  State& s = *state_;
  Result<void> done;
  if (const auto* t = std::get_if<TraceActive>(&trace)) s.on(now, *t);
  if (const auto* t = std::get_if<TraceJoined>(&trace)) s.on(now, *t);
  if (const auto* t = std::get_if<TraceLost>(&trace)) done = s.on(now, *t);
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
  summary.wall_s = s.last_commit ? s.since_lease(*s.last_commit) : s.earlier_s;
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
  if (finished) summary.samples_lost = s.updates.lost(s.options.end_position);
  summary.samples_duplicated = s.updates.duplicated();
  summary.view_changes = s.metrics.view_changes;
  summary.violations = s.metrics.violations;
  s.recoveries.finish(now);
  keep(s.keep_recoveries(now));
  summary.faults_injected = static_cast<std::int64_t>(s.fault_ids.size());
  summary.recoveries = s.recovered;
  summary.goodput = s.goodput.share(summary.samples, summary.wall_s);
  summary.full_samples_per_s = s.goodput.full_rate();
  for (const auto& [id, member] : s.members) {
    SummaryMember m = member.summary;
    m.id = id;
    const Life total = member.total();
    m.busy_s = seconds(total.busy);
    m.wait_s = seconds(total.waiting);
    summary.members.push_back(std::move(m));
  }
  const std::string text = to_json(summary);
  if (auto report = report_text(text)) s.report = std::move(*report);
  keep(replace_file(s.paths.summary(), text));
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
