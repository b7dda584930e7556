// The P-slave's part of a view change. See parameter_server.h.
#include <algorithm>
#include <sstream>

#include "actors/parameter_server.h"
#include "messages/base/check.h"

namespace convoy {

// ---- Prepare and Report

void ParameterServer::on_prepare(Time, const Prepare& message, Effects& out) {
  if (message.next == prepared_ && report_) {
    send(kMasterPeerId, *report_, out);
    return;
  }
  if (message.next <= prepared_ || message.next <= record_.view) return;
  if (message.base == record_.view && !active_ && record_.view != View{}) activate(out);  // overtook Go
  prepared_ = message.next;
  cut_.reset();
  waiting_.clear();
  Report report;
  report.next = message.next;
  report.base = message.base;
  if (active_record_.view > message.base) report.newer = active_record_;
  std::map<MemberKey, ReportedMember> members;
  for (auto& [shard, copy] : copies_) {
    copy.freeze();
    copy.report(members, report.ledger);
  }
  for (const auto& [key, member] : members) report.members.push_back(member);
  report_ = std::move(report);
  send(kMasterPeerId, *report_, out);
}

// ---- Cut

void ParameterServer::on_cut(Time now, const Cut& message, Effects& out) {
  const View view = message.record.view;
  if (view == record_.view && prepared_ == view) return send_done(out);  // repeated: our Done was lost
  if (view <= record_.view || view < prepared_) return;
  if (cut_ && cut_->cut.record.view == view) return;  // repeated, at work
  prepared_ = view;
  CutWork work;
  work.cut = message;
  for (const auto& [shard, copy] : copies_) work.unfinished.insert(shard);
  work.repeat.start(now, timing_.retry);
  cut_ = std::move(work);
  next_.clear();
  std::erase_if(waiting_, [&](const auto& w) { return w.second.next != view; });
  for (const ServerRecord& s : message.record.servers) {
    if (s.id != id_) out.push_back(Connect{s.peer, s.address, s.public_key});
  }
  for (const ChunkSource& s : message.sources) {
    if (s.server.id != id_ && message.record.find_server(s.server.id) == nullptr)
      out.push_back(Connect{s.server.peer, s.server.address, s.server.public_key});
  }
  plan_fetches(out);
  finish_copies(out);
}

const ChunkSource* ParameterServer::source_of(ChunkId chunk) const {
  for (const ChunkSource& s : cut_->cut.sources) {
    if (std::binary_search(s.chunks.begin(), s.chunks.end(), chunk)) return &s;
  }
  return nullptr;
}

// Brings the copies to the cut that can be; goes on when all are there.
void ParameterServer::finish_copies(Effects& out) {
  if (!cut_) return;
  for (auto& [shard, copy] : copies_) {
    if (!cut_->unfinished.contains(shard)) continue;
    const ChunkSource* source = copy.chunks().empty() ? nullptr : source_of(copy.chunks().front());
    const bool follows = source != nullptr && source->server.id != id_;
    ServerPost with = post(copy, out);
    if (follows) copy.take_early(with);
    if (follows && !copy.stream_ended()) continue;
    if (const std::string why = copy.why_not(cut_->cut.members); !why.empty()) {
      std::ostringstream text;
      text << "cannot make the cut of " << cut_->cut.record.view << " for " << shard << ": " << why;
      out.push_back(Trace{TraceViolation{text.str()}});
      return;
    }
    copy.make_cut(with, cut_->cut.members);
    cut_->unfinished.erase(shard);
  }
  answer_fetches(out);
  if (cut_->unfinished.empty() && cut_->fetching.empty()) complete_cut(out);
}

// ---- Chunks that move

// Nothing is fetched that a copy of the active view has; what an earlier attempt fetched may be of another
// order of updates, and is fetched again.
void ParameterServer::plan_fetches(Effects& out) {
  const std::vector<ChunkId> here = chunks_of(copies_, false);
  std::vector<ChunkId> missing;
  for (const ShardRecord& s : cut_->cut.record.shards) {
    if (s.owner != id_ && s.backup != id_) continue;
    for (ChunkId c : s.chunks) {
      if (!std::binary_search(here.begin(), here.end(), c)) missing.push_back(c);
    }
  }
  std::sort(missing.begin(), missing.end());
  if (cut_->cut.sources.empty()) {
    if (!missing.empty()) out.push_back(InitialiseChunks{missing});
    return;
  }
  for (ChunkId c : missing) {
    if (const ChunkSource* source = source_of(c)) cut_->fetching[source->server.peer].push_back(c);
  }
  send_fetches(out);
}

void ParameterServer::send_fetches(Effects& out) {
  for (const auto& [peer, chunks] : cut_->fetching)
    send(peer, FetchChunks{cut_->cut.record.view, chunks}, out);
}

bool ParameterServer::at_cut(const std::vector<ChunkId>& chunks) const {
  return std::all_of(chunks.begin(), chunks.end(), [&](ChunkId c) {
    return std::any_of(copies_.begin(), copies_.end(), [&](const auto& entry) {
      const ShardCopy& copy = entry.second;
      return std::binary_search(copy.chunks().begin(), copy.chunks().end(), c) &&
             (!cut_ || !cut_->unfinished.contains(entry.first));
    });
  });
}

void ParameterServer::on_fetch(const Envelope& from, const FetchChunks& message, Effects& out) {
  const View view = message.next;
  if (view < prepared_ || (active_ && view == record_.view)) return;  // an attempt that is over
  waiting_[from.from] = message;
  answer_fetches(out);  // or later: our own Cut is on its way
}

void ParameterServer::answer_fetches(Effects& out) {
  const ViewRecord& record = cut_ ? cut_->cut.record : record_;
  if (record.view != prepared_ || (!cut_ && active_)) return;
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    const auto& [peer, fetch] = *at;
    const bool part_of_it = std::any_of(record.servers.begin(), record.servers.end(),
                                        [&, of = peer](const ServerRecord& s) { return s.peer == of; });
    if (fetch.next != record.view || (part_of_it && !at_cut(fetch.chunks))) {
      ++at;
      continue;
    }
    if (part_of_it)
      out.push_back(
          SendChunks{peer, envelope(ChunkStates{record.view, Encoding::kF32, {}}), fetch.chunks, {}});
    else
      ++bad_messages_;
    at = waiting_.erase(at);
  }
}

