// A child process of a test: started, spoken to by signals, waited for with a deadline, never left over.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace convoy::test {

class Process {
 public:
  // Runs `convoy ARGUMENTS...` in `folder`; stdout and stderr go to files there, named by `name`.
  Process(const std::string& folder, const std::string& name, const std::vector<std::string>& arguments);
  ~Process();  // SIGKILL when it still runs
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void signal(int number) const;
  // Exit status, 128 + n when signal n ended it; nothing when it does not end in time.
  std::optional<int> wait(int deadline_s = 60);
  bool running();
  // Waits until `text` stands in stderr.
  bool says(const std::string& text, int deadline_s = 30);

  std::string out() const;
  std::string err() const;
  pid_t pid() const { return pid_; }

 private:
  std::optional<int> poll_once();

  std::string out_path_;
  std::string err_path_;
  pid_t pid_ = -1;
  int pidfd_ = -1;
  std::optional<int> status_;
};

// Runs to the end. Fails the test when it does not end in time.
struct Finished {
  int status = -1;
  std::string out;
  std::string err;
};
Finished run(const std::string& folder, const std::vector<std::string>& arguments, int deadline_s = 60);

}  // namespace convoy::test
