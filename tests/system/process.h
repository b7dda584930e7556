// A child process of a test: started, spoken to by signals, waited for with a deadline, never left over.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace convoy::test {

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Where a process runs, when not beside the test.
struct Place {
  int network = -1;       // namespace, as Network::on() gives it
  std::string hosts;      // in place of /etc/hosts
  bool terminal = false;  // a terminal of its own, until hang_up(); what it shows goes where stderr would
};

class Process {
 public:
  // Runs `convoy ARGUMENTS...` in `folder`; stdout and stderr go to files there, named by `name`.
  Process(const std::string& folder, const std::string& name, const std::vector<std::string>& arguments,
          const Place& place = {});
  ~Process();  // SIGKILL when it still runs
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void signal(int number) const;
  // Closes its terminal, as a person closes a window.
  void hang_up();
  // Exit status, 128 + n when signal n ended it; nothing when it does not end in time.
  std::optional<int> wait(int deadline_s = 60);
  bool running();
  // Waits until `text` stands in stderr, `times` times (what was said before an event does not announce it).
  bool says(const std::string& text, int deadline_s = 30, int times = 1);

  std::string out() const;
  std::string err() const;
  pid_t pid() const { return pid_; }

 private:
  void view(int into);
  std::optional<int> poll_once();

  std::string out_path_;
  std::string err_path_;
  pid_t pid_ = -1;
  int pidfd_ = -1;
  int terminal_ = -1;
  int hang_up_ = -1;
  std::thread viewer_;  // of the terminal
  std::optional<int> status_;
};

// Runs to the end. Fails the test when it does not end in time.
struct Finished {
  int status = -1;
  std::string out;
  std::string err;
};
Finished run(const std::string& folder, const std::vector<std::string>& arguments, int deadline_s = 60,
             const Place& place = {});

// The processes that a process has started, followed also when their parent is gone.
class Children {
 public:
  explicit Children(const Process& parent);
  ~Children();
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  std::size_t size() const { return children_.size(); }
  // To the one whose command line holds `part`.
  void signal(const std::string& part, int number) const;
  // Whether all have ended in time.
  bool gone(int deadline_s) const;

 private:
  struct Child {
    std::string command;
    int pidfd = -1;
  };
  std::vector<Child> children_;
};

}  // namespace convoy::test
