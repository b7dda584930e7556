#include "node/cli/launcher.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "config/node_file.h"
#include "node/cli/commands.h"
#include "node/process/ending.h"
#include "node/process/security.h"

namespace convoy::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Moment = Clock::time_point;

// Nodes may take so long to end after their Master, which told them to; and all together so long after it was
// asked.
constexpr auto kOwnEnd = std::chrono::milliseconds(2000);
constexpr auto kWholeEnd = std::chrono::milliseconds(4500);
// One that dies younger than this did not die by chance.
constexpr auto kTooYoung = std::chrono::seconds(2);
constexpr int kQuickDeaths = 3;
// A node that ends by itself may only be faster than the Master, which told it that the run is over.
constexpr auto kDoubt = std::chrono::milliseconds(1500);

struct Child {
  std::string what;
  std::vector<std::string> arguments;
  std::string log;
  int file = -1;  // its node file
  Moment started;
  int quick_deaths = 0;
};

struct Dead {
  Child child;
  int status = 0;
  Moment due;  // when it is believed that the run is not just over
};

// An address as the Master announces it, for nodes of this machine.
config::Address address_of(const std::string& line) {
  const std::size_t colon = line.rfind(':');
  config::Address address;
  address.host = line.substr(0, colon);
  if (address.host.size() > 2 && address.host.front() == '[') {
    address.host = address.host.substr(1, address.host.size() - 2);
  }
  if (address.host == "0.0.0.0") address.host = "127.0.0.1";
  if (address.host == "::") address.host = "::1";
  address.port = static_cast<std::uint16_t>(std::stoi(line.substr(colon + 1)));
  return address;
}

// A file that has no place in the file system, and so leaves no secret there whatever becomes of us.
Result<int> file_in_memory(const std::string& name, const std::string& text) {
  const int fd = memfd_create(name.c_str(), MFD_CLOEXEC);
  const bool ok = fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (ok) return fd;
  const Error error{ErrorCode::kIo, "the node file of " + name + " cannot be made: " + std::strerror(errno)};
  if (fd >= 0) close(fd);
  return error;
}

class Launcher {
 public:
  Launcher(const config::RunFile& file, std::vector<std::string> master_arguments)
      : file_(file), master_arguments_(std::move(master_arguments)) {}

  int run() {
    Result<MasterSecurity> security = master_security(file_);
    if (!security) return report(security.error());
    if (security->keys) {
      Result<KeyPair> keys = generate_keys();
      if (!keys) return report(keys.error());
      node_keys_ = std::move(*keys);
      master_key_ = security->keys->public_key.text();
    }
    watch_signals();
    if (!start_master())
      return report({ErrorCode::kIo, std::string("cannot start: ") + std::strerror(errno)});
    while (master_ > 0 || !children_.empty()) {
      wait();
      reap();
      if (master_ > 0 && !ending_) mourn_due();
      if (passed(kill_at_)) kill_all();
    }
    return status_;
  }

 private:
  static bool passed(const std::optional<Moment>& moment) { return moment && Clock::now() >= *moment; }

  void watch_signals() {
    block_signals();
    sigset_t set;
    sigemptyset(&set);
    for (int s : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&set, s);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    signals_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  }

