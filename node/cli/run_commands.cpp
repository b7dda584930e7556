// train and master.
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>

#include "config/run_file.h"
#include "node/cli/commands.h"
#include "node/cli/launcher.h"
#include "node/process/actors.h"
#include "node/process/ending.h"
#include "node/process/master_process.h"

namespace convoy::cli {
namespace {

struct RunFlags {
  std::string file;
  OverrideFlags overrides;
  bool resume = false;
  bool overwrite = false;
  // Between `train` and the Master that it starts.
  bool local = false;
  int announce_fd = -1;
  std::vector<std::string> allow;
};

config::Overrides overrides_of(const RunFlags& flags) {
  config::Overrides overrides;
  overrides.set = flags.overrides.set;
  if (flags.overrides.workers >= 0) overrides.workers = flags.overrides.workers;
  if (flags.overrides.servers >= 0) overrides.servers = flags.overrides.servers;
  return overrides;
}

void add_run_flags(CLI::App& command, RunFlags& flags) {
  command.add_option("RUN.toml", flags.file, "the run file")->required();
  add_set(command, flags.overrides);
  command
      .add_option("--workers", flags.overrides.workers,
                  "start N default W-slaves instead of [[local.w_slave]]")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--servers", flags.overrides.servers,
                  "start P default P-slaves instead of [[local.p_slave]]")
      ->check(CLI::PositiveNumber);
  auto* resume = command.add_flag("--resume", flags.resume, "go on with an interrupted run");
  command.add_flag("--overwrite", flags.overwrite, "remove the earlier run of this name")->excludes(resume);
}

int master(const RunFlags& flags) {
  Result<config::RunFile> file = config::read_run_file(flags.file, overrides_of(flags));
  if (!file) return report(file.error());
  config::RunOptions& run = file->options;
  if (flags.local) {
    run.cluster.min_w_slaves =
        std::max(run.cluster.min_w_slaves, static_cast<int>(run.local.w_slaves.size()));
    run.cluster.min_p_slaves =
        std::max(run.cluster.min_p_slaves, static_cast<int>(run.local.p_slaves.size()));
  }
  for (const std::string& key : flags.allow) file->security.allowed_keys.push_back(key);
  if (flags.resume) {
    return report(
        {ErrorCode::kUsage,
         "--resume needs checkpoints while training, which this build does not write yet: start again with "
         "--overwrite, or under another run.name."});
  }
  block_signals();
  Ending ending;
  auto house = std::make_unique<ActorHouse>(ending);
  MasterProcessOptions options{std::move(*file),
                               flags.overwrite ? record::RunStart::kOverwrite : record::RunStart::kNew};
  Result<std::unique_ptr<MasterProcess>> process = start_master(options, *house, ending, NodeClock());
  if (!process) return report(process.error());
  if (flags.announce_fd >= 0) {
    const std::string line = (*process)->address() + "\n";
    (void)!write(flags.announce_fd, line.data(), line.size());
    close(flags.announce_fd);
  }
  Ending::Outcome outcome;
  {
    const SignalWatcher signals([&] { (*process)->leave(); });
    outcome = ending.wait();
  }
  if (Result<void> written = (*process)->stop(outcome); !written && outcome.status == 0) {
    outcome = {1, written.error().message};
  }
  house.reset();
  (*process)->close_display();
  if (outcome.status != 0) std::fprintf(stderr, "convoy: %s\n", outcome.text.c_str());
  return outcome.status;
}

int train(const RunFlags& flags, const std::vector<std::string>& master_arguments) {
  Result<config::RunFile> file = config::read_run_file(flags.file, overrides_of(flags));
  if (!file) return report(file.error());
  return launch(*file, master_arguments);
}

// What `train` was given, for the Master that it starts.
std::vector<std::string> arguments_for_master(const RunFlags& flags) {
  std::vector<std::string> arguments{flags.file};
  for (const std::string& s : flags.overrides.set) arguments.insert(arguments.end(), {"--set", s});
  if (flags.overrides.workers >= 0) {
    arguments.insert(arguments.end(), {"--workers", std::to_string(flags.overrides.workers)});
  }
  if (flags.overrides.servers >= 0) {
    arguments.insert(arguments.end(), {"--servers", std::to_string(flags.overrides.servers)});
  }
  if (flags.resume) arguments.emplace_back("--resume");
  if (flags.overwrite) arguments.emplace_back("--overwrite");
  return arguments;
}

}  // namespace

void add_train(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("train", "train with Master, P-slaves and W-slaves as processes of this machine");
  auto flags = std::make_shared<RunFlags>();
  add_run_flags(*command, *flags);
  command->callback(
      [flags, &action] { action = [flags] { return train(*flags, arguments_for_master(*flags)); }; });
}

void add_master(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("master", "run the Master alone; nodes join from anywhere");
  auto flags = std::make_shared<RunFlags>();
  add_run_flags(*command, *flags);
  command->add_flag("--local", flags->local, "wait for every local W-slave and P-slave before the start")
      ->group("");
  command->add_option("--announce-fd", flags->announce_fd, "write the address there when listening")
      ->group("");
  command->add_option("--allow", flags->allow, "one more allowed public key")->group("");
  command->callback([flags, &action] { action = [flags] { return master(*flags); }; });
}

}  // namespace convoy::cli
