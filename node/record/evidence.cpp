#include "node/record/evidence.h"

#include <optional>
#include <utility>

namespace convoy::record {

Result<Evidence> read_evidence(const RunPaths& paths) {
  auto journal = Journal::open_existing(paths.journal());
  if (!journal) return journal.error();
  auto store = CommitLogStore::open_existing(paths.commits());
  if (!store) return store.error();
  for (;;) {
    auto views = journal->all_active();
    if (!views) return views.error();
    auto logs = store->read_all();
    if (!logs) return logs.error();
    auto ends = store->read_ends();
    if (!ends) return ends.error();
    auto count = journal->active_count();
    if (!count) return count.error();
    // What a view's cut commits is in the logs before the view is in the journal, and who comes with it logs
    // after.
    if (*count != static_cast<std::int64_t>(views->size())) continue;
    return Evidence{std::move(*views), std::move(*logs), std::move(*ends),
                    state_of(paths) == RunState::kFinished};
  }
}

std::map<std::uint32_t, IntervalSet> survivors(const std::vector<Journal::Active>& views) {
  std::map<std::uint32_t, IntervalSet> kept;
  std::optional<IntervalSet> later;  // that all histories from here on have kept
  for (std::size_t v = views.size(); v-- > 1;) {
    const std::uint32_t before = views[v - 1].record.history;
    if (views[v].record.history == before) continue;
    IntervalSet from = views[v].ledger;
    if (later) {
      IntervalSet lacking = from;
      lacking.erase(*later);
      from.erase(lacking);
    }
    kept[before] = from;
    later = std::move(from);
  }
  return kept;
}

}  // namespace convoy::record
