// RecoveryWatch: for each node that was lost, how long it took to notice and how long the others stood still
// around it: the longest time without a commit.
//
// Times are the node's own. One thread at a time. Internal to node/record.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "messages/base/time.h"
#include "node/record/summary.h"

namespace convoy::record {

class RecoveryWatch {
 public:
  // From here on commits are expected.
  void begin(Time now) { commits_.push_back(now); }
  // Something was done to `name` that it may be lost by.
  void injected(Time now, const std::string& name) { injections_[name] = now; }
  // `silent_for`: since the lost node was last heard.
  void lost(Time now, Duration silent_for, const std::string& name, std::string what);
  void view_changed();
  void committed(Time now);

  // Those that are complete, each once.
  std::vector<Recovery> take() { return std::exchange(recoveries_, {}); }
  // Completes what is open.
  void finish(Time now) { close(now, true); }

  // Commits that are remembered: those of two minutes, and of many in a moment a few.
  std::size_t kept() const { return commits_.size(); }

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
  std::map<std::string, Time> injections_;  // the last one of each node
};

}  // namespace convoy::record
