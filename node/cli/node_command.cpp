// node.
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>

#include "config/node_file.h"
#include "node/cli/commands.h"
#include "node/process/actors.h"
#include "node/process/ending.h"
#include "node/process/security.h"
#include "node/process/slaves.h"

namespace convoy::cli {
namespace {

// For what is still going on in a thread when a role has ended: a step of a large model, a name server.
constexpr Duration kPatience = std::chrono::seconds(2);

struct NodeFlags {
  std::string file;
  OverrideFlags overrides;
  std::string log;
  bool local = false;
};

Result<void> log_to(const std::string& path) {
  try {
    auto logger = spdlog::basic_logger_mt("file", path);
    logger->set_pattern("%H:%M:%S.%e %l %v");
    logger->flush_on(spdlog::level::info);
    spdlog::set_default_logger(std::move(logger));
  } catch (const spdlog::spdlog_ex& e) {
    return Error{ErrorCode::kIo, "The log cannot be written: " + std::string(e.what())};
  }
  return {};
}

// Waits for the end. With a connect time-out, gives up when a role was without a Master for that long.
Ending::Outcome wait_for_end(Ending& ending, const config::NodeOptions& node, const NodeClock& clock,
                             const std::vector<std::unique_ptr<RunningRole>>& roles) {
  if (node.connect_timeout_s == 0) return ending.wait();
  const Duration patience = from_seconds(node.connect_timeout_s);
  for (;;) {
    // A connection that breaks later is noticed within twice the time-out at most, and counted from its end.
    Duration left = patience;
    for (const auto& role : roles) {
      const std::optional<Time> since = role->without_master_since();
      if (!since) continue;
      left = std::min(left, *since + patience - clock.now());
      if (left > Duration{}) continue;
      const std::string trouble = role->last_trouble();
      char seconds_text[32];
      std::snprintf(seconds_text, sizeof seconds_text, "%g", node.connect_timeout_s);
      return {1, node.name + ": the Master at " + config::to_string(node.master) +
                     " was not reached within " + seconds_text + " s (node.connect_timeout_s): " +
                     (trouble.empty() ? "it does not answer. Start it, or correct node.master." : trouble)};
    }
    if (auto outcome = ending.wait_for(left)) return *outcome;
  }
}

void tell(const Ending::Outcome& outcome) {
  if (outcome.text.empty()) return;
  spdlog::log(outcome.status == 0 ? spdlog::level::info : spdlog::level::err, "{}", outcome.text);
}

// The roles of a node while they run.
class Node {
 public:
  Node(const NodeFlags& flags, const config::NodeOptions& file, const NodeSecurity& security)
      : flags_(flags),
        file_(file),
        slave_{file.name, file.master, security.keys, security.master_key},
        parts_((file.p_slave ? 1 : 0) + (file.w_slave ? static_cast<int>(file.devices.size()) : 0)),
        ending_(parts_),
        house_(std::make_unique<ActorHouse>(ending_)) {}

  // The exit status.
  int run() {
    const SignalWatcher signals([&] { leave(); });
    start();
    const Ending::Outcome outcome = wait_for_end(ending_, file_, clock_, roles_);
    tell(outcome);
    end_within(kPatience, outcome.status);
    for (const auto& role : roles_) role->stop();
    house_.reset();
    return outcome.status;
  }

 private:
  void start() {
    if (file_.p_slave) {
      ServerProcessOptions options{named(".p"), file_.advertise, file_.port};
      keep(start_server(options, *house_, ending_, clock_));
    }
    for (std::size_t i = 0; file_.w_slave && i < file_.devices.size(); ++i) {
      WorkerProcessOptions options{named(".w" + std::to_string(i)), file_.devices[i],
                                   flags_.local ? "" : file_.data_dir};
      keep(start_worker(options, *house_, ending_, clock_));
    }
    const std::lock_guard lock(mutex_);
    started_ = true;
  }

  SlaveOptions named(const std::string& part) const {
    SlaveOptions slave = slave_;
    if (parts_ > 1) slave.name += part;
    return slave;
  }

  void keep(Result<std::unique_ptr<RunningRole>> role) {
    if (!role) return ending_.set({report(role.error()), ""});
    roles_.push_back(std::move(*role));
  }

  // Of the watcher's thread. Until all roles are there, a name server may keep their start waiting.
  void leave() {
    const std::lock_guard lock(mutex_);
    if (!started_) {
      std::fprintf(stderr, "convoy: %s was stopped before it had started\n", file_.name.c_str());
      _exit(1);
    }
    for (const auto& role : roles_) role->leave();
  }

  const NodeFlags& flags_;
  const config::NodeOptions& file_;
  const SlaveOptions slave_;
  const int parts_;
  const NodeClock clock_;
  Ending ending_;
  std::unique_ptr<ActorHouse> house_;
  std::vector<std::unique_ptr<RunningRole>> roles_;  // outlive the house; once started, of no thread alone
  std::mutex mutex_;
  bool started_ = false;
};

int node(const NodeFlags& flags) {
  Result<config::NodeOptions> file = config::read_node_file(flags.file, flags.overrides.set);
  if (!file) return report(file.error());
  if (!flags.log.empty()) {
    if (Result<void> ok = log_to(flags.log); !ok) return report(ok.error());
  }
  Result<NodeSecurity> security = node_security(*file);
  if (!security) return report(security.error());
  block_signals();
  return Node(flags, *file, *security).run();
}

}  // namespace

void add_node(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("node", "offer this machine's devices to a run");
  auto flags = std::make_shared<NodeFlags>();
  command->add_option("NODE.toml", flags->file, "the node file")->required();
  add_set(*command, flags->overrides);
  command->add_option("--log", flags->log, "log to this file instead of stderr");
  command->add_flag("--local", flags->local, "look for data where the run file says")->group("");
  command->callback([flags, &action] { action = [flags] { return node(*flags); }; });
}

}  // namespace convoy::cli
