// What `convoy status` prints: made by the Master as JSON, turned into text by who asked.
//
// Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "master/master.h"
#include "messages/base/result.h"
#include "node/record/metrics.h"

namespace convoy::record {

// {view, clock, epoch, members[], p_slaves[], awaited[], ...}: the content of StatusReply.
std::string status_json(const RunTitle& title, const MasterStatus& status, const RunMetrics& metrics,
                        double waiting_s = 0);

// For people. The JSON came from a peer: kCorrupt when it is not what status_json() makes.
Result<std::string> status_text(std::string_view json);

}  // namespace convoy::record
