// SlowSteps: members whose steps are long beside `cluster.failure_timeout_s`, told once for each of their
// lives.
//
// Slow is not dead: who answers life signs never computes. But every other time-out is derived from that one
// setting, and what waits for a step, a view change or a pull at the gate, looks the same to its peers as one
// that hangs. So the start, where a member's speed is first measured, says so in words.
//
// One thread at a time.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "master/master.h"
#include "messages/base/ids.h"
#include "messages/base/time.h"

namespace convoy::record {

class SlowSteps {
 public:
  explicit SlowSteps(Duration failure_timeout) : failure_timeout_(failure_timeout) {}

  // One line for each member of the view whose step, at its batch and measured speed, takes more than half
  // the time-out.
  std::vector<std::string> see(const MasterStatus& status);

 private:
  Duration failure_timeout_;
  std::set<MemberKey> told_;  // of members that are still there
};

}  // namespace convoy::record
