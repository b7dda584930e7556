// The Recorder's windows: what the Master's status adds to the logs, and the lines of metrics.jsonl.
#include <algorithm>
#include <utility>

#include "node/record/json_text.h"
#include "node/record/recorder_state.h"

namespace convoy::record {
namespace {

constexpr std::size_t kSmoothedWindows = 5;  // speeds that people see are means over these

}  // namespace

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
    const auto logged = last_updates.find(m.key);
    const LastUpdate last = logged == last_updates.end() ? LastUpdate{} : logged->second;
    shown.clock = std::max(m.clock, last.committed);
    shown.gap = last.gap;
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
  const bool undisturbed = metrics.view_changes == std::exchange(window_view_changes, metrics.view_changes);
  line["undisturbed"] = undisturbed;
  line["members"] = Json::array();
  std::int64_t members_in_view = 0;
  for (const MasterStatus::Member& m : status.members) {
    if (!m.in_view) continue;
    const RunMetrics::Member& shown = metrics.members[m.key.id];
    ++members_in_view;
    line["members"].push_back({{"id", m.key.id.value},
                               {"clock", shown.clock.value},
                               {"batch", m.batch},
                               {"gap", shown.gap},
                               {"wait_share", rounded(shown.wait_share, 1e-4)}});
  }
  if (undisturbed) goodput.add(members_in_view, window_samples, duration_s);
  window_loss = 0;
  window_samples = 0;
  return metrics_file.append(dump(line));
}

}  // namespace convoy::record
