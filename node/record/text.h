// Numbers, times and foreign texts as people read them. Internal to node/record.
//
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "messages/base/ids.h"

namespace convoy::record {

std::string fixed(double value, int digits);
std::string grouped(std::int64_t value);        // 1,234,567
std::string duration_text(double seconds);      // "4.2 s", "1 min 05 s", "2 h 07 min"
std::string percent(double share, int digits);  // "98.91 %"; "-" when it is no number
std::string in_words(View view);                // "v1.4"
std::string in_words(ServerKey server);         // "P-slave 1 (life 2)"
std::string in_words(MemberKey member);         // "member 0 (life 1)"

// Text from a peer, safe on a terminal: control characters and broken UTF-8 become '?'.
std::string printable(std::string_view text);
// Columns that printable text takes on a terminal, wide characters counted twice.
int columns_of(std::string_view text);
// The first characters of printable text that fit.
std::string_view fitting(std::string_view text, int columns);

}  // namespace convoy::record
