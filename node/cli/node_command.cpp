// node.
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "config/node_file.h"
#include "node/cli/commands.h"
#include "node/process/actors.h"
#include "node/process/ending.h"
#include "node/process/security.h"
#include "node/process/slaves.h"

namespace convoy::cli {
namespace {

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

// Waits for the end. With a connect time-out, gives up when the Master was not reached in time.
Ending::Outcome wait_for_end(Ending& ending, const config::NodeOptions& node,
                             const std::vector<std::unique_ptr<RunningRole>>& roles) {
  if (node.connect_timeout_s > 0) {
    if (auto outcome = ending.wait_for(from_seconds(node.connect_timeout_s))) return *outcome;
    for (const auto& role : roles) {
      if (role->reached_master()) continue;
      const std::string trouble = role->last_trouble();
      char seconds_text[32];
      std::snprintf(seconds_text, sizeof seconds_text, "%g", node.connect_timeout_s);
      return {1, "The Master at " + config::to_string(node.master) + " was not reached within " +
                     seconds_text + " s (node.connect_timeout_s)" + (trouble.empty() ? "." : ": " + trouble) +
                     " Start the Master, or correct node.master."};
    }
  }
  return ending.wait();
}

int node(const NodeFlags& flags) {
  Result<config::NodeOptions> file = config::read_node_file(flags.file, flags.overrides.set);
  if (!file) return report(file.error());
  if (!flags.log.empty()) {
    if (Result<void> ok = log_to(flags.log); !ok) return report(ok.error());
  }
  Result<NodeSecurity> security = node_security(*file);
  if (!security) return report(security.error());
  SlaveOptions slave{file->name, file->master, security->keys, security->master_key};

  block_signals();
  const int parts = (file->p_slave ? 1 : 0) + (file->w_slave ? static_cast<int>(file->devices.size()) : 0);
  Ending ending(parts);
  auto house = std::make_unique<ActorHouse>(ending);
  const NodeClock clock;
  std::vector<std::unique_ptr<RunningRole>> roles;
  const auto keep = [&](Result<std::unique_ptr<RunningRole>> role) {
    if (!role) return ending.set({report(role.error()), ""});
    roles.push_back(std::move(*role));
  };
  if (file->p_slave) {
    ServerProcessOptions options{slave, file->advertise, file->port};
    if (parts > 1) options.slave.name += ".p";
    keep(start_server(options, *house, ending, clock));
  }
  for (std::size_t i = 0; file->w_slave && i < file->devices.size(); ++i) {
    WorkerProcessOptions options{slave, file->devices[i], flags.local ? "" : file->data_dir};
    if (parts > 1) options.slave.name += ".w" + std::to_string(i);
    keep(start_worker(options, *house, ending, clock));
  }
  Ending::Outcome outcome;
  {
    const SignalWatcher signals([&] {
      for (const auto& role : roles) role->leave();
    });
    outcome = wait_for_end(ending, *file, roles);
  }
  for (const auto& role : roles) role->stop();
  house.reset();
  if (!outcome.text.empty()) {
    if (outcome.status == 0) {
      spdlog::info("{}: {}", file->name, outcome.text);
    } else {
      spdlog::error("{}", outcome.text);
    }
  }
  return outcome.status;
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
