// train and master.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>

#include "config/run_file.h"
#include "node/cli/commands.h"
#include "node/cli/launcher.h"
#include "node/process/actors.h"
#include "node/process/ending.h"
#include "node/process/master_process.h"

namespace convoy::cli {
namespace {

// For a terminal that does not take the last picture.
constexpr Duration kPatience = std::chrono::seconds(2);

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

// Says to the launcher where the Master listens.
void announce(int fd, const std::string& address) {
  const std::string line = address + "\n";
  (void)!write(fd, line.data(), line.size());
  close(fd);
}

int run_master(const MasterProcessOptions& options, int announce_fd) {
  Ending ending;
  std::unique_ptr<MasterProcess> process;  // outlives the house, and whoever asks it to leave
  auto house = std::make_unique<ActorHouse>(ending);
  std::atomic<MasterProcess*> running{nullptr};
  const SignalWatcher signals([&] {
    // Loading a large data set takes a while, and one on a dead file server for ever.
    if (running.load() == nullptr) {
      std::fprintf(stderr, "convoy: stopped before the Master had started\n");
      _exit(1);
    }
    running.load()->leave();
  });
  Result<std::unique_ptr<MasterProcess>> started = start_master(options, *house, ending, NodeClock());
  if (!started) return report(started.error());
  process = std::move(*started);
  running.store(process.get());
  if (announce_fd >= 0) announce(announce_fd, process->address());
  Ending::Outcome outcome = ending.wait();
  if (Result<void> written = process->stop(outcome); !written && outcome.status == 0) {
    outcome = {1, written.error().message};
  }
  end_within(kPatience, outcome.status);
  house.reset();
  process->close_display();
  if (outcome.status != 0) std::fprintf(stderr, "convoy: %s\n", outcome.text.c_str());
  return outcome.status;
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
  block_signals();
  return run_master({std::move(*file), flags.overwrite ? record::RunStart::kOverwrite
                                       : flags.resume  ? record::RunStart::kResume
                                                       : record::RunStart::kNew},
                    flags.announce_fd);
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
