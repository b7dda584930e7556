// What a run looks like: status and figures as lines of text.
//
// Pure functions; any thread. Names come from peers: what could move a cursor is replaced.
#pragma once

#include <string>
#include <vector>

#include "master/master.h"
#include "node/record/metrics.h"

namespace convoy::record {

struct RenderOptions {
  int width = 80;        // columns; no line is longer
  int height = 1000;     // rows; members that do not fit are counted
  bool colour = false;   // ANSI attributes
  bool unicode = false;  // bars and dashes beyond ASCII
};

// The table, line by line. Pure. `waiting_s`: since when the start is awaited.
std::vector<std::string> render_table(const RunTitle& title, const MasterStatus& status,
                                      const RunMetrics& metrics, double waiting_s,
                                      const RenderOptions& options);
// What there is to say when a run was trained to its end; one plain line.
std::string render_ending(const RunTitle& title, const RunMetrics& metrics);
// The same as the table in one plain line.
std::string render_line(const RunTitle& title, const MasterStatus& status, const RunMetrics& metrics,
                        double waiting_s);

}  // namespace convoy::record
