// Reads run files, and writes options back as the text that travels to nodes.
//
// Free functions on values; any thread. Every error of a file is reported at once, one a line, as
// `file:line:column: key: what is wrong; what is allowed` (code kUsage).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/run_options.h"
#include "messages/base/result.h"

namespace convoy::config {

// What changes a file from the command line. `set` holds texts "key=value", applied in order; errors there
// name the
// --set. `workers` and `servers` replace [[local.*]] by so many default entries.
struct Overrides {
  std::vector<std::string> set;
  std::optional<int> workers;
  std::optional<int> servers;
};

// Whether keys that are understood but not carried out yet (see config/supported.h) are errors.
enum class Unsupported { kRefused, kAccepted };

struct RunFile {
  RunOptions options;
  SecurityOptions security;  // stays on this machine

  friend bool operator==(const RunFile&, const RunFile&) = default;
};

// Also reads the model file that it names.
Result<RunFile> read_run_file(const std::string& path, const Overrides& overrides = {},
                              Unsupported unsupported = Unsupported::kRefused);

// The same of a text; `name` stands for the file in messages, and its stem is the default of run.name.
Result<RunFile> parse_run_file(std::string_view text, const std::string& name,
                               const Overrides& overrides = {},
                               Unsupported unsupported = Unsupported::kAccepted);

// Canonical text with every key: parse_run_file(serialise(x)) gives x. Holds no secrets.
std::string serialise(const RunOptions& options);

}  // namespace convoy::config
