// How the Recorder of a Master that takes over gets what an earlier one had.
#include <sstream>

#include "node/record/evidence.h"
#include "node/record/json_text.h"
#include "node/record/recorder_state.h"
#include "node/record/tenure.h"

namespace convoy::record {
namespace {

std::optional<double> number(const Json& line, const char* name) {
  const auto at = line.find(name);
  return at != line.end() && at->is_number() ? std::optional(at->get<double>()) : std::nullopt;
}

}  // namespace

Result<void> Recorder::State::restore() {
  if (auto read = restore_faults(); !read) return read;
  auto counts = commits.counts();
  if (!counts) return counts.error();
  if (counts->empty()) return {};
  if (auto read = restore_metrics(); !read) return read;
  auto evidence = read_evidence(paths);
  if (!evidence) return evidence.error();
  std::map<std::uint32_t, std::vector<ServerKey>> lives;  // by history
  for (const auto& [server, tenure] : tenures(*evidence, options.end_position))
    lives[tenure.history].push_back(server);
  for (const Journal::Active& view : evidence->views) {
    const auto began = lives.find(view.record.history);
    if (began == lives.end()) continue;
    go_back(view.ledger);
    for (const ServerKey& server : began->second) {
      for (const CommitLogEntry& e : evidence->logs[server]) {
        if (updates.add(server, e)) count_samples(e);
      }
    }
    lives.erase(began);
  }
  metrics.view_changes = static_cast<std::int64_t>(evidence->views.size());
  return {};
}

void Recorder::State::go_back(const IntervalSet& ledger) {
  updates.go_back(ledger);
  metrics.samples = ledger.size();
}

// Times go on after the last line, as if nothing had been between; the line itself may be cut short.
Result<void> Recorder::State::restore_metrics() {
  auto text = read_text(paths.metrics());
  if (!text) return text.error();
  std::istringstream lines(*text);
  for (std::string text_line; std::getline(lines, text_line);) {
    const Json line = Json::parse(text_line, nullptr, false);
    if (!line.is_object()) continue;
    const double t_s = number(line, "t_s").value_or(0);
    const auto rate = number(line, "samples_per_s");
    if (rate && line.value("undisturbed", Json()) == Json(true)) {
      const double duration_s = t_s - earlier_s;
      goodput.add(static_cast<std::int64_t>(line.value("members", Json::array()).size()),
                  std::llround(*rate * duration_s), duration_s);
    }
    earlier_s = std::max(earlier_s, t_s);
    if (const auto accuracy = number(line, "test_accuracy")) {
      see_evaluation(t_s, {number(line, "epoch").value_or(0), *accuracy,
                           number(line, "test_loss").value_or(0), line.value("final", Json()) == Json(true)});
    }
  }
  return {};
}

}  // namespace convoy::record
