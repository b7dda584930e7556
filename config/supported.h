// What a run file may say that this build understands but does not carry out yet. Every entry goes away with
// the change that carries it out.
//
// A pure function; any thread.
#pragma once

#include <string>
#include <vector>

#include "config/run_options.h"

namespace convoy::config {

struct UnsupportedKey {
  std::string path;  // "wire.encoding"
  std::string what;
  std::string allowed;
};

std::vector<UnsupportedKey> unsupported_keys(const RunOptions& options);

}  // namespace convoy::config
