#include "node/cli/launcher.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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
#include "node/process/security.h"

namespace convoy::cli {
namespace {

using Clock = std::chrono::steady_clock;

// After the Master is gone: to end by themselves, then by SIGTERM, then by SIGKILL. Together under five
// seconds.
constexpr auto kOwnEnd = std::chrono::milliseconds(2000);
constexpr auto kKilled = std::chrono::milliseconds(4500);
// A W-slave that dies younger than this did not die by chance.
constexpr auto kTooYoung = std::chrono::seconds(2);
constexpr int kQuickDeaths = 3;
// A node that ends by itself may only be faster than the Master, which told it that the run is over.
constexpr auto kDoubt = std::chrono::milliseconds(1500);

struct Child {
  std::string what;
  std::vector<std::string> arguments;
  bool is_w_slave = false;
  Clock::time_point started;
  int quick_deaths = 0;
};

// A folder for the node files, gone with us. They hold a secret when the run is encrypted.
class NodeFolder {
 public:
  NodeFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "convoy-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~NodeFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  NodeFolder(const NodeFolder&) = delete;
  NodeFolder& operator=(const NodeFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class Launcher {
 public:
  Launcher(const config::RunFile& file, std::vector<std::string> master_arguments)
      : file_(file), master_arguments_(std::move(master_arguments)) {}

  int run() {
    if (folder_.path().empty()) return report({ErrorCode::kIo, "No temporary folder can be made."});
    Result<MasterSecurity> security = master_security(file_);
    if (!security) return report(security.error());
    if (security->keys) {
      Result<KeyPair> keys = generate_keys();
      if (!keys) return report(keys.error());
      node_keys_ = std::move(*keys);
      master_key_ = security->keys->public_key.text();
    }
    watch_signals();
    const std::optional<config::Address> address = start_master();
    if (!address) return end(wait_for_master());
    if (Result<void> ok = start_nodes(*address); !ok) {
      (void)report(ok.error());
      kill(master_, SIGTERM);
    }
    return end(wait_for_master());
  }

 private:
  void watch_signals() {
    sigemptyset(&set_);
    for (int s : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&set_, s);
    sigprocmask(SIG_BLOCK, &set_, nullptr);
    signals_ = signalfd(-1, &set_, SFD_CLOEXEC);
  }

  // Children are in a process group of their own: Ctrl-C reaches them through us, in order. They end when we
  // do.
  pid_t spawn(const std::vector<std::string>& arguments, int keep_fd) {
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid != 0) return pid;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(1);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    if (keep_fd >= 0) fcntl(keep_fd, F_SETFD, 0);
    std::vector<char*> argv;
    std::string self = "/proc/self/exe";
    std::string name = "convoy";
    argv.push_back(name.data());
    std::vector<std::string> copies = arguments;
    for (std::string& a : copies) argv.push_back(a.data());
    argv.push_back(nullptr);
    execv(self.c_str(), argv.data());
    _exit(127);
  }

  std::optional<config::Address> start_master() {
    std::array<int, 2> announce{};
    if (pipe2(announce.data(), O_CLOEXEC) != 0) return std::nullopt;
    std::vector<std::string> arguments{"master"};
    arguments.insert(arguments.end(), master_arguments_.begin(), master_arguments_.end());
    arguments.insert(arguments.end(), {"--local", "--announce-fd", std::to_string(announce[1])});
    if (node_keys_) arguments.insert(arguments.end(), {"--allow", node_keys_->public_key.text()});
    master_ = spawn(arguments, announce[1]);
    close(announce[1]);
    std::string line;
    char c = 0;
    // The end of the pipe means that the Master ended before it listened.
    while (read(announce[0], &c, 1) == 1 && c != '\n') line += c;
    close(announce[0]);
    if (line.empty()) return std::nullopt;
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

  Result<void> start_nodes(const config::Address& master) {
    const config::LocalOptions& local = file_.options.local;
    for (std::size_t i = 0; i < local.p_slaves.size(); ++i) {
      config::NodeOptions node = node_options(master, "p-slave-" + std::to_string(i));
      node.w_slave = false;
      node.p_slave = true;
      if (Result<void> ok = start_node(node, false); !ok) return ok;
    }
    for (std::size_t i = 0; i < local.w_slaves.size(); ++i) {
      config::NodeOptions node = node_options(master, "w-slave-" + std::to_string(i));
      node.devices = {local.w_slaves[i]};
      if (Result<void> ok = start_node(node, true); !ok) return ok;
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

  Result<void> start_node(const config::NodeOptions& node, bool is_w_slave) {
    const std::string path = folder_.path() + "/" + node.name + ".toml";
    const int fd = open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC | O_EXCL, 0600);
    const std::string text = config::serialise(node);
    const bool ok = fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    if (fd >= 0) close(fd);
    if (!ok) return Error{ErrorCode::kIo, path + " cannot be written: " + std::strerror(errno) + "."};
    Child child;
    child.what = node.name;
    child.is_w_slave = is_w_slave;
    child.arguments = {"node", path, "--local", "--log", file_.options.dir + "/logs/" + node.name + ".txt"};
    start(std::move(child));
    return {};
  }

  void start(Child child) {
    child.started = Clock::now();
    const pid_t pid = spawn(child.arguments, -1);
    children_[pid] = std::move(child);
  }

  // Until the Master has ended: hands signals on, starts W-slaves again. Its exit status.
  int wait_for_master() {
    int asked = 0;
    for (;;) {
      if (const std::optional<int> status = reap()) return *status;
      if (asked == 0) mourn_due();
      pollfd fd{signals_, POLLIN, 0};
      if (poll(&fd, 1, asked == 0 ? until_next_mourning_ms() : -1) != 1) continue;
      signalfd_siginfo info{};
      if (read(signals_, &info, sizeof info) != sizeof info) continue;
      if (info.ssi_signo != SIGINT && info.ssi_signo != SIGTERM) continue;
      if (++asked > 1) {
        kill_all(SIGKILL);
        return 130;
      }
      kill(master_, SIGTERM);
    }
  }

  // Collects children that ended. The Master's exit status when it is among them.
  std::optional<int> reap() {
    std::optional<int> master_status;
    int status = 0;
    for (pid_t pid = waitpid(-1, &status, WNOHANG); pid > 0; pid = waitpid(-1, &status, WNOHANG)) {
      if (pid == master_) {
        master_ = -1;
        master_status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
        if (WIFSIGNALED(status)) {
          std::fprintf(stderr, "convoy: the Master was killed by signal %d (%s)\n", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
        }
        continue;
      }
      const auto at = children_.find(pid);
      if (at == children_.end()) continue;
      Child child = std::move(at->second);
      children_.erase(at);
      if (master_ < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) continue;
      const Clock::time_point now = Clock::now();
      dead_.push_back({std::move(child), status, WIFSIGNALED(status) ? now : now + kDoubt});
    }
    return master_status;
  }

  void mourn_due() {
    std::vector<Dead> later;
    std::vector<Dead> due;
    for (Dead& d : dead_) (d.due <= Clock::now() ? due : later).push_back(std::move(d));
    dead_ = std::move(later);
    for (Dead& d : due) mourn(std::move(d.child), d.status);
  }

  int until_next_mourning_ms() const {
    if (dead_.empty()) return -1;
    Clock::time_point next = dead_.front().due;
    for (const Dead& d : dead_) next = std::min(next, d.due);
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next - Clock::now()).count();
    return static_cast<int>(std::max<std::int64_t>(0, left)) + 1;
  }

  void mourn(Child child, int status) {
    std::string how = WIFSIGNALED(status) ? std::string("was killed by ") + strsignal(WTERMSIG(status))
                                          : "ended with status " + std::to_string(WEXITSTATUS(status));
    const bool young = Clock::now() - child.started < kTooYoung;
    child.quick_deaths = young ? child.quick_deaths + 1 : 0;
    if (child.is_w_slave && child.quick_deaths < kQuickDeaths) {
      std::fprintf(stderr, "convoy: %s %s; starting it again\n", child.what.c_str(), how.c_str());
      return start(std::move(child));
    }
    std::fprintf(stderr, "convoy: %s %s; its log is %s\n", child.what.c_str(), how.c_str(),
                 child.arguments.back().c_str());
    print_tail(child.arguments.back());
    // A P-slave's parameters are nowhere else, and a W-slave that never starts is waited for in vain.
    if (master_ > 0) kill(master_, SIGTERM);
  }

  static void print_tail(const std::string& log) {
    std::ifstream in(log);
    std::string line;
    std::string last;
    while (std::getline(in, line)) last = line;
    if (!last.empty()) std::fprintf(stderr, "convoy:   %s\n", last.c_str());
  }

  void kill_all(int signal) {
    if (master_ > 0) kill(master_, signal);
    for (const auto& [pid, child] : children_) kill(pid, signal);
  }

  // Nobody is left when this returns.
  int end(int status) {
    const Clock::time_point began = Clock::now();
    bool terminated = false;
    while (!children_.empty()) {
      reap();
      if (children_.empty()) break;
      const auto passed = Clock::now() - began;
      if (passed > kOwnEnd && !terminated) {
        terminated = true;
        kill_all(SIGTERM);
      }
      if (passed > kKilled) kill_all(SIGKILL);
      const auto next = passed < kOwnEnd ? kOwnEnd : kKilled;
      const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(next - passed).count() + 1;
      pollfd fd{signals_, POLLIN, 0};
      if (poll(&fd, 1, static_cast<int>(std::max<long>(1, wait))) == 1) {
        signalfd_siginfo info{};
        (void)!read(signals_, &info, sizeof info);
        if (info.ssi_signo == SIGINT || info.ssi_signo == SIGTERM) kill_all(SIGKILL);
      }
    }
    close(signals_);
    return status;
  }

  const config::RunFile& file_;
  std::vector<std::string> master_arguments_;
  NodeFolder folder_;
  std::optional<KeyPair> node_keys_;
  std::string master_key_;
  sigset_t set_{};
  int signals_ = -1;
  pid_t master_ = -1;
  std::map<pid_t, Child> children_;
  struct Dead {
    Child child;
    int status = 0;
    Clock::time_point due;  // when it is believed that the run is not just over
  };
  std::vector<Dead> dead_;
};

}  // namespace

int launch(const config::RunFile& file, const std::vector<std::string>& master_arguments) {
  return Launcher(file, master_arguments).run();
}

}  // namespace convoy::cli
