// What all JSON of ours has in common. Internal to node/record.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace convoy::record {

using Json = nlohmann::ordered_json;

// Texts can come from peers: what is not UTF-8 is replaced, never thrown about. Numbers that JSON cannot say
// (NaN, infinity) become null.
inline std::string dump(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// Figures for people and plots: more digits than a clock or a loss has say nothing.
inline double rounded(double value, double unit = 1e-6) {
  return std::isfinite(value) ? std::round(value / unit) * unit : value;
}

}  // namespace convoy::record
