#include "tests/system/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <fstream>
#include <sstream>

namespace convoy::test {
namespace {

using Clock = std::chrono::steady_clock;

std::string content_of(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

int left_ms(Clock::time_point deadline) {
  return static_cast<int>(std::max<std::int64_t>(
      0, std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count()));
}

}  // namespace

Process::Process(const std::string& folder, const std::string& name,
                 const std::vector<std::string>& arguments)
    : out_path_(folder + "/" + name + ".out"), err_path_(folder + "/" + name + ".err") {
  const int out = open(out_path_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  const int err = open(err_path_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  BOOST_REQUIRE(out >= 0 && err >= 0);
  std::vector<std::string> copies{"convoy"};
  copies.insert(copies.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& a : copies) argv.push_back(a.data());
  argv.push_back(nullptr);
  pid_ = fork();
  BOOST_REQUIRE(pid_ >= 0);
  if (pid_ == 0) {
    if (chdir(folder.c_str()) != 0) _exit(126);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    execv(CONVOY_BINARY, argv.data());
    _exit(127);
  }
  close(out);
  close(err);
  pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
}

Process::~Process() {
  if (running()) {
    signal(SIGKILL);
    (void)wait(10);
  }
  if (pidfd_ >= 0) close(pidfd_);
}

void Process::signal(int number) const {
  ::kill(pid_, number);
}

std::optional<int> Process::poll_once() {
  if (status_) return status_;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return status_;
}

bool Process::running() {
  return !poll_once().has_value();
}

std::optional<int> Process::wait(int deadline_s) {
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(deadline_s);
  pollfd fd{pidfd_, POLLIN, 0};
  if (running()) (void)poll(&fd, 1, left_ms(deadline));
  return poll_once();
}

bool Process::says(const std::string& text, int deadline_s) {
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(deadline_s);
  const int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  inotify_add_watch(watch, err_path_.c_str(), IN_MODIFY);
  bool found = false;
  for (;;) {
    found = err().find(text) != std::string::npos;
    if (found || left_ms(deadline) == 0) break;
    std::array<pollfd, 2> fds{pollfd{watch, POLLIN, 0}, pollfd{pidfd_, POLLIN, 0}};
    (void)poll(fds.data(), fds.size(), left_ms(deadline));
    if (fds[1].revents != 0) {
      found = err().find(text) != std::string::npos;
      break;
    }
    std::array<char, 4096> events{};
    (void)!read(watch, events.data(), events.size());
  }
  close(watch);
  return found;
}

std::string Process::out() const {
  return content_of(out_path_);
}
std::string Process::err() const {
  return content_of(err_path_);
}

Finished run(const std::string& folder, const std::vector<std::string>& arguments, int deadline_s) {
  Process process(folder, "run", arguments);
  const std::optional<int> status = process.wait(deadline_s);
  if (!status) BOOST_ERROR("convoy " + arguments.front() + " did not end in time: " + process.err());
  return {status.value_or(-1), process.out(), process.err()};
}

}  // namespace convoy::test
