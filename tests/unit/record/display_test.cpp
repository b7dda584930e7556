// The display on a terminal (a pseudo terminal), on a pipe, and on nothing.
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <set>
#include <sstream>

#include "node/record/live_display.h"
#include "tests/unit/record/support.h"

namespace convoy::record {
namespace {

// Everything that is there to read.
std::string drain(int fd) {
  std::string all;
  pollfd p{fd, POLLIN, 0};
  while (poll(&p, 1, 0) > 0 && (p.revents & POLLIN) != 0) {
    char buffer[4096];
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n <= 0) break;
    all.append(buffer, static_cast<std::size_t>(n));
  }
  return all;
}

// A terminal as far as the display needs one: rows of text, a cursor, the sequences that it uses.
class Screen {
 public:
  explicit Screen(int width) : width_(width), rows_(1) {}

  void feed(const std::string& bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const char c = bytes[i];
      if (c == '\r') {
        column_ = 0;
      } else if (c == '\n') {
        row_ += 1;
        if (row_ == rows_.size()) rows_.emplace_back();
      } else if (c == '\x1b') {
        i = escape(bytes, i + 1);
      } else {
        put(c);
      }
    }
  }
  std::string text() const {
    std::string all;
    for (const std::string& row : rows_) all += row + "\n";
    return all;
  }
  int count(const std::string& part) const {
    int n = 0;
    const std::string all = text();
    for (std::size_t at = all.find(part); at != std::string::npos; at = all.find(part, at + 1)) ++n;
    return n;
  }
  bool cursor_visible() const { return visible_; }
  std::size_t row() const { return row_; }
  std::size_t rows() const { return rows_.size(); }
  bool wrapped() const { return wrapped_; }

 private:
  std::size_t escape(const std::string& bytes, std::size_t i) {
    BOOST_REQUIRE(bytes[i] == '[');
    std::string argument;
    for (++i; bytes[i] == '?' || bytes[i] == ';' || (bytes[i] >= '0' && bytes[i] <= '9'); ++i)
      argument += bytes[i];
    if (bytes[i] == 'A') {
      const auto up = static_cast<std::size_t>(std::stoi(argument));
      BOOST_REQUIRE(up <= row_);
      row_ -= up;
    } else if (bytes[i] == 'K') {
      rows_[row_].resize(std::min(rows_[row_].size(), column_));
    } else if (bytes[i] == 'J') {
      BOOST_TEST(row_ > 0u);  // from the top, some terminals would keep a copy

      rows_.resize(row_ + 1);
      rows_[row_].resize(std::min(rows_[row_].size(), column_));
    } else if (argument == "?7") {
      BOOST_REQUIRE((bytes[i] == 'l' || bytes[i] == 'h'));
    } else if (argument == "?25") {
      visible_ = bytes[i] == 'h';
    } else {
      BOOST_REQUIRE_MESSAGE(bytes[i] == 'm', "an unexpected sequence: " << argument << bytes[i]);
    }
    return i;
  }
  void put(char c) {
    std::string& row = rows_[row_];
    if (row.size() <= column_) row.resize(column_ + 1, ' ');
    row[column_++] = c;
    if (column_ > static_cast<std::size_t>(width_)) wrapped_ = true;
  }

  int width_;
  std::vector<std::string> rows_;
  std::size_t row_ = 0, column_ = 0;
  bool visible_ = true, wrapped_ = false;
};

struct Terminal {
  Terminal(unsigned short width, unsigned short height) : screen(width) {
    setenv("TERM", "xterm", 1);
    setenv("LC_ALL", "C", 1);
    winsize size{height, width, 0, 0};
    BOOST_REQUIRE(openpty(&master, &slave, nullptr, nullptr, &size) == 0);
  }
  ~Terminal() {
    close(master);
    close(slave);
  }
  void resize(unsigned short width, unsigned short height) const {
    winsize size{height, width, 0, 0};
    BOOST_REQUIRE(ioctl(slave, TIOCSWINSZ, &size) == 0);
  }
  void show() { screen.feed(drain(master)); }

