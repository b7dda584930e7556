// keygen and invite.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "config/node_file.h"
#include "config/run_file.h"
#include "node/cli/commands.h"
#include "node/process/security.h"
#include "node/security/key_list.h"

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

// Where nodes will dial, if the run file lets them know it.
Result<config::Address> address_for_nodes(const config::RunFile& file, const std::string& name) {
  const config::ClusterOptions& cluster = file.options.cluster;
  config::Address address = cluster.advertise.value_or(cluster.listen);
  if (address.port == 0) address.port = cluster.listen.port;
  if (address.port == 0) {
    return Error{ErrorCode::kUsage, name +
                                        ": cluster.listen has no fixed port, so nobody can be told where to "
                                        "dial: set it, as in cluster.listen = \"" +
                                        config::to_string({address.host, 7070}) + "\"."};
  }
  if (address.host == "0.0.0.0" || address.host == "::") {
    return Error{ErrorCode::kUsage, name + ": cluster.listen is " + config::to_string(address) +
                                        ", every address of this machine, so nobody can be told where to "
                                        "dial: set cluster.advertise to the one that nodes can reach."};
  }
  return address;
}

Result<void> write_new_file(const std::string& path, const std::string& text) {
  const auto failed = [&](const char* what, int error) {
    return Error{ErrorCode::kIo, path + " cannot be " + what + ": " + std::strerror(error) + "."};
  };
  const int fd = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) return failed("made", errno);
  const bool ok = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  close(fd);
  if (ok) return {};
  unlink(path.c_str());
  return failed("written", error);
}

// Keys for the node; the Master's list must have the public one.
Result<PublicKey> give_keys(config::SecurityOptions& security, const KeyPair& master) {
  Result<KeyPair> keys = generate_keys();
  if (!keys) return keys.error();
  security.mode = config::SecurityOptions::Mode::kOn;
  security.secret_key = keys->secret_key.text();
  security.public_key = keys->public_key.text();
  security.server_key = master.public_key.text();
  return keys->public_key;
}

int invite(const InviteFlags& flags) {
  config::Overrides overrides;
  overrides.set = flags.overrides.set;
  Result<config::RunFile> file = config::read_run_file(flags.run, overrides);
  if (!file) return report(file.error());
  Result<MasterSecurity> security = master_security(*file);
  if (!security) return report(security.error());
  Result<config::Address> master = address_for_nodes(*file, flags.run);
  if (!master) return report(master.error());
  config::NodeOptions node;
  node.name = flags.name;
  node.master = *master;
  node.w_slave = flags.roles != "p-slave";
  node.p_slave = flags.roles != "w-slave";
  node.security.mode = config::SecurityOptions::Mode::kNone;
  std::optional<PublicKey> key;
  if (security->keys) {
    if (security->allowed_keys_file.empty()) {
      return report(
          {ErrorCode::kUsage,
           flags.run + ": security.allowed_keys_file is missing, the list of keys that may join: add it, as "
                       "in security.allowed_keys_file = \"allowed.txt\"."});
    }
    Result<PublicKey> given = give_keys(node.security, *security->keys);
    if (!given) return report(given.error());
    key = *given;
  }
  const std::string text =
      "# Lets this machine join run \"" + file->options.name + "\": convoy node " + flags.out + "\n" +
      (key ? "# It holds a secret key: keep it to this machine, and use it for one node only.\n" : "") +
      config::serialise(node);
  if (Result<config::NodeOptions> sound = config::parse_node_file(text, flags.out); !sound)
    return report(sound.error());
  // The file first: a key on the list that nobody holds would stay there for ever.
  if (Result<void> ok = write_new_file(flags.out, text); !ok) return report(ok.error());
  if (key) {
    if (Result<void> ok = KeyList::add(security->allowed_keys_file, *key, flags.name); !ok) {
      unlink(flags.out.c_str());
      return report(ok.error());
    }
  }
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
