// The text of a whole small file. Internal to config/.
#pragma once

#include <string>

#include "messages/base/result.h"

namespace convoy::config::detail {

// The error names the path and the reason. Refuses folders and files above 16 MiB: no options file is that
// long.
Result<std::string> read_text(const std::string& path);

}  // namespace convoy::config::detail
