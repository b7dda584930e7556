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

Result<KeyPair> own_keys(const SecurityOptions& security, const char* what) {
  if (!security.secret_key_file.empty()) return read_key_file(security.secret_key_file);
  if (security.secret_key.empty()) {
    return Error{ErrorCode::kUsage,
                 std::string(what) +
                     " is not on this machine alone, so connections are encrypted and need keys: run `convoy "
                     "keygen` and set security.secret_key_file, or say security = \"none\" on a network that "
                     "you trust."};
  }
  Result<SecretKey> secret = SecretKey::parse(security.secret_key);
  if (!secret) return secret.error();
  return keys_of(*secret);
}

}  // namespace

Result<MasterSecurity> master_security(const config::RunFile& file) {
  const config::ClusterOptions& cluster = file.options.cluster;
  const bool exposed = requires_encryption(config::to_string(cluster.listen)) ||
                       (cluster.advertise && requires_encryption(config::to_string(*cluster.advertise)));
  MasterSecurity result;
  if (!wanted(file.security, exposed)) return result;
  Result<KeyPair> keys = own_keys(file.security, "cluster.listen");
  if (!keys) return keys.error();
  result.keys = std::move(*keys);
  for (const std::string& text : file.security.allowed_keys) {
    Result<PublicKey> key = PublicKey::parse(text);
    if (!key) return Error{ErrorCode::kUsage, "security.allowed_keys: " + key.error().message};
    result.allowed.push_back(std::move(*key));
  }
  if (!file.security.allowed_keys_file.empty()) {
    Result<std::vector<PublicKey>> more = read_allowed_keys(file.security.allowed_keys_file);
    if (!more) return more.error();
    result.allowed.insert(result.allowed.end(), more->begin(), more->end());
  }
  return result;
}

Result<NodeSecurity> node_security(const config::NodeOptions& options) {
  NodeSecurity result;
  if (!wanted(options.security, requires_encryption(config::to_string(options.master)))) return result;
  if (options.security.server_key.empty()) {
    return Error{
        ErrorCode::kUsage,
        "node.master is not on this machine, so the connection is encrypted and needs the Master's public "
        "key: set security.server_key (`convoy invite` on the Master's machine writes a ready file), or say "
        "security = \"none\" on a network that you trust."};
  }
  Result<KeyPair> keys = own_keys(options.security, "node.master");
  if (!keys) return keys.error();
  result.keys = std::move(*keys);
  result.master_key = options.security.server_key;
  return result;
}

}  // namespace convoy
