// One evaluation of a frozen picture: the test set cut into slices, a slice a W-slave in proportion to its
// speed.
//
// A worker that is lost gives its slice back; whoever is free takes it. A value; used by the Master's role
// only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "actors/role.h"

namespace convoy {

class Evaluation {
 public:
  struct Candidate {
    PeerId peer;
    double samples_per_s = 0;
  };

  // Cuts [0, test_count) for `workers` (none: one slice, given to whoever comes).
  Evaluation(SnapshotId snapshot, ViewRecord record, std::int64_t samples, bool final,
             std::int64_t test_count, const std::vector<Candidate>& workers);

  // Free slices go to free workers. Returns what is to be sent.
  std::vector<Send> assign(const std::vector<Candidate>& workers, PeerId self, View view);
  // Everything unanswered once more.
  std::vector<Send> repeat(PeerId self, View view) const;
  void lost(PeerId peer);
  // True when this closes the evaluation. Results of other snapshots, repeats and miscounts are ignored.
  bool result(PeerId peer, const EvaluateResult& result);

  TraceEvaluation outcome() const;
  bool done() const { return answered_ == tasks_.size(); }
  bool is_final() const { return final_; }
  // Where the chunks of the picture are.
  const ViewRecord& record() const { return record_; }

 private:
  struct Task {
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::optional<PeerId> worker;
    bool answered = false;
  };
  Send message(std::uint32_t task, PeerId self, View view) const;

  SnapshotId snapshot_;
  ViewRecord record_;
  std::int64_t samples_;
  bool final_;
  std::vector<Task> tasks_;
  std::size_t answered_ = 0;
  std::int64_t correct_ = 0;
  std::int64_t count_ = 0;
  double loss_sum_ = 0;
};

}  // namespace convoy
