#include "tests/system/process.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace convoy::test {
namespace {

using Clock = std::chrono::steady_clock;

std::string content_of(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// In the child, before it becomes convoy.
bool move_to(const Place& place) {
  if (place.network >= 0 && setns(place.network, CLONE_NEWNET) != 0) return false;
  if (place.hosts.empty()) return true;
  return unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount(place.hosts.c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr) == 0;
}

int left_ms(Clock::time_point deadline) {
  return static_cast<int>(std::max<std::int64_t>(
      0, std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count()));
}

}  // namespace

Process::Process(const std::string& folder, const std::string& name,
                 const std::vector<std::string>& arguments, const Place& place)
    : out_path_(folder + "/" + name + ".out"), err_path_(folder + "/" + name + ".err") {
  const int out = open(out_path_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  const int err = open(err_path_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  BOOST_REQUIRE(out >= 0 && err >= 0);
  std::vector<std::string> copies{"convoy"};
  copies.insert(copies.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& a : copies) argv.push_back(a.data());
  argv.push_back(nullptr);
  pid_ = place.terminal ? forkpty(&terminal_, nullptr, nullptr, nullptr) : fork();
  BOOST_REQUIRE(pid_ >= 0);
  if (pid_ == 0) {
    if (chdir(folder.c_str()) != 0 || !move_to(place)) _exit(126);
    if (!place.terminal) {
      dup2(out, STDOUT_FILENO);
      dup2(err, STDERR_FILENO);
    }
    execv(CONVOY_BINARY, argv.data());
    _exit(127);
  }
  close(out);
  if (place.terminal) {
    hang_up_ = eventfd(0, EFD_CLOEXEC);
    viewer_ = std::thread([this, err] { view(err); });
  } else {
    close(err);
  }
  pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
}

Process::~Process() {
  if (running()) {
    signal(SIGKILL);
    (void)wait(10);
  }
  if (pidfd_ >= 0) close(pidfd_);
  hang_up();
}

void Process::hang_up() {
  if (!viewer_.joinable()) return;
  const std::uint64_t one = 1;
  (void)!write(hang_up_, &one, sizeof one);
  viewer_.join();
  close(terminal_);
  close(hang_up_);
}

void Process::view(int into) {
  for (;;) {
    std::array<pollfd, 2> fds{pollfd{terminal_, POLLIN, 0}, pollfd{hang_up_, POLLIN, 0}};
    (void)poll(fds.data(), fds.size(), -1);
    if (fds[1].revents != 0) break;
    std::array<char, 4096> text{};
    const ssize_t n = read(terminal_, text.data(), text.size());
    if (n <= 0) break;  // nobody has it open any more
    (void)!write(into, text.data(), static_cast<std::size_t>(n));
  }
  close(into);
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

bool Process::says(const std::string& text, int deadline_s, int times) {
  const auto said = [&] {
    const std::string all = err();
    int count = 0;
    for (auto at = all.find(text); at != std::string::npos; at = all.find(text, at + text.size())) ++count;
    return count >= times;
  };
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(deadline_s);
  const int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  inotify_add_watch(watch, err_path_.c_str(), IN_MODIFY);
  bool found = false;
  for (;;) {
    found = said();
    if (found || left_ms(deadline) == 0) break;
    std::array<pollfd, 2> fds{pollfd{watch, POLLIN, 0}, pollfd{pidfd_, POLLIN, 0}};
    (void)poll(fds.data(), fds.size(), left_ms(deadline));
    if (fds[1].revents != 0) {
      found = said();
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

Finished run(const std::string& folder, const std::vector<std::string>& arguments, int deadline_s,
             const Place& place) {
  Process process(folder, "run", arguments, place);
  const std::optional<int> status = process.wait(deadline_s);
  if (!status) BOOST_ERROR("convoy " + arguments.front() + " did not end in time: " + process.err());
  return {status.value_or(-1), process.out(), process.err()};
}

Children::Children(const Process& parent) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string pid = entry.path().filename().string();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string status = content_of("/proc/" + pid + "/status");
    if (status.find("\nPPid:\t" + std::to_string(parent.pid()) + "\n") == std::string::npos) continue;
    const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, std::stoi(pid), 0));
    if (pidfd >= 0) children_.push_back({content_of("/proc/" + pid + "/cmdline"), pidfd});
  }
}

Children::~Children() {
  for (const Child& child : children_) {
    (void)syscall(SYS_pidfd_send_signal, child.pidfd, SIGKILL, nullptr, 0);
    close(child.pidfd);
  }
}

void Children::signal(const std::string& part, int number) const {
  for (const Child& child : children_) {
    if (child.command.find(part) == std::string::npos) continue;
    BOOST_TEST(syscall(SYS_pidfd_send_signal, child.pidfd, number, nullptr, 0) == 0);
    return;
  }
  BOOST_ERROR("no child has " + part + " in its command line");
}

bool Children::gone(int deadline_s) const {
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(deadline_s);
  for (const Child& child : children_) {
    pollfd fd{child.pidfd, POLLIN, 0};
    if (poll(&fd, 1, left_ms(deadline)) != 1) return false;
  }
  return true;
}

}  // namespace convoy::test
