// LiveDisplay: a run's progress on stderr. On a terminal a table that is redrawn in place, elsewhere plain
// lines, at most one a second, and events.
//
// Uses the file descriptor, does not own it. One thread at a time; writing can block (a stopped terminal), so
// not the thread that answers heartbeats. When the other end is gone it falls silent for good.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "master/master.h"
#include "node/record/metrics.h"
#include "node/record/render.h"

namespace convoy::record {

class LiveDisplay {
 public:
  enum class Style { kAuto, kTable, kPlain, kNone };

  // kAuto: a table when `fd` is a terminal that knows ANSI (TERM is set and not "dumb").
  LiveDisplay(int fd, RunTitle title, Style style = Style::kAuto);
  ~LiveDisplay();  // close()
  LiveDisplay(const LiveDisplay&) = delete;
  LiveDisplay& operator=(const LiveDisplay&) = delete;

  // As often as one likes: a table is drawn at most ten times a second, a plain line at most once a second.
  void update(Time now, const MasterStatus& status, const RunMetrics& metrics);
  // One line that stays, above the table. Control characters are replaced: texts come from peers.
  void event(const std::string& text);
  // The last picture, and below it a line that sums up, if any. Closes.
  void end(const MasterStatus& status, const RunMetrics& metrics, const std::string& line);
  // Draws the last picture and leaves the cursor below it, visible. Nothing is shown afterwards.
  void close();

 private:
  struct Size {
    int width = 80;
    int height = 24;
  };
  Size size() const;
  void draw(const std::string* event = nullptr);
  std::string to_first_row(Size now) const;
  void write(const std::string& bytes);

  int fd_;
  RunTitle title_;
  Style style_;
  bool unicode_ = false;
  bool colour_ = false;
  bool cursor_hidden_ = false;

  std::optional<Time> first_;  // update
  std::optional<Time> awaited_since_;
  std::optional<Time> last_drawn_;
  std::optional<MasterStatus> status_;
  RunMetrics metrics_;
  double waiting_s_ = 0;
  std::vector<int> drawn_columns_;  // of each line of the table on the screen
  std::string last_line_;
  std::string ending_;
};

}  // namespace convoy::record
