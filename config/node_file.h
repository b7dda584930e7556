// Reads node files. Errors as in config/run_file.h. Free functions on values; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/node_options.h"
#include "messages/base/result.h"

namespace convoy::config {

Result<NodeOptions> read_node_file(const std::string& path, const std::vector<std::string>& set = {});
Result<NodeOptions> parse_node_file(std::string_view text, const std::string& name,
                                    const std::vector<std::string>& set = {});

// Text that reads back as the same options, secret key included: what `convoy invite` writes.
std::string serialise(const NodeOptions& options);

}  // namespace convoy::config