void ParameterServer::on_states(const Envelope& from, const ChunkStates& message, Effects& out) {
  if (!cut_ || message.next != cut_->cut.record.view) return;
  const auto wanted = cut_->fetching.find(from.from);
  if (wanted == cut_->fetching.end()) return;
  std::vector<ChunkId> came;
  came.reserve(message.chunks.size());
  for (const ChunkData& c : message.chunks) came.push_back(c.chunk);
  std::sort(came.begin(), came.end());
  if (came != wanted->second) {
    ++bad_messages_;
    return;
  }
  cut_->fetching.erase(wanted);
  out.push_back(InstallChunks{message.encoding, message.chunks});
  if (cut_->unfinished.empty() && cut_->fetching.empty()) complete_cut(out);
}

// ---- Done and Go

void ParameterServer::complete_cut(Effects& out) {
  const Cut cut = std::move(cut_->cut);
  cut_.reset();
  for (const auto& [shard, copy] : copies_) {
    if (copy.ledger() != cut.ledger) {
      std::ostringstream text;
      text << "the copy of " << shard << " has ledger " << copy.ledger() << " at the cut of "
           << cut.record.view << ", not " << cut.ledger;
      out.push_back(Trace{TraceViolation{text.str()}});
      return;
    }
  }
  record_ = cut.record;
  active_ = false;
  report_.reset();
  cut_ledger_ = cut.ledger;
  by_peer_.clear();
  for (const MemberRecord& r : record_.members) by_peer_[r.peer] = r.key;
  next_.clear();
  for (std::uint32_t s = 0; s < record_.shards.size(); ++s) {
    const ShardRecord& shard = record_.shards[s];
    if (shard.owner != id_ && shard.backup != id_) continue;
    ShardCopy copy(record_, ShardId(s), shard.owner == id_, sync_, cut.ledger, timing_.retry);
    if (!copies_.empty()) {
      const auto owned =
          std::find_if(copies_.begin(), copies_.end(), [](const auto& c) { return c.second.owned(); });
      copy.inherit(owned != copies_.end() ? owned->second : copies_.begin()->second);
    }
    next_.emplace(ShardId(s), std::move(copy));
  }
  if (cut.snapshot) {
    snapshot_ = cut.snapshot;
    snapshot_record_ = record_;
    out.push_back(TakeSnapshot{*cut.snapshot, chunks_of(next_, true)});
  }
  if (phase_ == Phase::kJoining) {
    phase_ = Phase::kInRun;
    ask_.stop();
  }
  out.push_back(Trace{TraceCut{record_, cut.members, cut.ledger}});
  send_done(out);
}

void ParameterServer::send_done(Effects& out) {
  send(kMasterPeerId, Done{record_.view, cut_ledger_.digest(), log_first_ + log_.size() + fresh_log_.size()},
       out);
  if (!log_.empty() || !fresh_log_.empty()) log_due_ = now_;  // the Master waits for the log of the last cut
}

void ParameterServer::on_go(const Go& message, Effects& out) {
  if (message.record.view == record_.view && !active_) activate(out);
}

void ParameterServer::activate(Effects& out) {
  active_ = true;
  for (const ServerRecord& s : active_record_.servers) {
    const auto& now = record_.servers;
    const auto same = [&](const ServerRecord& other) { return other.peer == s.peer; };
    if (std::none_of(now.begin(), now.end(), same)) out.push_back(Disconnect{s.peer});
  }
  active_record_ = record_;
  copies_ = std::move(next_);
  next_.clear();
  waiting_.clear();
  out.push_back(KeepChunks{chunks_of(copies_, false)});
  out.push_back(Trace{TraceActive{record_, {}}});
}

std::vector<ChunkId> ParameterServer::chunks_of(const std::map<ShardId, ShardCopy>& copies,
                                                bool owned_only) const {
  std::vector<ChunkId> chunks;
  for (const auto& [shard, copy] : copies) {
    if (owned_only && !copy.owned()) continue;
    chunks.insert(chunks.end(), copy.chunks().begin(), copy.chunks().end());
  }
  std::sort(chunks.begin(), chunks.end());
  return chunks;
}

}  // namespace convoy
