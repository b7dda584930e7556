#include "node/cli/fault_driver.h"

#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>
#include <vector>

namespace convoy::cli {
namespace {

constexpr auto kAskEvery = std::chrono::milliseconds(100);
// A node that was told to leave and has not gone yet.
constexpr auto kStillThere = std::chrono::milliseconds(100);

using TargetKind = config::FaultTarget::Kind;

SteadyMoment after(SteadyMoment now, double seconds) {
  return now + std::chrono::duration_cast<SteadyMoment::duration>(std::chrono::duration<double>(seconds));
}

// Time begins anew when a run goes on; clocks and epochs do not.
bool is_of_time(const config::FaultOptions& fault) {
  const std::optional<config::FaultMoment>& moment = fault.every ? fault.every : fault.at;
  return moment->unit == config::FaultMoment::Unit::kSeconds;
}

std::uint64_t random_id() {
  std::random_device random;
  return std::uint64_t{random()} << 32;
}

}  // namespace

FaultDriver::FaultDriver(const config::RunOptions& run, bool resumed, Processes& processes)
    : run_(run),
      schedule_(run.faults, run.seed),
      processes_(processes),
      first_id_(random_id()),
      skip_passed_(resumed) {}

void FaultDriver::connect(const MasterPlace& place) {
  if (run_.faults.empty() || ended_) return;
  Result<std::unique_ptr<MasterLine>> line = MasterLine::open(place);
  if (!line) {
    std::fprintf(stderr, "convoy: no fault can be injected: %s\n", line.error().message.c_str());
    return;
  }
  line_ = std::move(*line);
  ask_at_ = {};
}

std::optional<SteadyMoment> FaultDriver::due() const {
  if (ended_ || !line_) return std::nullopt;
  std::optional<SteadyMoment> next;
  if (!schedule_.over() || !untold_.empty()) next = ask_at_;
  if (!later_.empty() && (!next || later_.begin()->first < *next)) next = later_.begin()->first;
  return next;
}

void FaultDriver::work(SteadyMoment now) {
  if (ended_ || !line_) return;
  hear(now);
  do_later(now);
  if (began_) {
    // The clock goes on while the Master is silent, which may be a fault of ours.
    progress_.elapsed_s = std::chrono::duration<double>(now - *began_).count();
    const std::vector<DueFault> due = schedule_.due(progress_);
    const bool skip = std::exchange(skip_passed_, false);
    for (const DueFault& d : due) {
      if (!skip || is_of_time(schedule_.options(d))) carry_out(d, now);
    }
  }
  if (now < ask_at_) return;
  ask_at_ = now + kAskEvery;
  line_->send(StatusRequest{});
  for (const Inject& fault : untold_) line_->send(fault);
}

void FaultDriver::hear(SteadyMoment now) {
  for (const Message& message : line_->take()) {
    if (const auto* injected = std::get_if<Injected>(&message)) {
      std::erase_if(untold_, [&](const Inject& fault) { return fault.id == injected->id; });
    } else if (const auto* refuse = std::get_if<Refuse>(&message)) {
      // It may be on its way back. The fault waits for it, as long as the run goes on.
      if (std::exchange(refused_, refuse->text) != refuse->text)
        std::fprintf(stderr, "convoy: a fault waits: %s\n", refuse->text.c_str());
    } else if (const auto* status = std::get_if<StatusReply>(&message)) {
      const auto json = nlohmann::json::parse(status->json, nullptr, false);
      if (!json.is_object() || !json.value("started", false)) continue;
      if (!began_) began_ = now;
      progress_.clock = std::max(progress_.clock, json.value("clock", std::int64_t{0}));
      progress_.epoch = std::max(progress_.epoch, json.value("epoch", 0.0));
    }
  }
}

void FaultDriver::do_later(SteadyMoment now) {
  while (!later_.empty() && later_.begin()->first <= now) {
    const Later later = std::move(later_.begin()->second);
    later_.erase(later_.begin());
    if (!later.start) {
      processes_.signal(later.name, SIGCONT);
    } else if (processes_.expected(later.name)) {
      later_.emplace(now + kStillThere, later);
    } else if (Result<void> ok = processes_.start_node(later.name); !ok) {
      std::fprintf(stderr, "convoy: %s does not come back: %s\n", later.name.c_str(),
                   ok.error().message.c_str());
    }
  }
}

std::optional<std::string> FaultDriver::choose(const config::FaultTarget& target, FaultKind kind,
                                               const DueFault& due) {
  const bool w_slave = target.kind == TargetKind::kWSlave || target.kind == TargetKind::kAnyWSlave;
  const std::string stem = w_slave ? "w-slave-" : "p-slave-";
  const bool joins = kind == FaultKind::kJoin;
  const auto can = [&](const std::string& name) {
    return joins ? !processes_.expected(name) : processes_.running(name);
  };
  if (target.kind == TargetKind::kMaster) return "master";
  if (target.kind == TargetKind::kWSlave || target.kind == TargetKind::kPSlave) {
    std::string name = stem + std::to_string(target.index);
    return can(name) ? std::optional(std::move(name)) : std::nullopt;
  }
  // The seed says where to begin among those of the file; who is not there is passed over.
  const std::size_t count = w_slave ? run_.local.w_slaves.size() : run_.local.p_slaves.size();
  const std::size_t first = schedule_.choose(due, count);
  for (std::size_t i = 0; i < count; ++i) {
    std::string name = stem + std::to_string((first + i) % count);
    if (can(name)) return name;
  }
  if (!joins) return std::nullopt;
  for (std::size_t i = count;; ++i) {
    std::string name = stem + std::to_string(i);
    if (can(name)) return name;
  }
}

void FaultDriver::carry_out(const DueFault& due, SteadyMoment now) {
  const config::FaultOptions& fault = schedule_.options(due);
  Inject inject;
  const std::optional<std::string> target = choose(fault.target, fault.kind, due);
  const std::optional<std::string> to = fault.to ? choose(*fault.to, fault.kind, due) : std::string();
  if (!target || !to || *target == *to) {
    std::fprintf(stderr, "convoy: a %s was due, but there is nobody to suffer it\n",
                 config::to_string(fault.kind));
    return;
  }
  inject.id = first_id_ + ++count_;
  inject.kind = fault.kind;
  inject.target = *target;
  inject.to = *to;
  inject.for_s = fault.for_s;
  inject.factor = fault.factor;
  inject.probability = fault.probability;
  inject.delay_ms = fault.delay_ms;
  inject.seed = schedule_.seed(due);
  inject.done = to_process(fault, *target, now);
  line_->send(inject);
  untold_.push_back(std::move(inject));
}

bool FaultDriver::to_process(const config::FaultOptions& fault, const std::string& name, SteadyMoment now) {
  switch (fault.kind) {
    case FaultKind::kKill:
      processes_.keep_away(name, after(now, fault.for_s));
      processes_.signal(name, SIGKILL);
      return true;
    case FaultKind::kFreeze:
      processes_.signal(name, SIGSTOP);
      if (fault.for_s > 0) later_.emplace(after(now, fault.for_s), Later{name, false});
      return true;
    case FaultKind::kLeave:
      processes_.signal(name, SIGINT);
      if (fault.for_s > 0) later_.emplace(after(now, fault.for_s), Later{name, true});
      return true;
    case FaultKind::kJoin:
      if (Result<void> ok = processes_.start_node(name); !ok) {
        std::fprintf(stderr, "convoy: %s cannot join: %s\n", name.c_str(), ok.error().message.c_str());
      }
      return true;
    default:
      return false;
  }
}

void FaultDriver::end() {
  ended_ = true;
  for (const auto& [when, later] : later_) {
    if (!later.start) processes_.signal(later.name, SIGCONT);
  }
  later_.clear();
  line_.reset();
}

}  // namespace convoy::cli
