// Sets of positions as text for databases that people look into: "0-64,128-192", ends exclusive.
//
// Pure functions; any thread. Internal to node/record.
#pragma once

#include <string>
#include <string_view>

#include "messages/base/interval_set.h"
#include "messages/base/result.h"

namespace convoy::record {

std::string to_text(const IntervalSet& set);
// kCorrupt unless `text` is what to_text() makes.
Result<IntervalSet> parse_intervals(std::string_view text);

}  // namespace convoy::record
