// Puts `--set key=value` texts into a parsed TOML tree, and remembers which text set what, so that an error
// there can name the --set instead of a place in the file. Internal to config/.
#pragma once

#include <toml++/toml.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace convoy::config::detail {

struct SetText {
  std::string value;  // as typed: what a key that wants text gets, whatever TOML makes of it
  std::string whole;  // "--set key=value"
};

// By path, e.g. "local.w_slave[1].slowdown".
using SetTexts = std::map<std::string, SetText, std::less<>>;

// Changes `root`; appends a message to `errors` for each text that cannot be applied.
SetTexts apply_overrides(toml::table& root, const std::vector<std::string>& set,
                         std::vector<std::string>& errors);

// Node at a path such as "local.w_slave[1].slowdown"; nullptr when there is none.
const toml::node* find_node(const toml::table& root, std::string_view path);

}  // namespace convoy::config::detail
