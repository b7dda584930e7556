#include "node/process/faults.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <thread>
#include <utility>
#include <vector>

#include "config/run_options.h"
#include "messages/base/sampling.h"

namespace convoy {
namespace {

struct Named {
  std::string name;
  PeerId peer;
};

std::vector<Named> w_slaves_of(const MasterStatus& status) {
  std::vector<Named> all;
  for (const MasterStatus::Member& m : status.members) all.push_back({m.name, m.peer});
  return all;
}

std::vector<Named> p_slaves_of(const MasterStatus& status) {
  std::vector<Named> all;
  for (const MasterStatus::Server& s : status.servers) all.push_back({s.name, s.peer});
  return all;
}

Result<Named> find(const MasterStatus& status, const std::string& name, std::uint64_t word) {
  if (name == "master") return Named{name, kMasterPeer};
  const std::vector<Named> w_slaves = w_slaves_of(status);
  const std::vector<Named> p_slaves = p_slaves_of(status);
  for (const auto& [any, all] : {std::pair("any-w-slave", &w_slaves), std::pair("any-p-slave", &p_slaves)}) {
    if (name != any) continue;
    if (!all->empty()) return (*all)[word % all->size()];
    return Error{ErrorCode::kUsage, "nobody to pick for " + name + ": there is none in the view just now"};
  }
  std::string known = "master";
  for (const std::vector<Named>* all : {&w_slaves, &p_slaves}) {
    for (const Named& node : *all) {
      if (node.name == name) return node;
      known += ", " + node.name;
    }
  }
  return Error{ErrorCode::kUsage, "nobody here is called " + name + "; known: " + known};
}

// Stops this process, all threads of it; a child that shares nothing with us wakes it again.
void freeze(double for_s) {
  std::thread([for_s] {
    const pid_t self = getpid();
    const pid_t child = for_s > 0 ? fork() : -1;
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      syscall(SYS_close_range, 0U, ~0U, 0U);  // nobody's connection hangs on it
      timespec left{static_cast<time_t>(for_s), static_cast<long>((for_s - std::floor(for_s)) * 1e9)};
      while (nanosleep(&left, &left) != 0) continue;
      kill(self, SIGCONT);
      _exit(0);
    }
    if (for_s > 0 && child < 0) return;  // it would never wake
    kill(self, SIGSTOP);
    if (child > 0) waitpid(child, nullptr, 0);
  }).detach();
}

}  // namespace

Result<AddressedFault> address_fault(const MasterStatus& status, Inject fault) {
  if (fault.kind == FaultKind::kJoin) {
    return Error{ErrorCode::kUsage, "a node joins when it is started: `convoy node NODE.toml`"};
  }
  if (fault.kind == FaultKind::kDiskFull) return Error{ErrorCode::kUsage, "disk_full is not available yet"};
  Result<Named> target = find(status, fault.target, mix64(fault.seed ^ fault.id));
  if (!target) return target.error();
  fault.target = target->name;
  if (!fault.to.empty()) {
    Result<Named> to = find(status, fault.to, mix64(fault.seed + fault.id));
    if (!to) return to.error();
    fault.to = to->name;
    fault.peer = to->peer;
  }
  if (target->peer != kMasterPeer) return AddressedFault{target->peer, std::move(fault)};
  if (fault.kind == FaultKind::kLeave || fault.kind == FaultKind::kSlow) {
    return Error{ErrorCode::kUsage, std::string("the Master cannot ") + config::to_string(fault.kind)};
  }
  return AddressedFault{std::nullopt, std::move(fault)};
}

std::string words_for(const Inject& fault) {
  std::string text = std::string(config::to_string(fault.kind)) + " of " + fault.target;
  if (!fault.to.empty()) text += " -> " + fault.to;
  if (fault.for_s <= 0) return text;
  char length[32];
  std::snprintf(length, sizeof length, " for %g s", fault.for_s);
  return text + length;
}

bool suffer(const Inject& fault, Transport& transport) {
  if (fault.kind == FaultKind::kKill) {
    kill(getpid(), SIGKILL);
  } else if (fault.kind == FaultKind::kFreeze) {
    freeze(fault.for_s);
  } else if (of_links(fault.kind)) {
    LinkFault link;
    link.kind = fault.kind;
    if (fault.peer != PeerId{}) link.peer = fault.peer;
    link.probability = fault.probability;
    link.delay = from_seconds(fault.delay_ms / 1000);
    link.lasts = from_seconds(fault.for_s);
    link.seed = fault.seed;
    transport.inject(link);
  } else {
    return false;
  }
  return true;
}

}  // namespace convoy
