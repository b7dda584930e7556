// The file runs/<name>/address: how `convoy status` on the Master's machine reaches a Master that runs, keys
// included when connections are encrypted. Readable by its owner alone then.
//
// Values and free functions; any thread.
#pragma once

#include <optional>
#include <string>

#include "messages/base/result.h"
#include "node/security/keys.h"

namespace convoy {

struct WatchAddress {
  std::string address;  // "host:port"
  std::string master_key;
  std::optional<KeyPair> keys;  // the watcher's own; none: not encrypted
};

Result<void> write_watch_file(const std::string& path, const WatchAddress& where);
std::optional<WatchAddress> read_watch_file(const std::string& path);

}  // namespace convoy
