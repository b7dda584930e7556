// From the [security] tables of files to what the transports need: when to encrypt, with which keys.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/node_options.h"
#include "config/run_file.h"
#include "messages/base/result.h"
#include "node/security/keys.h"

namespace convoy {

struct MasterSecurity {
  std::optional<KeyPair> keys;     // none: not encrypted
  std::vector<PublicKey> allowed;  // by the run file itself
  std::string allowed_keys_file;   // more of them (KeyList); empty: none
};

// Encryption is on when the file has keys, or must have them because an address is not loopback.
Result<MasterSecurity> master_security(const config::RunFile& file);

struct NodeSecurity {
  std::optional<KeyPair> keys;  // none: not encrypted
  std::string master_key;
};

Result<NodeSecurity> node_security(const config::NodeOptions& options);

}  // namespace convoy
