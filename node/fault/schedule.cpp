#include "node/fault/schedule.h"

#include <cmath>

#include "messages/base/sampling.h"

namespace convoy {
namespace {

// Streams of random words of one fault.
constexpr std::uint64_t kHappens = 1;
constexpr std::uint64_t kWhom = 2;
constexpr std::uint64_t kWithin = 3;

double reached(const RunProgress& progress, config::FaultMoment::Unit unit) {
  switch (unit) {
    case config::FaultMoment::Unit::kSeconds:
      return progress.elapsed_s;
    case config::FaultMoment::Unit::kClock:
      return static_cast<double>(progress.clock);
    case config::FaultMoment::Unit::kEpoch:
      return progress.epoch;
  }
  return 0;
}

// A probability alone is one a clock for processes, and one a message from the start on for links.
config::FaultOptions with_moment(config::FaultOptions fault) {
  if (fault.at || fault.every) return fault;
  if (of_links(fault.kind)) {
    fault.at = config::FaultMoment{};
  } else {
    fault.every = config::FaultMoment{config::FaultMoment::Unit::kClock, 1};
  }
  return fault;
}

}  // namespace

FaultSchedule::FaultSchedule(const std::vector<config::FaultOptions>& faults, std::uint64_t run_seed) {
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const std::uint64_t seed = random_word(run_seed, faults[i].seed, i);
    entries_.push_back({with_moment(faults[i]), seed, 0});
  }
}

std::vector<DueFault> FaultSchedule::due(const RunProgress& progress) {
  std::vector<DueFault> due;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    const config::FaultOptions& fault = entry.options;
    const config::FaultMoment moment = fault.every ? *fault.every : *fault.at;
    const double now = reached(progress, moment.unit);
    const std::int64_t last = fault.every ? static_cast<std::int64_t>(std::floor(now / moment.value))
                                          : (now >= moment.value ? 1 : 0);
    while (entry.passed < last) {
      const std::int64_t occurrence = fault.every ? ++entry.passed : (++entry.passed, 0);
      const auto word = random_word(entry.seed, kHappens, static_cast<std::uint64_t>(occurrence));
      // Of links the probability is one of each message.
      if (!of_links(fault.kind) && to_unit(word) >= fault.probability) continue;
      due.push_back({i, occurrence});
    }
  }
  return due;
}

bool FaultSchedule::over() const {
  for (const Entry& e : entries_) {
    if (e.options.every || e.passed == 0) return false;
  }
  return true;
}

std::size_t FaultSchedule::choose(const DueFault& due, std::size_t count) const {
  const auto word = random_word(entries_[due.fault].seed, kWhom, static_cast<std::uint64_t>(due.occurrence));
  return word % count;
}

std::uint64_t FaultSchedule::seed(const DueFault& due) const {
  return random_word(entries_[due.fault].seed, kWithin, static_cast<std::uint64_t>(due.occurrence));
}

}  // namespace convoy
