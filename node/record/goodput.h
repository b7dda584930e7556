// Goodput: what a run made of its time, measured by itself: samples committed / (length x samples/s of its
// windows with all members in which the membership did not change).
//
// A value, bounded by the numbers of members that there were. Internal to node/record.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace convoy::record {

class Goodput {
 public:
  // An undisturbed window.
  void add(std::int64_t members, std::int64_t samples, double duration_s);

  // Samples/s with as many members as there ever were; none before there was such a window.
  std::optional<double> full_rate() const;
  std::optional<double> share(std::int64_t samples, double wall_s) const;

 private:
  struct Sum {
    std::int64_t samples = 0;
    double duration_s = 0;
  };
  std::map<std::int64_t, Sum> by_members_;
};

}  // namespace convoy::record
