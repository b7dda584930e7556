#include "master/sim/checkers/progress_checker.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace convoy::sim {
namespace {

// How long the slowest of `count` exchanges (request and answer) is held up by losses: the first repeat comes
// after `retry`, then twice that, up to eight times.
double loss_delay(double loss, double count, double retry_s) {
  const double both = 1 - (1 - loss) * (1 - loss);
  double delay = 0;
  for (int lost = 1; lost < 12; ++lost)
    delay += std::min(1.0, count * std::pow(both, lost)) * retry_s * std::min(8.0, std::pow(2.0, lost - 1));
  return delay;
}

Duration allowance(const Scenario& s) {
  double slowest = s.workers.front().samples_per_s;
  Duration warm_up{};
  for (const WorkerSpec& w : s.workers) {
    slowest = std::min(slowest, w.samples_per_s);
    warm_up = std::max(warm_up, w.warm_up);
  }
  double slowed = 1;
  for (const Fault& f : s.faults) slowed = std::max(slowed, f.factor);
  const auto workers = static_cast<double>(s.workers.size());
  const auto batch = static_cast<double>(s.sync.batch);
  const auto end = static_cast<double>(s.end_position);
  const auto test = static_cast<double>(s.test_count);

  // All the rest done at the pace of the slowest W-slave alone: a share is rounded up by less than a sample a
  // clock, one step may have begun while it was slowed, and the test set is run once, once more when a
  // W-slave was lost over it.
  const double clocks = end / batch + 2;
  double server_faults = 0;  // each may take a picture with it that is being evaluated
  for (const Fault& f : s.faults) server_faults += f.on_server || f.on_master ? 1 : 0;
  const double samples = end + clocks + (1 + slowed) * batch + (2 + server_faults) * test;
  const double work = samples * (1 + s.jitter) / slowest;

  // Three exchanges a clock; a view change when somebody comes, goes or has nothing left, and for each
  // evaluation.
  const double one_way =
      seconds(s.network.latency) + 5 * seconds(s.network.jitter) +
      (s.network.reorder > 0 || s.network.duplicate > 0 ? seconds(s.network.reorder_delay) : 0);
  const double evaluations =
      s.evaluate_every > 0 && s.test_count > 0 ? end / static_cast<double>(s.evaluate_every) : 0;
  const auto servers = static_cast<double>(s.servers + s.more_servers.size());
  const double views = 2 * workers + evaluations + 2 + 2 * servers + 3 * server_faults;
  const double timeout = seconds(s.sync.failure_timeout);
  const double retry = timeout / 5;
  const double exchanges = workers * servers * (s.backups ? 5 : 3);
  const double round = (s.backups ? 10 : 6) * one_way + 2 * loss_delay(s.network.loss, exchanges, retry);
  const double network = (clocks + views) * round + views * 0.001;

  // A W-slave that the last fault left undetected is found after the time-out; whoever waits meanwhile may
  // have to wait for its next repeat (8 retries), then greet, prepare and join.
  // A P-slave that is lost in the middle of a view change costs its detection and another attempt; an
  // evaluation whose picture it took with it is run again.
  const double detection = (timeout + 2 * 8 * retry) * (1 + server_faults) + 2 * seconds(warm_up);
  // Who was sent away, since another did not reach it, stays out for two time-outs, then four, up to 16.
  double cuts = 0;
  for (const Fault& f : s.faults)
    cuts += f.kind == FaultKind::kPartition && (f.on_server ? f.other_server : f.server) ? 1 : 0;
  const double bars = timeout * 2 * (std::pow(2.0, std::min(cuts, 4.0)) - 1);
  return from_seconds(work + network + detection + bars);
}

}  // namespace

ProgressChecker::ProgressChecker(const Engine& engine)
    : engine_(engine), allowed_(allowance(engine.scenario())) {}

void ProgressChecker::after_step(Time now, PeerId) {
  if (now <= engine_.quiet_from() + allowed_) return;
  std::ostringstream text;
  text << "the run should have ended by " << engine_.quiet_from() + allowed_ << ", "
       << allowed_.count() / 1000000 << " ms after the last fault; " << engine_.master().ledger().size()
       << " of " << engine_.scenario().end_position << " positions at the last cut";
  violate(text.str());
}

void ProgressChecker::at_end(Time now) {
  const Duration took = now - std::min(now, engine_.quiet_from());
  used_ = seconds(took) / seconds(allowed_);
}

}  // namespace convoy::sim
