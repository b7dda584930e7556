#include "node/cli/commands.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>

#include <cstdio>

#include "messages/messages.h"
#include "node/process/build_id.h"

namespace convoy::cli {

int report(const Error& error) {
  std::fprintf(stderr, "convoy: %s\n", error.message.c_str());
  return error.code == ErrorCode::kUsage ? 2 : 1;
}

void add_set(CLI::App& command, OverrideFlags& flags) {
  command.add_option("--set", flags.set, "override a key of the file (repeatable)")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

int run(int argc, char** argv) {
  prctl(PR_SET_NAME, "convoy");  // those that the launcher starts would be called "exe"
  spdlog::set_default_logger(spdlog::stderr_color_mt("convoy"));
  spdlog::set_pattern("%H:%M:%S.%e %^%l%$ %v");

  CLI::App app("Convoy trains convolutional networks on machines of different speed that join and leave.",
               "convoy");
  app.set_version_flag("--version",
                       "convoy " + build_id() + ", protocol " + std::to_string(kProtocolVersion));
  app.require_subcommand(1);
  Action action;
  add_train(app, action);
  add_master(app, action);
  add_node(app, action);
  add_status(app, action);
  add_report(app, action);
  add_fault(app, action);
  add_eval(app, action);
  add_verify(app, action);
  add_bench(app, action);
  add_keygen(app, action);
  add_invite(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    // CLI11 gives 0 for --help and --version, and codes of its own for errors.
    return app.exit(e) == 0 ? 0 : 2;
  }
  return action ? action() : 2;
}

}  // namespace convoy::cli
