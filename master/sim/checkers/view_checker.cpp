#include "master/sim/checkers/view_checker.h"

#include <algorithm>
#include <bit>
#include <sstream>

namespace convoy::sim {

void ViewChecker::on_event(Time, PeerId peer, const Event& event) {
  if (peer != kMasterPeerId) return;
  if (const auto* journaled = std::get_if<Journaled>(&event)) journaled_.insert(journaled->view);
  const auto* envelope = std::get_if<Envelope>(&event);
  if (envelope == nullptr) return;
  if (const auto* done = std::get_if<Done>(&envelope->message)) done_[done->view].insert(envelope->from);
}

void ViewChecker::on_effect(Time, PeerId peer, const Effect& effect) {
  std::ostringstream text;
  const auto* trace = std::get_if<Trace>(&effect);
  if (trace != nullptr) {
    if (const auto* cut = std::get_if<TraceCut>(trace); cut != nullptr) {
      frozen_.erase(peer);
    } else if (const auto* apply = std::get_if<TraceApply>(trace)) {
      // What a cut applies counts when its view is active; what a backup applies, when its owner does.
      if (!apply->owned || frozen_.contains(peer)) return;
      Clock& most = applied_[apply->member];
      most = std::max(most, apply->clock + 1);
    } else if (const auto* active = std::get_if<TraceActive>(trace);
               active != nullptr && peer == kMasterPeerId) {
      on_active(active->record);
    } else if (std::holds_alternative<TraceLost>(*trace) || std::holds_alternative<TraceJoined>(*trace)) {
      views_at_rest_ = 0;
    }
    return;
  }
  const auto* send = std::get_if<Send>(&effect);
  if (send != nullptr && std::holds_alternative<Report>(send->envelope.message)) frozen_.insert(peer);
  const auto* chunks = std::get_if<SendChunks>(&effect);
  const Envelope* envelope = send != nullptr     ? &send->envelope
                             : chunks != nullptr ? &chunks->envelope
                                                 : nullptr;
  if (envelope == nullptr) return;
  if (const auto* reply = std::get_if<PullReply>(&envelope->message)) shown_ = std::max(shown_, reply->c_min);
  if (!frozen_.contains(peer)) return;
  if (std::holds_alternative<PullReply>(envelope->message) ||
      std::holds_alternative<PushAck>(envelope->message) ||
      std::holds_alternative<CommitAck>(envelope->message)) {
    text << peer << " has reported and still says " << describe(envelope->message);
    violate(text.str());
  }
}

void ViewChecker::on_active(const ViewRecord& record) {
  std::ostringstream text;
  if (record.view <= active_) {
    text << record.view << " becomes active after " << active_;
    return violate(text.str());
  }
  active_ = record.view;
  const Scenario& scenario = engine_.scenario();
  const std::int64_t evaluations =
      scenario.evaluate_every > 0 ? scenario.end_position / scenario.evaluate_every + 1 : 1;
  // While one is silent the others share what is left again and again, half of it each time.
  const auto shares = std::bit_width(static_cast<std::uint64_t>(scenario.end_position));
  if (++views_at_rest_ > scenario.workers.size() + static_cast<std::size_t>(evaluations + shares) + 2 +
                             scenario.servers + scenario.more_servers.size()) {
    text << record.view << " is view " << views_at_rest_ << " since anything happened";
    return violate(text.str());
  }
  if (!journaled_.contains(record.view)) {
    text << record.view << " becomes active before the journal has it";
    return violate(text.str());
  }
  for (const ServerRecord& s : record.servers) {
    if (done_[record.view].contains(s.peer)) continue;
    text << record.view << " becomes active before " << s.id << " is done";
    return violate(text.str());
  }
  for (const MemberRecord& m : record.members) {
    if (m.n < shown_) {
      text << m.key << " starts " << record.view << " at " << m.n << ", but c_min " << shown_ << " was shown";
      return violate(text.str());
    }
    const auto applied = applied_.find(m.key);
    if (applied == applied_.end() || m.n >= applied->second) continue;
    text << m.key << " starts " << record.view << " at " << m.n << ", but " << applied->second
         << " of its clocks are applied";
    return violate(text.str());
  }
}

}  // namespace convoy::sim
