// A run that is told to a Recorder in traces.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "node/record/recorder.h"
#include "tests/unit/record/support.h"

namespace convoy::record {

inline constexpr std::int64_t kN = 100;

struct Run {
  explicit Run(std::int64_t end = 200) {
    options.title = run_title();
    options.title.target_accuracy = 0.9;
    options.run = RunId(77);
    options.build_id = "test build";
    options.started_at = "2024-05-01T12:00:00Z";
    options.sample_count = kN;
    options.end_position = end;
    open();
    status = running_status();
    status.samples = 0;
    status.end = end;
    status.sample_count = kN;
    status.members = {status_member(0, 0, 0, 0), status_member(1, 0, 0, 0)};
    status.c_min = Clock(0);
  }
  // A second time: another Master takes over.
  void open() {
    recorder.reset();
    recorder.emplace(require(Recorder::open(paths, options)));
  }
  void trace(double t_s, const Trace& trace) { require(recorder->trace(at(t_s), trace)); }
  void begin(double t_s) {
    trace(t_s, TraceJoined{{MemberId(0), Incarnation(1)}, "w-slave-0"});
    trace(t_s, TraceJoined{{MemberId(1), Incarnation(1)}, "w-slave-1"});
    trace(t_s, TraceActive{view_record(1, 0, {0, 1})});
  }
  void log(double t_s, const CommitLogEntry& e) {
    for (const std::uint32_t server : {0u, 1u}) log_of(t_s, server, {e});
  }
  void log_of(double t_s, std::uint32_t server, std::vector<CommitLogEntry> entries, std::uint32_t life = 1) {
    trace(t_s, TraceLog{ServerId(server), Incarnation(life), std::move(entries)});
  }
  Json finish(double t_s, bool finished = true, const std::string& reason = "trained") {
    require(recorder->finish(at(t_s), status, finished, reason));
    return Json::parse(read_file(paths.summary()));
  }

  // Of member 0, as shown.
  std::int64_t gap() {
    require(recorder->observe(at(0.5), status));
    return recorder->metrics().members.at(MemberId(0)).gap;
  }

  TemporaryFolder folder;
  RunPaths paths{folder.path()};
  RecorderOptions options;
  std::optional<Recorder> recorder;
  MasterStatus status;
};

}  // namespace convoy::record
