#include "master/sim/coverage.h"

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <vector>

namespace convoy::sim {
namespace {

constexpr std::array kKindNames{"crash", "freeze", "slow", "leave", "partition"};

constexpr const char* kAway = "away";
constexpr const char* kIdle = "idle";
constexpr const char* kPulling = "pulling";
constexpr const char* kComputing = "computing";
constexpr const char* kPushing = "pushing";
constexpr const char* kServing = "serving";
constexpr const char* kReported = "reported";
constexpr const char* kCutting = "cutting";
constexpr const char* kFetching = "fetching";
constexpr const char* kAtCut = "at the cut";
constexpr const char* kReports = "reports";
constexpr const char* kDones = "dones";
constexpr const char* kJournal = "journal";
constexpr const char* kViewChange = "view change";
constexpr const char* kEvaluating = "evaluating";
constexpr const char* kClosing = "closing";
constexpr const char* kNobody = "nobody";

}  // namespace

void Coverage::on_begin(const Engine& engine) {
  engine_ = &engine;
  doing_ = {{kMasterPeerId, kIdle}};
  evaluating_.clear();
  view_change_ = evaluation_ = closing_ = false;
  const Scenario& s = engine.scenario();
  const auto note = [&](bool holds, const char* name) {
    if (holds) ++shapes_[name];
  };
  const Network& n = s.network;
  note(n.loss > 0, "loss");
  note(n.duplicate > 0, "duplicates");
  note(n.reorder > 0, "reordering");
  note(n.loss > 0 && n.duplicate > 0 && n.reorder > 0, "all three");
  note(s.end_position < static_cast<std::int64_t>(s.workers.size()), "fewer samples than W-slaves");
  note(s.end_position == 1, "one sample");
  note(s.sync.batch < static_cast<std::int64_t>(s.workers.size()), "batch below W-slaves");
  note(s.servers > s.chunks, "more P-slaves than chunks");
  note(s.uneven_chunks, "chunks of different sizes");
  note(s.in_parts, "gradients in parts");
  note(s.evaluate_every > 0 && s.test_count > 0, "evaluations between");
  note(s.backups && s.servers + s.more_servers.size() > 1, "backups");
  note(!s.more_servers.empty(), "P-slaves join");
  for (const Fault& f : s.faults) {
    note(f.kind == FaultKind::kPartition && f.on_master, "Master cut off from all");
    if (f.kind == FaultKind::kPartition && !f.on_master) {
      note(!f.on_server, f.server ? "W-slave cut off from a P-slave" : "W-slave cut off from the Master");
      note(f.on_server, f.other_server ? "P-slave cut off from another" : "P-slave cut off from the Master");
      note(!f.inbound || !f.outbound, "one-way partition");
    }
    note(f.kind == FaultKind::kAlone, "commits that reach one P-slave alone");
    if (f.kind == FaultKind::kFreeze)
      note(true,
           f.lasts > s.sync.failure_timeout ? "freeze beyond the time-out" : "freeze within the time-out");
  }
}

void Coverage::on_event(Time, PeerId peer, const Event& event) {
  const auto* envelope = std::get_if<Envelope>(&event);
  if (envelope == nullptr || !std::holds_alternative<Cut>(envelope->message)) return;
  Doing& doing = doing_.try_emplace(peer, kAway).first->second;
  if (doing == kReported || doing == kAway) doing = kCutting;  // else it comes again, or late
}

void Coverage::on_effect(Time, PeerId peer, const Effect& effect) {
  if (peer == kMasterPeerId)
    master_effect(effect);
  else if (engine_->worker(peer) != nullptr)
    worker_effect(peer, effect);
  else
    server_effect(peer, effect);
}

void Coverage::master_effect(const Effect& effect) {
  Doing& doing = doing_[kMasterPeerId];
  if (const auto* s = std::get_if<Send>(&effect)) {
    const Message& m = s->envelope.message;
    if (std::holds_alternative<Prepare>(m)) doing = kReports;
    if (std::holds_alternative<Cut>(m)) doing = kDones;
    if (std::holds_alternative<Evaluate>(m)) evaluation_ = true;
  } else if (std::holds_alternative<Journal>(effect)) {
    doing = kJournal;
  } else if (const auto* t = std::get_if<Trace>(&effect)) {
    if (std::holds_alternative<TraceActive>(*t)) doing = kIdle;
    if (std::holds_alternative<TraceTrained>(*t)) closing_ = true;
    if (std::holds_alternative<TraceEvaluation>(*t)) evaluation_ = false;
  }
  view_change_ = doing == kReports || doing == kDones || doing == kJournal;
}

void Coverage::server_effect(PeerId peer, const Effect& effect) {
  if (const auto* s = std::get_if<Send>(&effect)) {
    const Message& m = s->envelope.message;
    if (std::holds_alternative<Hello>(m)) doing_[peer] = kAway;
    if (std::holds_alternative<Report>(m)) doing_[peer] = kReported;
    if (std::holds_alternative<FetchChunks>(m)) doing_[peer] = kFetching;
  } else if (const auto* t = std::get_if<Trace>(&effect)) {
    if (std::holds_alternative<TraceCut>(*t)) doing_[peer] = kAtCut;
    if (std::holds_alternative<TraceActive>(*t)) doing_[peer] = kServing;
  }
}

void Coverage::worker_effect(PeerId peer, const Effect& effect) {
  if (std::holds_alternative<Compute>(effect)) {
    doing_[peer] = kComputing;
  } else if (std::holds_alternative<EvaluateSlice>(effect)) {
    evaluating_.insert(peer);
  } else if (const auto* s = std::get_if<Send>(&effect)) {
    const Message& m = s->envelope.message;
    if (std::holds_alternative<Pull>(m)) {
      // Pull-ahead: what it computes or pushes meanwhile says more.
      Doing& doing = doing_.try_emplace(peer, kIdle).first->second;
      if (doing != kComputing && doing != kPushing) doing = kPulling;
    } else if (std::holds_alternative<Push>(m)) {
      doing_[peer] = kPushing;
    } else if (std::holds_alternative<Commit>(m)) {
      doing_[peer] = kPulling;
    } else if (const auto* r = std::get_if<LeaseRequest>(&m); r != nullptr && r->idle) {
      doing_[peer] = kIdle;
    } else if (std::holds_alternative<EvaluateResult>(m)) {
      evaluating_.erase(peer);
    } else if (std::holds_alternative<Hello>(m)) {
      doing_[peer] = kAway;
    }
  }
}

void Coverage::on_fault(Time, const Fault& fault, std::optional<PeerId> victim) {
  const Role role = fault.on_master ? Role::kMaster : fault.on_server ? Role::kServer : Role::kWorker;
  const auto count = [&](Doing doing) { ++counts_[{role, fault.kind, doing}]; };
  if (!victim) return count(kNobody);
  const auto doing = doing_.find(*victim);
  count(doing == doing_.end() ? kAway : doing->second);
  if (view_change_) count(kViewChange);
  if (role == Role::kWorker ? evaluating_.contains(*victim) : evaluation_) count(kEvaluating);
  if (closing_) count(kClosing);
}

void Coverage::add(const Coverage& other) {
  for (const auto& [what, count] : other.counts_) counts_[what] += count;
  for (const auto& [name, count] : other.shapes_) shapes_[name] += count;
}

struct Coverage::Part {
  Role role;
  const char* name;
  std::vector<FaultKind> kinds;
  std::vector<Doing> doings;
};

const std::vector<Coverage::Part>& Coverage::parts() {
  using enum FaultKind;
  static const std::vector<Part> all{
      {Role::kWorker,
       "W-slave",
       {kCrash, kFreeze, kSlow, kLeave, kPartition},
       {kAway, kIdle, kPulling, kComputing, kPushing, kViewChange, kEvaluating, kClosing}},
      {Role::kServer,
       "P-slave",
       {kCrash, kFreeze, kSlow, kLeave, kPartition},
       {kAway, kServing, kReported, kCutting, kFetching, kAtCut, kViewChange, kEvaluating, kClosing}},
      {Role::kMaster,
       "Master",
       {kCrash, kFreeze, kSlow, kLeave, kPartition},
       {kIdle, kReports, kDones, kJournal, kEvaluating, kClosing}}};
  return all;
}

// Cells that cannot be met, and why. An empty phase stands for all.
const char* Coverage::why_never(Role role, FaultKind kind, Doing doing) {
  using enum FaultKind;
  struct Never {
    Role role;
    FaultKind kind;
    std::vector<Doing> doings;
    const char* why;
  };
  static const std::vector<Never> all{
      {Role::kMaster, kSlow, {}, "the Master computes nothing"},
      {Role::kMaster, kLeave, {}, "a Master that is asked to go ends the run, on purpose"},
      {Role::kServer, kSlow, {}, "what a P-slave computes takes no time here"},
  };
  for (const Never& n : all) {
    if (n.role != role || n.kind != kind) continue;
    if (n.doings.empty() || std::find(n.doings.begin(), n.doings.end(), doing) != n.doings.end())
      return n.why;
  }
  return nullptr;
}

std::uint64_t Coverage::count_of(Role role, FaultKind kind, Doing doing) const {
  const auto at = counts_.find({role, kind, doing});
  return at == counts_.end() ? 0 : at->second;
}

std::string Coverage::table() const {
  std::ostringstream out;
  std::set<std::string> reasons;
  for (const Part& part : parts()) {
    out << std::left << std::setw(10) << part.name;
    for (Doing doing : part.doings) out << std::right << std::setw(12) << doing;
    out << std::right << std::setw(12) << kNobody << "\n";
    for (FaultKind kind : part.kinds) {
      out << std::left << std::setw(10) << kKindNames[static_cast<std::size_t>(kind)];
      for (Doing doing : part.doings) {
        const std::uint64_t count = count_of(part.role, kind, doing);
        const char* never = why_never(part.role, kind, doing);
        if (never != nullptr)
          reasons.insert(std::string(part.name) + " " + kKindNames[static_cast<std::size_t>(kind)] + ": " +
                         never);
        if (never != nullptr && count == 0)
          out << std::right << std::setw(12) << "-";
        else
          out << std::right << std::setw(12) << count;
      }
      out << std::right << std::setw(12) << count_of(part.role, kind, kNobody) << "\n";
    }
  }
  for (const std::string& reason : reasons) out << "- " << reason << "\n";
  for (const auto& [name, count] : shapes_) out << name << ": " << count << "; ";
  out << "\n";
  return out.str();
}

std::vector<std::string> Coverage::holes() const {
  std::vector<std::string> found;
  for (const Part& part : parts()) {
    for (FaultKind kind : part.kinds) {
      for (Doing doing : part.doings) {
        const bool never = why_never(part.role, kind, doing) != nullptr;
        const bool met = count_of(part.role, kind, doing) > 0;
        if (met != never) continue;
        found.push_back(std::string(part.name) + " " + kKindNames[static_cast<std::size_t>(kind)] +
                        " while " + doing + (met ? ": cannot be met, and was" : ": never met"));
      }
    }
  }
  return found;
}

std::vector<std::string> Coverage::below(std::uint64_t hits) const {
  std::vector<std::string> found;
  for (const Part& part : parts()) {
    for (FaultKind kind : part.kinds) {
      for (Doing doing : part.doings) {
        const std::uint64_t count = count_of(part.role, kind, doing);
        if (why_never(part.role, kind, doing) != nullptr || count >= hits) continue;
        found.push_back(std::string(part.name) + " " + kKindNames[static_cast<std::size_t>(kind)] +
                        " while " + doing + ": " + std::to_string(count));
      }
    }
  }
  return found;
}

}  // namespace convoy::sim
