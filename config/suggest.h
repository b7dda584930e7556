// "Did you mean": the known key that somebody who typed another one most likely wanted. Pure; internal to
// config/.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace convoy::config::detail {

// By edit distance of the whole key; then the same last part in another table; then names that other programs
// use.
std::optional<std::string> closest_key(std::string_view typed, const std::set<std::string>& known);

}  // namespace convoy::config::detail
