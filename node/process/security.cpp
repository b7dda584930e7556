#include "node/process/security.h"

namespace convoy {
namespace {

using config::SecurityOptions;

bool wanted(const SecurityOptions& security, bool exposed) {
  switch (security.mode) {
    case SecurityOptions::Mode::kNone:
      return false;
    case SecurityOptions::Mode::kOn:
      return true;
    case SecurityOptions::Mode::kAuto:
      return exposed;
  }
  return true;
}

// REQUIRES: there is one.
Result<KeyPair> key_given(const SecurityOptions& security) {
  if (!security.secret_key_file.empty()) return read_key_file(security.secret_key_file);
  Result<SecretKey> secret = SecretKey::parse(security.secret_key);
  if (!secret) return secret.error();
  return keys_of(*secret);
}

// `missing`: what to say when the file holds no key.
Result<KeyPair> own_keys(const SecurityOptions& security, const std::string& missing) {
  if (security.secret_key_file.empty() && security.secret_key.empty())
    return Error{ErrorCode::kUsage, missing};
  Result<KeyPair> keys = key_given(security);
  if (!keys) return keys.error();
  if (!security.public_key.empty() && security.public_key != keys->public_key.text()) {
    return Error{ErrorCode::kUsage, "security.public_key is " + security.public_key +
                                        ", but the secret key belongs to " + keys->public_key.text() +
                                        ": correct it, or leave it out."};
  }
  return keys;
}

constexpr const char* kTrusted = ", or say security = \"none\" on a network that you trust.";

}  // namespace

Result<MasterSecurity> master_security(const config::RunFile& file) {
  const config::ClusterOptions& cluster = file.options.cluster;
  const bool exposed = requires_encryption(config::to_string(cluster.listen)) ||
                       (cluster.advertise && requires_encryption(config::to_string(*cluster.advertise)));
  MasterSecurity result;
  if (!wanted(file.security, exposed)) return result;
  Result<KeyPair> keys = own_keys(
      file.security,
      std::string(exposed ? "The Master can be reached from other machines"
                          : "The run file has a [security] table") +
          ", so connections are encrypted and need a key: run `convoy keygen master.key` and add to the run "
          "file security = { secret_key_file = \"master.key\", allowed_keys_file = \"allowed.txt\" }" +
          kTrusted);
  if (!keys) return keys.error();
  result.keys = std::move(*keys);
  for (const std::string& text : file.security.allowed_keys) {
    Result<PublicKey> key = PublicKey::parse(text);
    if (!key) return Error{ErrorCode::kUsage, "security.allowed_keys: " + key.error().message};
    result.allowed.push_back(std::move(*key));
  }
  result.allowed_keys_file = file.security.allowed_keys_file;
  return result;
}

Result<NodeSecurity> node_security(const config::NodeOptions& options) {
  NodeSecurity result;
  const bool far = requires_encryption(config::to_string(options.master));
  // A P-slave listens as well.
  const bool exposed = options.p_slave && !options.advertise.empty() &&
                       requires_encryption(config::to_string({options.advertise, options.port}));
  if (!wanted(options.security, far || exposed)) return result;
  const std::string what = far       ? "node.master is not on this machine"
                           : exposed ? "node.advertise can be reached from other machines"
                                     : "The node file has a [security] table";
  const std::string advice =
      ", so connections are encrypted and need keys: `convoy invite` on the Master's machine writes a node "
      "file with them";
  if (options.security.server_key.empty()) {
    return Error{ErrorCode::kUsage,
                 what + advice + " (security.server_key, the Master's key, is missing)" + kTrusted};
  }
  Result<KeyPair> keys = own_keys(
      options.security, what + advice + " (security.secret_key, this node's own, is missing)" + kTrusted);
  if (!keys) return keys.error();
  result.keys = std::move(*keys);
  result.master_key = options.security.server_key;
  return result;
}

}  // namespace convoy
