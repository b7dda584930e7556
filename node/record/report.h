// The report of what went wrong in a run and what it cost, from its summary.json.
//
// A pure function; any thread.
#pragma once

#include <string>
#include <string_view>

#include "messages/base/result.h"

namespace convoy::record {

// A line for each loss, then the whole; empty when nothing was injected and nobody was lost. kCorrupt when
// the text is no summary.
Result<std::string> report_text(std::string_view summary);

}  // namespace convoy::record
