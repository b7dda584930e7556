// The command line: one function a command. Each adds its subcommand to the parser and, when it is the one
// that was typed, runs and sets the exit status: 0 done; 1 the run or the world failed; 2 the command line or
// a file is wrong.
//
// Results and --json alone go to stdout, progress and logs to stderr. Main thread.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "messages/base/result.h"

namespace convoy::cli {

// Runs the command line; returns the exit status.
int run(int argc, char** argv);

// What the chosen command will do, filled in by its callback while parsing and called after it.
using Action = std::function<int()>;

void add_train(CLI::App& app, Action& action);
void add_master(CLI::App& app, Action& action);
void add_node(CLI::App& app, Action& action);
void add_status(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_fault(CLI::App& app, Action& action);
void add_eval(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_keygen(CLI::App& app, Action& action);
void add_invite(CLI::App& app, Action& action);

// Prints the error to stderr; 2 for usage, 1 for everything else.
int report(const Error& error);

// --set, --workers, --servers, as run files take them.
struct OverrideFlags {
  std::vector<std::string> set;
  int workers = -1;
  int servers = -1;
};
void add_set(CLI::App& command, OverrideFlags& flags);

}  // namespace convoy::cli
