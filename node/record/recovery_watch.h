// RecoveryWatch: for each node that was lost, how long it took to notice and how long the others stood still
// around it: the longest time without a commit.
//
// Times are the node's own. One thread at a time. Internal to node/record.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "messages/base/time.h"
#include "node/record/summary.h"

namespace convoy::record {

class RecoveryWatch {
 public:
  // From here on commits are expected.
  void begin(Time now) { commits_.push_back(now); }
  // `silent_for`: since the lost node was last heard.
  void lost(Time now, Duration silent_for, std::string what);
  void view_changed();
  void committed(Time now);

  // Commits that are remembered: those of two minutes, and of many in a moment a few.
  std::size_t kept() const { return commits_.size(); }

  // Closes what is open.
  std::vector<Recovery> finish(Time now);

 private:
  struct Open {
    Recovery recovery;
    bool view_changed = false;  // the view without the lost node is active
  };
  // A commit, or the end, closes the gap that a loss made.
  void close(Time now, bool at_end);

  std::deque<Time> commits_;
  std::vector<Recovery> recoveries_;
  std::vector<Open> open_;
};

}  // namespace convoy::record