  // Children are in a process group of their own: Ctrl-C reaches them through us, in order. When we die they
  // get `last_word`: SIGTERM lets the Master finish its record, SIGKILL ends nodes even when they are frozen.
  static pid_t spawn(const std::vector<std::string>& arguments, int keep_fd, int last_word) {
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid != 0) return pid;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, last_word);
    if (getppid() != parent) _exit(1);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    fcntl(keep_fd, F_SETFD, 0);
    std::vector<char*> argv;
    std::string name = "convoy";
    argv.push_back(name.data());
    std::vector<std::string> copies = arguments;
    for (std::string& a : copies) argv.push_back(a.data());
    argv.push_back(nullptr);
    execv("/proc/self/exe", argv.data());
    _exit(127);
  }

  bool start_master() {
    std::array<int, 2> announce{};
    if (pipe2(announce.data(), O_CLOEXEC) != 0) return false;
    std::vector<std::string> arguments{"master"};
    arguments.insert(arguments.end(), master_arguments_.begin(), master_arguments_.end());
    arguments.insert(arguments.end(), {"--local", "--announce-fd", std::to_string(announce[1])});
    if (node_keys_) arguments.insert(arguments.end(), {"--allow", node_keys_->public_key.text()});
    master_started_ = Clock::now();
    master_ = spawn(arguments, announce[1], SIGTERM);
    close(announce[1]);
    announce_ = announce[0];
    return master_ > 0;
  }

  // The Master says where it listens, in one short line; or ends before it did.
  void read_announcement() {
    std::array<char, 512> text{};
    const ssize_t n = read(announce_, text.data(), text.size());
    close(std::exchange(announce_, -1));
    if (n <= 1 || ending_ || std::exchange(listened_, true)) return;
    const std::string line(text.data(), static_cast<std::size_t>(n) - 1);
    if (Result<void> ok = start_nodes(address_of(line)); !ok) {
      (void)report(ok.error());
      ask_to_end();
    }
  }

  Result<void> start_nodes(const config::Address& master) {
    const config::LocalOptions& local = file_.options.local;
    for (std::size_t i = 0; i < local.p_slaves.size(); ++i) {
      config::NodeOptions node = node_options(master, "p-slave-" + std::to_string(i));
      node.w_slave = false;
      node.p_slave = true;
      if (Result<void> ok = start_node(node); !ok) return ok;
    }
    for (std::size_t i = 0; i < local.w_slaves.size(); ++i) {
      config::NodeOptions node = node_options(master, "w-slave-" + std::to_string(i));
      node.devices = {local.w_slaves[i]};
      if (Result<void> ok = start_node(node); !ok) return ok;
    }
    return {};
  }

  config::NodeOptions node_options(const config::Address& master, const std::string& name) const {
    config::NodeOptions node;
    node.name = name;
    node.master = master;
    if (node_keys_) {
      node.security.mode = config::SecurityOptions::Mode::kOn;
      node.security.secret_key = node_keys_->secret_key.text();
      node.security.public_key = node_keys_->public_key.text();
      node.security.server_key = master_key_;
    } else {
      node.security.mode = config::SecurityOptions::Mode::kNone;
    }
    return node;
  }

  Result<void> start_node(const config::NodeOptions& node) {
    Child child;
    child.what = node.name;
    child.log = file_.options.dir + "/logs/" + node.name + ".txt";
    Result<int> file = file_in_memory(node.name, config::serialise(node));
    if (!file) return file.error();
    child.file = *file;
    child.arguments = {"node", "/dev/fd/" + std::to_string(child.file), "--local", "--log", child.log};
    std::error_code ignored;
    std::filesystem::remove(child.log,
                            ignored);  // of an earlier run; lives of this run follow each other in it
    return start(std::move(child));
  }

  Result<void> start(Child child) {
    child.started = Clock::now();
    const pid_t pid = spawn(child.arguments, child.file, SIGKILL);
    if (pid < 0) return Error{ErrorCode::kIo, child.what + " cannot be started: " + std::strerror(errno)};
    children_[pid] = std::move(child);
    return {};
  }

  // For a signal, an announcement, or the next moment that something is due.
  void wait() {
    std::optional<Moment> next;
    const auto sooner = [&](const std::optional<Moment>& moment) {
      if (moment && (!next || *moment < *next)) next = moment;
    };
    sooner(kill_at_);
    if (!ending_) {
      for (const Dead& d : dead_) sooner(d.due);
    }
    int timeout_ms = -1;
    if (next) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - Clock::now()).count();
      timeout_ms = static_cast<int>(std::max<std::int64_t>(0, left));
    }
    std::array<pollfd, 2> fds{pollfd{signals_, POLLIN, 0}, pollfd{announce_, POLLIN, 0}};
    if (poll(fds.data(), fds.size(), timeout_ms) <= 0) return;
    signalfd_siginfo info{};
    while (read(signals_, &info, sizeof info) == sizeof info) {
      if (info.ssi_signo == SIGINT || info.ssi_signo == SIGTERM) asked();
    }
    if (announce_ >= 0 && fds[1].revents != 0) read_announcement();
  }

  void asked() {
    if (++times_asked_ == 1) return ask_to_end();
    status_ = 130;
    kill_all();
  }

  // The Master tells its nodes, and ends.
  void ask_to_end() {
    if (ending_) return;  // a second SIGTERM would end it at once
    if (master_ > 0) kill(master_, SIGTERM);
    begin_end(kWholeEnd);
  }

  // From here nobody is mourned or started again, and `patience` later all that is left is killed.
  void begin_end(Clock::duration patience) {
    ending_ = true;
    const Moment latest = Clock::now() + patience;
    kill_at_ = kill_at_ ? std::min(*kill_at_, latest) : latest;
  }

  void kill_all() {
    kill_at_.reset();
    ending_ = true;
    if (master_ > 0) {
      if (times_asked_ < 2) std::fprintf(stderr, "convoy: the Master does not end; killed\n");
      kill(master_, SIGKILL);
    }
    for (const auto& [pid, child] : children_) kill(pid, SIGKILL);
  }

  // Collects children that ended.
  void reap() {
    int status = 0;
    for (pid_t pid = waitpid(-1, &status, WNOHANG); pid > 0; pid = waitpid(-1, &status, WNOHANG)) {
      if (pid == master_) {
        master_ended(status);
        continue;
      }
      const auto at = children_.find(pid);
      if (at == children_.end()) continue;
      Child child = std::move(at->second);
      children_.erase(at);
      if (ending_ || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) continue;
      const Moment now = Clock::now();
      dead_.push_back({std::move(child), status, WIFSIGNALED(status) ? now : now + kDoubt});
    }
  }

  void master_ended(int status) {
    master_ = -1;
    if (times_asked_ < 2) status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    if (!WIFSIGNALED(status)) return begin_end(kOwnEnd);
    if (!ending_) {
      const bool again = listened_ && survives_master() && start_master();
      std::fprintf(stderr, "convoy: the Master was killed by signal %d (%s)%s\n", WTERMSIG(status),
                   strsignal(WTERMSIG(status)), again ? "; starting it again" : "");
      if (again) return;
    }
    begin_end({});  // nobody told the nodes
  }

  // Another Master takes over where the journal ends; the nodes train on meanwhile and dial the same address.
  // False: it dies too often for that to be chance.
  bool survives_master() {
    const bool young = Clock::now() - master_started_ < kTooYoung;
    master_quick_deaths_ = young ? master_quick_deaths_ + 1 : 0;
    std::erase(master_arguments_, "--overwrite");
    if (std::find(master_arguments_.begin(), master_arguments_.end(), "--resume") == master_arguments_.end())
      master_arguments_.emplace_back("--resume");
    return master_quick_deaths_ < kQuickDeaths;
  }

  void mourn_due() {
    std::vector<Dead> later;
    std::vector<Dead> due;
    for (Dead& d : dead_) (passed(d.due) ? due : later).push_back(std::move(d));
    dead_ = std::move(later);
    for (Dead& d : due) {
      if (!ending_) mourn(std::move(d.child), d.status);
    }
  }

  void mourn(Child child, int status) {
    const std::string how = WIFSIGNALED(status)
                                ? std::string("was killed by signal ") + std::to_string(WTERMSIG(status)) +
                                      " (" + strsignal(WTERMSIG(status)) + ")"
                                : "ended with status " + std::to_string(WEXITSTATUS(status));
    const bool young = Clock::now() - child.started < kTooYoung;
    child.quick_deaths = young ? child.quick_deaths + 1 : 0;
    // A P-slave comes back empty. Had nobody a copy of what it had, the Master ends the run and says so.
    const bool again = child.quick_deaths < kQuickDeaths;
    std::fprintf(stderr, "convoy: %s %s; %s\n", child.what.c_str(), how.c_str(),
                 again ? "starting it again" : ("its log is " + child.log).c_str());
    if (again) {
      if (Result<void> ok = start(std::move(child)); !ok) (void)report(ok.error());
      return;
    }
    print_last_line(child.log);
    ask_to_end();  // a node that never starts is waited for in vain
  }

  static void print_last_line(const std::string& log) {
    std::ifstream in(log);
    std::string line;
    std::string last;
    while (std::getline(in, line)) last = line;
    if (!last.empty()) std::fprintf(stderr, "convoy:   %s\n", last.c_str());
  }

  const config::RunFile& file_;
  std::vector<std::string> master_arguments_;
  std::optional<KeyPair> node_keys_;
  std::string master_key_;
  int signals_ = -1;
  int announce_ = -1;
  pid_t master_ = -1;
  Moment master_started_;
  int master_quick_deaths_ = 0;
  bool listened_ = false;  // some Master of this run did; nodes are started
  std::map<pid_t, Child> children_;
  std::vector<Dead> dead_;
  int times_asked_ = 0;
  bool ending_ = false;
  std::optional<Moment> kill_at_;
  int status_ = 1;  // exit status
};

}  // namespace

int launch(const config::RunFile& file, const std::vector<std::string>& master_arguments) {
  return Launcher(file, master_arguments).run();
}

}  // namespace convoy::cli
