// FaultSchedule: which fault of a run file happens when, and to whom, as a function of the file, the seeds
// and how far the run is: the same schedule and the same run bring the same faults.
//
// A value; one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "config/run_options.h"

namespace convoy {

struct RunProgress {
  double elapsed_s = 0;  // since training began
  std::int64_t clock = 0;
  double epoch = 0;
};

struct DueFault {
  std::size_t fault = 0;        // index into the schedule
  std::int64_t occurrence = 0;  // from 1 with `every`, 0 with `at`

  friend bool operator==(const DueFault&, const DueFault&) = default;
};

class FaultSchedule {
 public:
  FaultSchedule(const std::vector<config::FaultOptions>& faults, std::uint64_t run_seed);

  // What has become due since the last call, in the order of the file. With `every`, each occurrence that was
  // passed.
  std::vector<DueFault> due(const RunProgress& progress);
  // Nothing will ever become due.
  bool over() const;

  const config::FaultOptions& options(const DueFault& due) const { return entries_[due.fault].options; }
  // One of `count` candidates for "any"; 0 <= result < count. REQUIRES: count > 0.
  std::size_t choose(const DueFault& due, std::size_t count) const;
  // For what is random while the fault lasts.
  std::uint64_t seed(const DueFault& due) const;

 private:
  struct Entry {
    config::FaultOptions options;
    std::uint64_t seed = 0;
    std::int64_t passed = 0;  // occurrences, drawn or not
  };
  std::vector<Entry> entries_;
};

}  // namespace convoy
