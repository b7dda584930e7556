#include "master/sim/coverage.h"

#include <iomanip>
#include <sstream>

namespace convoy::sim {
namespace {

constexpr std::array<const char*, Coverage::kKinds> kKindNames{"crash", "freeze", "slow", "leave",
                                                               "partition"};
constexpr std::array<const char*, Coverage::kDoings> kDoingNames{
    "away", "idle", "pulling", "computing", "pushing", "view change", "evaluating", "closing"};

}  // namespace

void Coverage::on_begin(const Engine& engine) {
  engine_ = &engine;
  doing_.clear();
  evaluating_.clear();
  view_change_ = closing_ = false;
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
  note(s.in_parts, "gradients in parts");
  note(s.evaluate_every > 0 && s.test_count > 0, "evaluations between");
  for (const Fault& f : s.faults) {
    if (f.kind == FaultKind::kPartition) {
      note(true, f.server ? "partition from a P-slave" : "partition from the Master");
      note(!f.inbound || !f.outbound, "one-way partition");
    }
    if (f.kind == FaultKind::kFreeze)
      note(true,
           f.lasts > s.sync.failure_timeout ? "freeze beyond the time-out" : "freeze within the time-out");
  }
}

void Coverage::on_effect(Time, PeerId peer, const Effect& effect) {
  if (peer == kMasterPeerId) {
    if (const auto* s = std::get_if<Send>(&effect)) {
      if (std::holds_alternative<Prepare>(s->envelope.message)) view_change_ = true;
    } else if (const auto* t = std::get_if<Trace>(&effect)) {
      if (std::holds_alternative<TraceActive>(*t)) view_change_ = false;
      if (std::holds_alternative<TraceTrained>(*t)) closing_ = true;
    }
    return;
  }
  if (engine_->worker(peer) == nullptr) return;
  if (std::holds_alternative<Compute>(effect)) {
    doing_[peer] = Doing::kComputing;
  } else if (std::holds_alternative<EvaluateSlice>(effect)) {
    evaluating_.insert(peer);
  } else if (const auto* s = std::get_if<Send>(&effect)) {
    const Message& m = s->envelope.message;
    if (std::holds_alternative<Pull>(m)) {
      // Pull-ahead: what it computes or pushes meanwhile says more.
      Doing& doing = doing_.try_emplace(peer, Doing::kIdle).first->second;
      if (doing != Doing::kComputing && doing != Doing::kPushing) doing = Doing::kPulling;
    } else if (std::holds_alternative<Push>(m)) {
      doing_[peer] = Doing::kPushing;
    } else if (std::holds_alternative<Commit>(m)) {
      doing_[peer] = Doing::kPulling;
    } else if (const auto* r = std::get_if<LeaseRequest>(&m); r != nullptr && r->idle) {
      doing_[peer] = Doing::kIdle;
    } else if (std::holds_alternative<EvaluateResult>(m)) {
      evaluating_.erase(peer);
    } else if (std::holds_alternative<Hello>(m)) {
      doing_[peer] = Doing::kAway;
    }
  }
}

void Coverage::on_fault(Time, const Fault& fault) {
  auto& row = counts_[static_cast<std::size_t>(fault.kind)];
  const auto count = [&](Doing doing) { ++row[static_cast<std::size_t>(doing)]; };
  const std::optional<PeerId> peer = engine_->peer_of(fault.worker);
  if (!peer) return count(Doing::kAway);
  const auto doing = doing_.find(*peer);
  count(doing == doing_.end() ? Doing::kAway : doing->second);
  if (view_change_) count(Doing::kViewChange);
  if (evaluating_.contains(*peer)) count(Doing::kEvaluating);
  if (closing_) count(Doing::kClosing);
}

void Coverage::add(const Coverage& other) {
  for (std::size_t k = 0; k < kKinds; ++k) {
    for (std::size_t d = 0; d < kDoings; ++d) counts_[k][d] += other.counts_[k][d];
  }
  for (const auto& [name, count] : other.shapes_) shapes_[name] += count;
}

std::uint64_t Coverage::count(FaultKind kind, Doing doing) const {
  return counts_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(doing)];
}

std::uint64_t Coverage::runs_with(const std::string& shape) const {
  const auto at = shapes_.find(shape);
  return at == shapes_.end() ? 0 : at->second;
}

std::string Coverage::table() const {
  std::ostringstream out;
  out << std::left << std::setw(12) << "fault";
  for (const char* name : kDoingNames) out << std::right << std::setw(12) << name;
  out << "\n";
  for (std::size_t k = 0; k < kKinds; ++k) {
    out << std::left << std::setw(12) << kKindNames[k];
    for (std::uint64_t c : counts_[k]) out << std::right << std::setw(12) << c;
    out << "\n";
  }
  for (const auto& [name, count] : shapes_) out << name << ": " << count << "; ";
  out << "\n";
  return out.str();
}

}  // namespace convoy::sim
