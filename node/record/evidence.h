// Evidence: what a run leaves that says what was trained and when - the views of the Master's journal and the
// logs of its P-slaves - and how histories divide it.
//
// Values; reading waits for the disk. Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "messages/base/interval_set.h"
#include "messages/base/result.h"
#include "node/record/commit_log.h"
#include "node/record/journal.h"
#include "node/record/run_dir.h"

namespace convoy::record {

struct Evidence {
  std::vector<Journal::Active> views;  // ascending
  CommitLogs logs;
  ServerEnds ends;
  bool finished = false;  // trained to the end, as the run's summary says
};

// Views and logs that belong together, also of a run that goes on.
Result<Evidence> read_evidence(const RunPaths& paths);

// A roll-back ends a history and begins another from the ledger of a checkpoint: what was committed beyond
// that is void and comes again. By history that was rolled back from: the positions of it that count in the
// end. Of a history that is not there, all do.
std::map<std::uint32_t, IntervalSet> survivors(const std::vector<Journal::Active>& views);

}  // namespace convoy::record
