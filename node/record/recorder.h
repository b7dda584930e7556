// Recorder: turns what the Master's role traces into metrics.jsonl, log.txt, commits.sqlite and, at the end,
// summary.json.
//
// Owns the files that it writes, not the folder. Times are the node's own, the same clock in every call. One
// thread at a time; it writes to disk, so not the one that answers heartbeats. An error means that the record
// is no longer complete: the caller decides whether the run goes on.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "actors/role.h"
#include "master/master.h"
#include "messages/base/result.h"
#include "node/record/metrics.h"
#include "node/record/run_dir.h"

namespace convoy::record {

struct RecorderOptions {
  RunTitle title;
  RunId run;
  std::string build_id;
  std::string started_at;         // wall clock, for people: "2024-05-01T12:00:00Z"
  std::int64_t sample_count = 1;  // N
  std::int64_t end_position = 1;
  Duration window = std::chrono::seconds(1);
};

class Recorder {
 public:
  // Goes on where an earlier Master of the run was, when there are logs: its samples, updates and times
  // count.
  static Result<Recorder> open(const RunPaths& paths, RecorderOptions options);
  ~Recorder();
  Recorder(Recorder&&) noexcept;
  Recorder& operator=(Recorder&&) noexcept;

  // Entries of each life's log that are written down.
  Result<std::map<ServerKey, std::uint64_t>> log_entries();

  // Every trace of the Master's role, in order. Grants, applies and cuts are not the Master's and are
  // ignored.
  Result<void> trace(Time now, const Trace& trace);
  // As often as one likes; a line of metrics.jsonl is written when a window has passed.
  Result<void> observe(Time now, const MasterStatus& status);
  // Something that was injected on purpose. False: known already, by its id.
  Result<bool> fault(Time now, const Inject& fault);
  // A line for log.txt from the node itself ("listening on ...").
  Result<void> note(Time now, const std::string& text);

  // The end, whichever way: writes the last window and summary.json. `finished`: trained to the end; else
  // `reason` says why not. May be called once.
  Result<void> finish(Time now, const MasterStatus& status, bool finished, const std::string& reason);

  const RunMetrics& metrics() const;
  // After finish(): what went wrong and what it cost, for people; empty when nothing did.
  const std::string& report() const;

 private:
  struct State;
  explicit Recorder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The line of log.txt and of the display for a trace; empty for traces that people need not see. N turns
// positions into epochs.
std::string describe_for_people(const Trace& trace, std::int64_t sample_count);

}  // namespace convoy::record
