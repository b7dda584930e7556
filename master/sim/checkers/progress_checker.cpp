#include "master/sim/checkers/progress_checker.h"

#include <algorithm>
#include <sstream>

namespace convoy::sim {

ProgressChecker::ProgressChecker(const Engine& engine) : engine_(engine) {
  const Scenario& s = engine.scenario();
  double slowest = 1e30;
  for (const WorkerSpec& w : s.workers) slowest = std::min(slowest, w.samples_per_s);
  // All the work on the slowest W-slave alone, each clock with its round trips, and a few time-outs for those
  // that the faults left undetected. Lost messages are repeated after at most eight retry intervals, several
  // in a row.
  const double clocks = static_cast<double>(s.end_position) / static_cast<double>(s.sync.batch) *
                            static_cast<double>(s.workers.size()) +
                        16;
  const double round_trip = 4 * (seconds(s.network.latency) + 4 * seconds(s.network.jitter) +
                                 (s.network.reorder > 0 ? seconds(s.network.reorder_delay) : 0));
  const double timeout = seconds(s.sync.failure_timeout);
  const double lossy = s.network.loss * 8 * timeout;
  const double work = static_cast<double>(s.end_position + 2 * s.test_count) / slowest * (1 + s.jitter);
  const double allowed = 2 * work + clocks * (round_trip + 8 * lossy) + 40 * timeout +
                         static_cast<double>(s.workers.size()) * (timeout + 40 * lossy);
  deadline_ = Time{s.last_fault_end()} + from_seconds(allowed);
}

void ProgressChecker::after_step(Time now, PeerId) {
  if (now <= deadline_) return;
  std::ostringstream text;
  text << "the run should have ended by " << deadline_ << ", " << engine_.master().ledger().size() << " of "
       << engine_.scenario().end_position << " positions at the last cut";
  violate(text.str());
}

}  // namespace convoy::sim
