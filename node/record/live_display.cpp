#include "node/record/live_display.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "node/record/text.h"

namespace convoy::record {
namespace {

constexpr Duration kTableInterval = std::chrono::milliseconds(100);
constexpr Duration kLineInterval = std::chrono::seconds(1);

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string value = environment(name);
    if (value.empty()) continue;
    return value.find("UTF-8") != std::string::npos || value.find("utf8") != std::string::npos ||
           value.find("utf-8") != std::string::npos;
  }
  return false;
}

// Columns of a line with ANSI attributes in it.
int visible_columns(std::string_view line) {
  std::string bare;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      bare += line[i];
      continue;
    }
    while (i < line.size() && line[i] != 'm') ++i;
  }
  return columns_of(bare);
}

// A reader that went away (`convoy train 2>&1 | head`) is no reason to die, whatever the process made of
// SIGPIPE.
class NoBrokenPipe {
 public:
  NoBrokenPipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigemptyset(&pending);
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoBrokenPipe() {
    const timespec now{};
    if (!was_pending_) {
      while (sigtimedwait(&pipe_, nullptr, &now) < 0 && errno == EINTR) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoBrokenPipe(const NoBrokenPipe&) = delete;
  NoBrokenPipe& operator=(const NoBrokenPipe&) = delete;

 private:
  sigset_t pipe_;
  sigset_t before_;
  bool was_pending_ = false;
};

}  // namespace

LiveDisplay::LiveDisplay(int fd, RunTitle title, Style style)
    : fd_(fd), title_(std::move(title)), style_(style) {
  const std::string term = environment("TERM");
  if (style_ == Style::kAuto)
    style_ = ::isatty(fd_) == 1 && !term.empty() && term != "dumb" ? Style::kTable : Style::kPlain;
  // A number that nothing is open under can become somebody's file any time.
  if (::fcntl(fd_, F_GETFD) < 0) style_ = Style::kNone;
  unicode_ = locale_is_utf8();
  colour_ = environment("NO_COLOR").empty();
}

LiveDisplay::~LiveDisplay() {
  close();
}

LiveDisplay::Size LiveDisplay::size() const {
  winsize window{};
  if (::ioctl(fd_, TIOCGWINSZ, &window) != 0 || window.ws_col == 0 || window.ws_row == 0) return {};
  return {window.ws_col, window.ws_row};
}

void LiveDisplay::update(Time now, const MasterStatus& status, const RunMetrics& metrics) {
  if (style_ == Style::kNone) return;
  if (!first_) first_ = now;
  status_ = status;
  metrics_ = metrics;
  // Waiting is counted anew when a run that goes on loses its last member.
  if (status.awaited.empty()) awaited_since_.reset();
  if (!status.awaited.empty() && !awaited_since_) awaited_since_ = now;
  waiting_s_ = awaited_since_ ? seconds(now - *awaited_since_) : seconds(now - *first_);
  if (last_drawn_ && now - *last_drawn_ < (style_ == Style::kTable ? kTableInterval : kLineInterval)) return;
  last_drawn_ = now;
  if (style_ == Style::kTable) return draw();
  // What is awaited is said when it changes, not every second.
  std::string line = render_line(title_, status, metrics, waiting_s_);
  const std::string topic = status.started ? line : line.substr(0, line.rfind(", for "));
  if (topic == last_line_) return;
  last_line_ = topic;
  write(line + "\n");
}

void LiveDisplay::event(const std::string& text) {
  if (style_ == Style::kNone) return;
  const std::string line = printable(text);
  if (style_ == Style::kPlain || !status_) return write(line + "\n");
  draw(&line);
}

void LiveDisplay::draw(const std::string* event) {
  const Size now = size();
  // One row stays free for the cursor, one column so that no terminal wraps.
  const RenderOptions options{std::max(now.width - 1, 1), std::max(now.height - 1, 1), colour_, unicode_};
  const std::vector<std::string> lines = render_table(title_, *status_, metrics_, waiting_s_, options);
  // Written over the old picture line by line: to clear it first would flicker, and some terminals keep what
  // is cleared from the top of the screen in their history.
  std::string out = to_first_row(now);
  if (!cursor_hidden_) out += "\x1b[?25l";
  cursor_hidden_ = true;
  if (event != nullptr) out += *event + "\x1b[K\n";
  // Without wrapping, a line takes one row even while the terminal shrinks.
  out += "\x1b[?7l";
  drawn_columns_.clear();
  for (const std::string& line : lines) {
    out += line + "\x1b[K\n";
    drawn_columns_.push_back(visible_columns(line));
  }
  out += "\x1b[?7h\x1b[J";
  write(out);
}

// Back to the first row of the table. A terminal that has become narrower has wrapped its lines.
std::string LiveDisplay::to_first_row(Size now) const {
  int rows = 0;
  for (const int columns : drawn_columns_) rows += std::max(1, (columns + now.width - 1) / now.width);
  rows = std::min(rows, now.height - 1);
  return rows > 0 ? "\r\x1b[" + std::to_string(rows) + "A" : "";
}

void LiveDisplay::end(const MasterStatus& status, const RunMetrics& metrics, const std::string& line) {
  status_ = status;
  metrics_ = metrics;
  ending_ = printable(line);
  close();
}

void LiveDisplay::close() {
  if (style_ == Style::kNone) return;
  if (style_ == Style::kTable && status_) draw();
  if (style_ == Style::kPlain && status_) {
    const std::string line = render_line(title_, *status_, metrics_, waiting_s_);
    if (status_->started && line != last_line_) write(line + "\n");
  }
  if (!ending_.empty()) write(ending_ + "\n");
  if (cursor_hidden_) write("\x1b[?25h");
  style_ = Style::kNone;
}

void LiveDisplay::write(const std::string& bytes) {
  const NoBrokenPipe guard;
  std::string_view left = bytes;
  while (!left.empty()) {
    const ssize_t n = ::write(fd_, left.data(), left.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      // EAGAIN: somebody made the terminal non-blocking and it is slow; the next picture is soon enough.
      if (errno != EAGAIN) style_ = Style::kNone;
      return;
    }
    left.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace convoy::record
