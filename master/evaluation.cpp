#include "master/evaluation.h"

#include <algorithm>

#include "master/partition.h"

namespace convoy {

Evaluation::Evaluation(SnapshotId snapshot, ViewRecord record, std::int64_t samples, bool final,
                       std::int64_t test_count, const std::vector<Candidate>& workers)
    : snapshot_(snapshot), record_(std::move(record)), samples_(samples), final_(final) {
  std::vector<double> speeds;
  for (const Candidate& w : workers) speeds.push_back(w.samples_per_s);
  if (speeds.empty()) speeds.push_back(1);
  std::int64_t first = 0;
  for (std::int64_t share : partition_batch(test_count, speeds, false)) {
    if (share == 0) continue;
    tasks_.push_back({first, first + share, {}, false});
    first += share;
  }
}

std::vector<Send> Evaluation::assign(const std::vector<Candidate>& workers, PeerId self, View view) {
  std::vector<Send> sends;
  for (const Candidate& w : workers) {
    const bool occupied = std::any_of(tasks_.begin(), tasks_.end(),
                                      [&](const Task& t) { return t.worker == w.peer && !t.answered; });
    if (occupied) continue;
    const auto free =
        std::find_if(tasks_.begin(), tasks_.end(), [](const Task& t) { return !t.worker && !t.answered; });
    if (free == tasks_.end()) break;
    free->worker = w.peer;
    sends.push_back(message(static_cast<std::uint32_t>(free - tasks_.begin()), self, view));
  }
  return sends;
}

std::vector<Send> Evaluation::repeat(PeerId self, View view) const {
  std::vector<Send> sends;
  for (std::uint32_t i = 0; i < tasks_.size(); ++i) {
    if (tasks_[i].worker && !tasks_[i].answered) sends.push_back(message(i, self, view));
  }
  return sends;
}

void Evaluation::lost(PeerId peer) {
  for (Task& t : tasks_) {
    if (t.worker == peer && !t.answered) t.worker.reset();
  }
}

bool Evaluation::result(PeerId peer, const EvaluateResult& result) {
  if (result.snapshot != snapshot_ || result.task >= tasks_.size()) return false;
  Task& task = tasks_[result.task];
  if (task.answered || task.worker != peer || result.count != task.last - task.first) return false;
  task.answered = true;
  ++answered_;
  correct_ += result.correct;
  count_ += result.count;
  loss_sum_ += result.loss_sum;
  return done();
}

TraceEvaluation Evaluation::outcome() const {
  return {snapshot_, samples_, correct_, count_, loss_sum_, final_};
}

Send Evaluation::message(std::uint32_t task, PeerId self, View view) const {
  const Task& t = tasks_[task];
  return Send{*t.worker, Envelope{view, self, {}, Evaluate{snapshot_, task, t.first, t.last, record_}}};
}

}  // namespace convoy
