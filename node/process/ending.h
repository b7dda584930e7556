// Ending: how a process of Convoy comes to its end, once, whichever thread finds out; and the signals that
// ask for it.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "messages/base/time.h"

namespace convoy {

class Ending {
 public:
  struct Outcome {
    int status =
        0;  // exit status: 0 done, 1 the run or the world failed, 2 the command line or a file is wrong
    std::string text;  // why; empty when there is nothing to say
  };

  // Ends when `parts` have ended well, or one of them has not.
  explicit Ending(int parts = 1) : missing_(parts) {}

  // Any thread. What comes after the end is ignored.
  void set(Outcome outcome);
  Outcome wait();
  // Nothing when it did not come in time.
  std::optional<Outcome> wait_for(Duration patience);

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  int missing_;
  std::optional<Outcome> outcome_;
};

// Blocks SIGINT, SIGTERM and SIGHUP for all threads that start later. Call in main() before the first thread.
void block_signals();

// The process ends with `status` after `patience`, wherever its threads are then: in a step of a large model,
// or before a disk or terminal that does not answer. For when nothing is left that is worth waiting for.
void end_within(Duration patience, int status);

// Calls `asked` on the first SIGINT or SIGTERM; the second ends the process at once with status 130. SIGHUP
// is ignored: a node that lost its terminal goes on. REQUIRES: block_signals() before. `asked` runs in a
// thread of the watcher's.
class SignalWatcher {
 public:
  explicit SignalWatcher(std::function<void()> asked);
  ~SignalWatcher();
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;

 private:
  int signals_ = -1;
  int stop_ = -1;
  std::thread thread_;
};

}  // namespace convoy
