#include "node/cli/launcher.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
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
#include <map>
#include <optional>

#include "config/node_file.h"
#include "node/cli/child_process.h"
#include "node/cli/commands.h"
#include "node/cli/fault_driver.h"
#include "node/process/ending.h"
#include "node/process/security.h"

namespace convoy::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Moment = SteadyMoment;

// Nodes may take so long to end after their Master, which told them to; and all together so long after it was
// asked.
constexpr auto kOwnEnd = std::chrono::milliseconds(2000);
constexpr auto kWholeEnd = std::chrono::milliseconds(4500);
// One that dies younger than this did not die by chance.
constexpr auto kTooYoung = std::chrono::seconds(2);
constexpr int kQuickDeaths = 3;
// A node that ends by itself may only be faster than the Master, which told it that the run is over.
constexpr auto kDoubt = std::chrono::milliseconds(1500);

struct Dead {
  Child child;
  int status = 0;
  Moment due;  // when it is believed that the run is not just over
};

class Launcher final : private Processes {
 public:
  Launcher(const config::RunFile& file, std::vector<std::string> master_arguments)
      : file_(file),
        master_arguments_(std::move(master_arguments)),
        faults_(file.options, resumes(), *this) {}

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
      if (!ending_) faults_.work(Clock::now());
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
    if (n <= 1 || ending_) return;
    const std::string line(text.data(), static_cast<std::size_t>(n) - 1);
    master_address_ = local_address_of(line);
    faults_.connect({config::to_string(master_address_), master_key_, node_keys_});
    if (std::exchange(listened_, true)) return;
    if (Result<void> ok = start_nodes(); !ok) {
      (void)report(ok.error());
      ask_to_end();
    }
  }

  Result<void> start_nodes() {
    const config::LocalOptions& local = file_.options.local;
    for (std::size_t i = 0; i < local.p_slaves.size(); ++i) {
      if (Result<void> ok = start_new("p-slave-" + std::to_string(i)); !ok) return ok;
    }
    for (std::size_t i = 0; i < local.w_slaves.size(); ++i) {
      if (Result<void> ok = start_new("w-slave-" + std::to_string(i)); !ok) return ok;
    }
    return {};
  }

  // "w-slave-3" is as the run file says of that one, or of the last one.
  config::NodeOptions node_options(const std::string& name) const {
    config::NodeOptions node;
    node.name = name;
    node.master = master_address_;
    node.p_slave = name.starts_with("p-slave-");
    node.w_slave = !node.p_slave;
    if (node.w_slave) {
      const std::vector<config::WSlaveOptions>& devices = file_.options.local.w_slaves;
      const std::size_t index = std::stoul(name.substr(name.rfind('-') + 1));
      node.devices = {devices[std::min(index, devices.size() - 1)]};
    }
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

  Result<void> start_new(const std::string& name) {
    const config::NodeOptions node = node_options(name);
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
      sooner(faults_.due());
      for (const Dead& d : dead_) sooner(d.due);
    }
    int timeout_ms = -1;
    if (next) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - Clock::now()).count();
      timeout_ms = static_cast<int>(std::max<std::int64_t>(0, left));
    }
    std::array<pollfd, 3> fds{pollfd{signals_, POLLIN, 0}, pollfd{announce_, POLLIN, 0},
                              pollfd{faults_.fd(), POLLIN, 0}};
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
    faults_.end();
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
      if (ending_) continue;
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        left_[child.what] = std::move(child);
        continue;
      }
      const Moment now = Clock::now();
      const Moment due = std::max(WIFSIGNALED(status) ? now : now + kDoubt, child.away_until);
      dead_.push_back({std::move(child), status, due});
    }
  }

  void master_ended(int status) {
    master_ = -1;
    if (times_asked_ < 2) status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    if (!WIFSIGNALED(status)) return begin_end(kOwnEnd);
    if (!ending_) {
      const bool again = listened_ && survives_master() && start_master();
      std::fprintf(stderr, "convoy: the Master %s%s\n", how_it_ended(status).c_str(),
                   again ? "; starting it again" : "");
      if (again) return;
    }
    begin_end({});  // nobody told the nodes
  }

  // Another Master takes over where the journal ends; the nodes train on meanwhile and dial the same address.
  // False: it dies too often for that to be chance.
  bool survives_master() {
    const bool young = Clock::now() - master_started_ < kTooYoung && !std::exchange(master_fault_, false);
    master_quick_deaths_ = young ? master_quick_deaths_ + 1 : 0;
    std::erase(master_arguments_, "--overwrite");
    if (!resumes()) master_arguments_.emplace_back("--resume");
    return master_quick_deaths_ < kQuickDeaths;
  }

  bool resumes() const {
    return std::find(master_arguments_.begin(), master_arguments_.end(), "--resume") !=
           master_arguments_.end();
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
    const bool ours = std::exchange(child.away_until, {}) != Moment{};  // an injected fault
    const bool young = Clock::now() - child.started < kTooYoung;
    child.quick_deaths = young && !ours ? child.quick_deaths + 1 : 0;
    // A P-slave comes back empty. Had nobody a copy of what it had, the Master ends the run and says so.
    const bool again = child.quick_deaths < kQuickDeaths;
    std::fprintf(stderr, "convoy: %s %s; %s\n", child.what.c_str(), how_it_ended(status).c_str(),
                 again ? "starting it again" : ("its log is " + child.log).c_str());
    if (again) {
      if (Result<void> ok = start(std::move(child)); !ok) (void)report(ok.error());
      return;
    }
    print_last_line(child.log);
    ask_to_end();  // a node that never starts is waited for in vain
  }

  // Processes, for the schedule of faults.
  pid_t pid_of(const std::string& name) const {
    if (name == "master") return master_;
    for (const auto& [pid, child] : children_) {
      if (child.what == name) return pid;
    }
    return -1;
  }
  bool running(const std::string& name) const override { return pid_of(name) > 0; }
  bool expected(const std::string& name) const override {
    return running(name) ||
           std::any_of(dead_.begin(), dead_.end(), [&](const Dead& d) { return d.child.what == name; });
  }
  void signal(const std::string& name, int number) override {
    if (const pid_t pid = pid_of(name); pid > 0) kill(pid, number);
  }
  void keep_away(const std::string& name, Moment until) override {
    if (name == "master") {
      master_fault_ = true;
    } else if (const pid_t pid = pid_of(name); pid > 0) {
      children_[pid].away_until = until;
    }
  }
  Result<void> start_node(const std::string& name) override {
    const auto left = left_.find(name);
    if (left == left_.end()) return start_new(name);
    Child child = std::move(left->second);
    left_.erase(left);
    return start(std::move(child));
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
  config::Address master_address_;
  bool master_fault_ = false;  // its next death is an injected one
  std::map<pid_t, Child> children_;
  std::vector<Dead> dead_;
  std::map<std::string, Child> left_;  // by themselves, in good order
  int times_asked_ = 0;
  bool ending_ = false;
  std::optional<Moment> kill_at_;
  int status_ = 1;  // exit status
  FaultDriver faults_;
};

}  // namespace

int launch(const config::RunFile& file, const std::vector<std::string>& master_arguments) {
  return Launcher(file, master_arguments).run();
}

}  // namespace convoy::cli