  int master = -1, slave = -1;
  Screen screen;
};

BOOST_AUTO_TEST_CASE(on_a_terminal_the_table_is_redrawn_in_place) {
  Terminal terminal(100, 30);
  LiveDisplay display(terminal.slave, run_title());
  for (int i = 0; i < 5; ++i) {
    RunMetrics metrics = running_metrics();
    metrics.samples += 1000 * i;
    display.update(at(i), running_status(), metrics);
    terminal.show();
    BOOST_TEST(terminal.screen.count("W-slave") == 1);
    BOOST_TEST(terminal.screen.count(" epoch ") == 1 + 1);  // progress, and "at epoch" of the accuracy
  }
  BOOST_TEST(contains(terminal.screen.text(), "epoch 0.82 of 1.25"));
  BOOST_TEST(!terminal.screen.cursor_visible());
  display.close();
  terminal.show();
  BOOST_TEST(terminal.screen.cursor_visible());
  BOOST_TEST(terminal.screen.count("W-slave") == 1);
  BOOST_TEST(terminal.screen.row() + 1 == terminal.screen.rows());
  BOOST_TEST(!terminal.screen.wrapped());
}

BOOST_AUTO_TEST_CASE(the_last_picture_shows_the_last_figures_and_is_summed_up) {
  Terminal terminal(100, 30);
  LiveDisplay display(terminal.slave, run_title());
  display.update(at(0), running_status(), running_metrics());
  RunMetrics last = running_metrics();
  last.last_evaluation->accuracy = 0.9912;  // came after the last picture
  display.end(running_status(), last, "trained");
  terminal.show();
  const std::string text = terminal.screen.text();
  BOOST_TEST(contains(text, "99.12 %"));
  BOOST_TEST(text.find("99.12 %") < text.find("trained"));
  BOOST_TEST(terminal.screen.count("lenet-mnist") == 1);
  BOOST_TEST(terminal.screen.cursor_visible());
}

BOOST_AUTO_TEST_CASE(a_table_that_shrinks_leaves_nothing_behind) {
  Terminal terminal(100, 30);
  LiveDisplay display(terminal.slave, run_title());
  display.update(at(0), running_status(), running_metrics());
  MasterStatus fewer = running_status();
  fewer.members.resize(1);
  fewer.servers.clear();
  display.update(at(1), fewer, running_metrics());
  terminal.show();
  BOOST_TEST(terminal.screen.count("w-slave-1") == 0);
  BOOST_TEST(terminal.screen.count("P-slave") == 0);
}

BOOST_AUTO_TEST_CASE(events_stay_above_the_table) {
  Terminal terminal(100, 30);
  LiveDisplay display(terminal.slave, run_title());
  display.update(at(0), running_status(), running_metrics());
  display.event("w-slave-7 is \x1b[31mlost\nreally");
  display.update(at(1), running_status(), running_metrics());
  terminal.show();
  const std::string text = terminal.screen.text();
  BOOST_TEST(text.find("w-slave-7 is ?[31mlost?really") < text.find("lenet-mnist"));
  BOOST_TEST(terminal.screen.count("lenet-mnist") == 1);
}

BOOST_AUTO_TEST_CASE(the_table_follows_the_width) {
  Terminal terminal(100, 30);
  LiveDisplay display(terminal.slave, run_title());
  display.update(at(0), running_status(), running_metrics());
  drain(terminal.master);
  terminal.resize(40, 30);
  display.update(at(1), running_status(), running_metrics());
  const std::string narrow = drain(terminal.master);
  // Goes back over the rows that the old lines wrapped into: more than the eleven that were drawn.
  const std::size_t up = narrow.find("\x1b[");
  BOOST_REQUIRE(up != std::string::npos);
  BOOST_TEST(std::stoi(narrow.substr(up + 2)) > 11);
  Screen screen(40);
  screen.feed(narrow.substr(narrow.find('A', up) + 1));
  BOOST_TEST(!screen.wrapped());
}

