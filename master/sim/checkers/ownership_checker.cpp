#include "master/sim/checkers/ownership_checker.h"

#include <algorithm>
#include <map>
#include <sstream>

namespace convoy::sim {

void OwnershipChecker::on_effect(Time, PeerId peer, const Effect& effect) {
  const auto* trace = std::get_if<Trace>(&effect);
  const auto* active = trace == nullptr ? nullptr : std::get_if<TraceActive>(trace);
  if (active == nullptr || peer != kMasterPeerId) return;
  check_owners(active->record);
  check_backups(active->record);
  check_balance(active->record);
  check_stability(active->record);
  before_ = active->record;
}

void OwnershipChecker::check_owners(const ViewRecord& record) {
  std::ostringstream text;
  std::map<ChunkId, ServerId> owners;
  std::map<ServerId, int> shards;
  for (const ShardRecord& s : record.shards) {
    text << "in " << record.view << " ";
    if (record.find_server(s.owner) == nullptr)
      return text << s.owner << " owns chunks and is not in the view", violate(text.str());
    if (s.chunks.empty() || ++shards[s.owner] > 1)
      return text << s.owner << " owns an empty shard, or two", violate(text.str());
    for (ChunkId c : s.chunks) {
      const auto [at, first] = owners.try_emplace(c, s.owner);
      if (!first) return text << c << " belongs to " << at->second << " and " << s.owner, violate(text.str());
    }
    text.str({});
  }
  if (owners.size() == engine_.scenario().chunks) return;
  text << owners.size() << " of " << engine_.scenario().chunks << " chunks have an owner in " << record.view;
  violate(text.str());
}

void OwnershipChecker::check_backups(const ViewRecord& record) {
  const bool wanted = engine_.scenario().backups && record.servers.size() > 1;
  for (const ShardRecord& s : record.shards) {
    std::ostringstream text;
    text << "in " << record.view << " the shard of " << s.owner;
    if (s.backup.has_value() != wanted)
      return text << (wanted ? " has no backup" : " has a backup"), violate(text.str());
    if (s.backup && (*s.backup == s.owner || record.find_server(*s.backup) == nullptr))
      return text << " is backed up by " << *s.backup, violate(text.str());
  }
}

void OwnershipChecker::check_balance(const ViewRecord& record) {
  std::map<ServerId, std::int64_t> loads;
  for (const ServerRecord& s : record.servers) loads[s.id] = 0;
  std::int64_t largest = 0;
  for (const ShardRecord& s : record.shards) {
    for (ChunkId c : s.chunks) {
      const std::int64_t bytes = engine_.scenario().chunk_bytes(c.value);
      loads[s.owner] += bytes;
      largest = std::max(largest, bytes);
    }
  }
  const auto [least, most] = std::minmax_element(
      loads.begin(), loads.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most->second - least->second <= largest) return;
  std::ostringstream text;
  text << "in " << record.view << " " << most->first << " owns " << most->second << " B and " << least->first
       << " " << least->second << ", the largest chunk has " << largest;
  violate(text.str());
}

void OwnershipChecker::check_stability(const ViewRecord& record) {
  if (!before_ || before_->servers != record.servers || before_->shards == record.shards) return;
  std::ostringstream text;
  text << record.view << " moves chunks though its P-slaves are those of " << before_->view;
  violate(text.str());
}

}  // namespace convoy::sim
