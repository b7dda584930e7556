#include "node/record/tenure.h"

#include <algorithm>
#include <set>

#include "node/record/text.h"

namespace convoy::record {
namespace {

bool has_copy(const ViewRecord& record, ServerId server) {
  return std::any_of(record.shards.begin(), record.shards.end(), [&](const ShardRecord& shard) {
    return shard.owner == server || shard.backup == server;
  });
}

Tenure::End end_of(ServerKey server, const Tenure& tenure, bool rolled_back, const Evidence& evidence) {
  if (const auto end = evidence.ends.find(server); end != evidence.ends.end()) {
    const bool handed_over = end->second == ServerEnd::kLeft && tenure.until;
    return handed_over ? Tenure::End::kLeft : Tenure::End::kLost;
  }
  if (rolled_back) return Tenure::End::kCutShort;
  // A Master that was killed between a view and its note of who left with it.
  if (tenure.until) return Tenure::End::kLost;
  return evidence.finished ? Tenure::End::kStayed : Tenure::End::kCutShort;
}

// The last stretch of which the log has anything.
std::optional<std::size_t> last_told(const Tenure& tenure, const IntervalSet& logged) {
  for (std::size_t i = tenure.stretches.size(); i-- > 0;) {
    if (logged.intersects(tenure.stretches[i].committed)) return i;
  }
  return std::nullopt;
}

}  // namespace

std::map<ServerKey, Tenure> tenures(const Evidence& evidence, std::int64_t end_position) {
  std::map<ServerKey, Tenure> served;
  std::set<ServerKey> rolled_back;
  const auto& views = evidence.views;
  for (std::size_t v = 0; v < views.size(); ++v) {
    const ViewRecord& record = views[v].record;
    const Journal::Active* next = v + 1 < views.size() ? &views[v + 1] : nullptr;
    const bool goes_back = next != nullptr && next->record.history != record.history;
    IntervalSet committed = next != nullptr && !goes_back ? next->ledger : IntervalSet{{0, end_position}};
    committed.erase(views[v].ledger);
    std::map<MemberKey, Clock> members;
    for (const MemberRecord& m : record.members) members[m.key] = m.n;
    for (const ServerRecord& s : record.servers) {
      const ServerKey key{s.id, s.incarnation};
      const auto [at, fresh] = served.try_emplace(key);
      Tenure& tenure = at->second;
      if (fresh) tenure.from = record.view;
      tenure.history = record.history;
      tenure.until = next != nullptr ? std::optional(next->record.view) : std::nullopt;
      if (has_copy(record, s.id)) tenure.stretches.push_back({committed, members});
      if (goes_back) rolled_back.insert(key);
    }
  }
  for (auto& [key, tenure] : served) tenure.end = end_of(key, tenure, rolled_back.contains(key), evidence);
  return served;
}

LogGap hold_against(const Tenure& tenure, const IntervalSet& logged) {
  // Logs are sent in order: one that tells of a view is complete for those before.
  std::size_t complete = tenure.stretches.size();
  if (!tenure.must_be_complete()) complete = last_told(tenure, logged).value_or(0);
  LogGap gap{{}, logged};
  for (std::size_t i = 0; i < tenure.stretches.size(); ++i) {
    if (i < complete) gap.missing.insert(tenure.stretches[i].committed);
    gap.foreign.erase(tenure.stretches[i].committed);
  }
  gap.missing.erase(logged);
  return gap;
}

std::optional<std::pair<MemberKey, Clock>> left_out(const Tenure& tenure,
                                                    const std::vector<CommitLogEntry>& log) {
  IntervalSet logged;
  for (const CommitLogEntry& e : log) logged.insert(e.trained);
  const std::optional<std::size_t> last = last_told(tenure, logged);
  if (!last) return std::nullopt;
  const Tenure::Stretch& stretch = tenure.stretches[*last];
  std::map<MemberKey, IntervalSet> told;
  for (const CommitLogEntry& e : log) {
    if (stretch.committed.intersects(e.trained)) told[e.member].insert({e.clock.value, e.clock.value + 1});
  }
  for (const auto& [member, clocks] : told) {
    const auto began = stretch.members.find(member);
    if (began == stretch.members.end()) continue;
    const IntervalSet holes = clocks.complement({began->second.value, clocks.intervals().back().end});
    if (!holes.empty()) return std::pair(member, Clock(holes.intervals().front().begin));
  }
  return std::nullopt;
}

std::string describe(const Tenure& tenure) {
  const std::string from = "from " + in_words(tenure.from) + " ";
  switch (tenure.end) {
    case Tenure::End::kStayed:
      return from + "to the end";
    case Tenure::End::kLeft:
      return from + "until it left, with " + in_words(*tenure.until);
    case Tenure::End::kLost:
      return from + "until it was lost" + (tenure.until ? ", before " + in_words(*tenure.until) : "");
    case Tenure::End::kCutShort:
      return from +
             (tenure.until ? "until the run was rolled back, before " + in_words(*tenure.until) : "on");
    case Tenure::End::kNever:
      return "in no view";
  }
  return {};
}

std::string to_string(Tenure::End end) {
  switch (end) {
    case Tenure::End::kStayed:
      return "stayed";
    case Tenure::End::kLeft:
      return "left";
    case Tenure::End::kLost:
      return "lost";
    case Tenure::End::kCutShort:
      return "cut short";
    case Tenure::End::kNever:
      return "never";
  }
  return {};
}

}  // namespace convoy::record
