// KeyList: the file of public keys that may join. It grows while a Master runs (`convoy invite` adds to it,
// people edit it), so it is looked at again and again and read when it is not what it was.
//
// One thread at a time; changed() may wait for the disk.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <vector>

#include "messages/base/result.h"
#include "node/security/keys.h"

namespace convoy {

class KeyList {
 public:
  explicit KeyList(std::string path) : path_(std::move(path)) {}

  // The keys, if the file is not as the last call found it; the first call always tells. An error is told
  // once as well, with every bad line. A file that is not there holds no keys: nobody was invited yet.
  std::optional<Result<std::vector<PublicKey>>> changed();

  // Adds a line of its own, and makes the file when it is not there.
  static Result<void> add(const std::string& path, const PublicKey& key, const std::string& comment);

 private:
  std::string path_;
  bool looked_ = false;
  bool there_ = false;
  struct stat seen_ {};
};

}  // namespace convoy