BOOST_AUTO_TEST_CASE(a_terminal_without_a_size_gets_eighty_columns) {
  Terminal terminal(0, 0);
  LiveDisplay display(terminal.slave, run_title());
  display.update(at(0), running_status(), running_metrics());
  Screen screen(80);
  screen.feed(drain(terminal.master));
  BOOST_TEST(contains(screen.text(), "lenet-mnist"));
  BOOST_TEST(!screen.wrapped());
}

BOOST_AUTO_TEST_CASE(a_dumb_terminal_gets_plain_lines) {
  Terminal terminal(100, 30);
  setenv("TERM", "dumb", 1);
  LiveDisplay display(terminal.slave, run_title());
  display.update(at(0), running_status(), running_metrics());
  BOOST_TEST(!contains(drain(terminal.master), "\x1b"));
}

struct Pipe {
  Pipe() { BOOST_REQUIRE(pipe(ends) == 0); }
  ~Pipe() {
    for (const int fd : ends) {
      if (fd >= 0) close(fd);
    }
  }
  void close_reader() {
    close(ends[0]);
    ends[0] = -1;
  }
  int ends[2] = {-1, -1};
};

BOOST_AUTO_TEST_CASE(elsewhere_it_is_a_plain_line_a_second_and_events) {
  Pipe pipe;
  LiveDisplay display(pipe.ends[1], run_title());
  for (int i = 0; i <= 30; ++i) {
    RunMetrics metrics = running_metrics();
    metrics.samples += 600 * i;
    display.update(at(0.1 * i), running_status(), metrics);
  }
  display.event("w-slave-2 is ready");
  std::istringstream in(drain(pipe.ends[0]));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  BOOST_REQUIRE(lines.size() == 5u);
  BOOST_TEST(lines[0].rfind("epoch 0.75 of 1.25", 0) == 0u);
  BOOST_TEST(lines[3].rfind("epoch 1.05 of 1.25", 0) == 0u);
  BOOST_TEST(lines[4] == "w-slave-2 is ready");
  for (const std::string& line : lines) BOOST_TEST(!contains(line, "\x1b"));
}

BOOST_AUTO_TEST_CASE(waiting_is_said_once_and_again_when_it_changes) {
  Pipe pipe;
  LiveDisplay display(pipe.ends[1], run_title());
  MasterStatus status;
  status.awaited = {"2 more W-slave (0 of 2 ready)"};
  for (int i = 0; i < 5; ++i) display.update(at(i), status, {});
  status.awaited = {"1 more W-slave (1 of 2 ready)"};
  for (int i = 5; i < 9; ++i) display.update(at(i), status, {});
  BOOST_TEST(drain(pipe.ends[0]) ==
             "waiting for 2 more W-slave (0 of 2 ready) at 192.0.2.1:7777, for 0.0 s\n"
             "waiting for 1 more W-slave (1 of 2 ready) at 192.0.2.1:7777, for 5.0 s\n");
}

BOOST_AUTO_TEST_CASE(a_reader_that_went_away_ends_nothing) {
  Pipe pipe;
  LiveDisplay display(pipe.ends[1], run_title());
  pipe.close_reader();
  display.update(at(0), running_status(), running_metrics());
  display.event("x");
  display.close();
  sigset_t pending;
  sigpending(&pending);
  BOOST_TEST(sigismember(&pending, SIGPIPE) == 0);
}

BOOST_AUTO_TEST_CASE(a_closed_descriptor_is_never_written_to) {
  Pipe pipe;
  const int fd = dup(pipe.ends[1]);
  close(fd);
  LiveDisplay display(fd, run_title());
  // The number is somebody else's now.
  BOOST_REQUIRE(dup2(pipe.ends[1], fd) == fd);
  display.update(at(0), running_status(), running_metrics());
  display.event("x");
  display.close();
  close(fd);
  BOOST_TEST(drain(pipe.ends[0]).empty());
}

}  // namespace
}  // namespace convoy::record
