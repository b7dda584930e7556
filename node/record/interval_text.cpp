#include "node/record/interval_text.h"

#include <charconv>
#include <optional>

namespace convoy::record {
namespace {

std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string to_text(const IntervalSet& set) {
  std::string text;
  for (const Interval& i : set.intervals()) {
    if (!text.empty()) text += ',';
    text += std::to_string(i.begin) + '-' + std::to_string(i.end);
  }
  return text;
}

Result<IntervalSet> parse_intervals(std::string_view text) {
  const Error error{ErrorCode::kCorrupt,
                    "\"" + std::string(text.substr(0, 60)) + "\" is no set of positions"};
  IntervalSet set;
  std::int64_t last_end = -1;
  while (!text.empty()) {
    if (last_end >= 0 && !take(text, ',')) return error;
    const auto begin = take_number(text);
    if (!begin || !take(text, '-')) return error;
    const auto end = take_number(text);
    if (!end || *begin <= last_end || *end <= *begin) return error;
    set.insert(Interval{*begin, *end});
    last_end = *end;
  }
  return set;
}

}  // namespace convoy::record
