// RunMetrics: the figures of a run as people see them now - kept by the Recorder, shown by the live display
// and by `convoy status`.
//
// Values; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "messages/base/ids.h"
#include "messages/base/time.h"

namespace convoy::record {

struct RunMetrics {
  struct Member {
    Clock clock;               // updates committed, by the P-slaves' logs and the member's life signs
    std::int64_t gap = 0;      // granted clock - c_min of its last update: never beyond the bound
    double wait_share = 0;     // of the last window: waiting / (waiting + computing)
    double samples_per_s = 0;  // of the last window
  };
  struct Evaluation {
    double epoch = 0;
    double accuracy = 0;
    double loss = 0;
    bool final = false;
  };

  Clock c_min;                        // least clock of the members of the view
  std::int64_t samples = 0;           // committed
  bool started = false;               // there was a view
  double elapsed_s = 0;               // since the first view became active
  double samples_per_s = 0;           // of the last window
  std::optional<double> remaining_s;  // at the mean speed of the last windows
  std::optional<double> loss;         // per sample, of the last window that had samples
  std::optional<Evaluation> last_evaluation;
  std::optional<double> best_accuracy;
  std::int64_t view_changes = 0;  // after the first view
  std::int64_t violations = 0;
  std::map<MemberId, Member> members;
};

// What does not change while a run goes on.
struct RunTitle {
  std::string name;   // run.name
  std::string model;  // "lenet"
  std::string data;   // "mnist"
  std::string mode;   // "dsp"
  std::optional<std::int64_t> bound;
  std::int64_t batch = 0;
  std::string address;  // where the Master listens, "host:port"
  std::string dir;      // the run's folder
  std::optional<double> target_accuracy;
};

}  // namespace convoy::record
