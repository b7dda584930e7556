// keygen and invite.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>

#include <fcntl.h>
#include <unistd.h>

#include "config/node_file.h"
#include "config/run_file.h"
#include "node/cli/commands.h"
#include "node/process/security.h"

namespace convoy::cli {
namespace {

int keygen(const std::string& path) {
  Result<KeyPair> keys = generate_keys();
  if (!keys) return report(keys.error());
  if (path.empty()) {
    std::printf("public_key = \"%s\"\nsecret_key = \"%s\"\n", keys->public_key.text().c_str(),
                keys->secret_key.text().c_str());
    return 0;
  }
  if (Result<void> written = write_key_file(path, *keys); !written) return report(written.error());
  std::printf("public_key = \"%s\"\nsecret_key_file = \"%s\"\n", keys->public_key.text().c_str(),
              path.c_str());
  return 0;
}

struct InviteFlags {
  std::string run;
  std::string out;
  std::string name;
  std::string roles = "w-slave";
  OverrideFlags overrides;
};

Result<void> append_line(const std::string& path, const std::string& line) {
  std::ofstream out(path, std::ios::app);
  out << line << "\n";
  out.close();
  if (!out) return Error{ErrorCode::kIo, path + " cannot be written."};
  return {};
}

Result<void> write_secret(const std::string& path, const std::string& text) {
  const int fd = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) return Error{ErrorCode::kIo, path + " cannot be made: " + std::strerror(errno) + "."};
  const bool ok = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(fd);
  if (!ok) return Error{ErrorCode::kIo, path + " cannot be written: " + std::strerror(errno) + "."};
  return {};
}

int invite(const InviteFlags& flags) {
  config::Overrides overrides;
  overrides.set = flags.overrides.set;
  Result<config::RunFile> file = config::read_run_file(flags.run, overrides);
  if (!file) return report(file.error());
  Result<MasterSecurity> security = master_security(*file);
  if (!security) return report(security.error());
  const config::ClusterOptions& cluster = file->options.cluster;
  config::NodeOptions node;
  node.name = flags.name;
  node.master = cluster.advertise.value_or(cluster.listen);
  if (node.master.port == 0) node.master.port = cluster.listen.port;
  if (node.master.port == 0) {
    return report({ErrorCode::kUsage, flags.run +
                                          ": cluster.listen has port 0, so nobody can be told where to dial; "
                                          "give it a fixed port."});
  }
  node.w_slave = flags.roles != "p-slave";
  node.p_slave = flags.roles != "w-slave";
  if (security->keys) {
    if (file->security.allowed_keys_file.empty()) {
      return report(
          {ErrorCode::kUsage,
           flags.run + ": set security.allowed_keys_file, the list to which an invitation adds its key."});
    }
    Result<KeyPair> keys = generate_keys();
    if (!keys) return report(keys.error());
    node.security.mode = config::SecurityOptions::Mode::kOn;
    node.security.secret_key = keys->secret_key.text();
    node.security.public_key = keys->public_key.text();
    node.security.server_key = security->keys->public_key.text();
    if (Result<void> ok =
            append_line(file->security.allowed_keys_file, keys->public_key.text() + "  # " + flags.name);
        !ok) {
      return report(ok.error());
    }
  } else {
    node.security.mode = config::SecurityOptions::Mode::kNone;
  }
  if (Result<void> ok = write_secret(flags.out, config::serialise(node)); !ok) return report(ok.error());
  std::printf("%s is ready: copy it to the machine and run `convoy node %s` there\n", flags.out.c_str(),
              flags.out.c_str());
  return 0;
}

}  // namespace

void add_keygen(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("keygen", "make a CURVE key pair");
  auto path = std::make_shared<std::string>();
  command->add_option("FILE", *path, "write the secret key there (mode 0600) instead of to stdout");
  command->callback([path, &action] { action = [path] { return keygen(*path); }; });
}

void add_invite(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("invite", "write a ready node file, keys included, for a machine to join");
  auto flags = std::make_shared<InviteFlags>();
  command->add_option("RUN.toml", flags->run, "the run file")->required();
  command->add_option("NODE.toml", flags->out, "the node file to write")->required();
  command->add_option("--name", flags->name, "the node's name")->required();
  command->add_option("--roles", flags->roles, "w-slave, p-slave or both")
      ->check(CLI::IsMember({"w-slave", "p-slave", "both"}));
  add_set(*command, flags->overrides);
  command->callback([flags, &action] { action = [flags] { return invite(*flags); }; });
}

}  // namespace convoy::cli
