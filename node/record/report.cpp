#include "node/record/report.h"

#include <algorithm>
#include <vector>

#include "node/record/json_text.h"
#include "node/record/text.h"

namespace convoy::record {
namespace {

struct Spread {
  explicit Spread(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    median = values[values.size() / 2];
    most = values.back();
  }
  std::string text() const {
    return duration_text(median) + " (median), " + duration_text(most) + " at most";
  }
  double median = 0;
  double most = 0;
};

// Throws what nlohmann throws when the JSON is another one.
std::string text_of(const Json& json) {
  const Json& recoveries = json.at("recoveries");
  const auto faults = json.at("faults_injected").get<std::int64_t>();
  if (faults == 0 && recoveries.empty()) return "";
  std::string text;
  std::vector<double> detections;
  std::vector<double> stalls;
  for (const Json& r : recoveries) {
    detections.push_back(r.at("detect_s").get<double>());
    stalls.push_back(r.at("stall_s").get<double>());
    text += "  " + r.at("what").get<std::string>() + ": noticed after " + duration_text(detections.back()) +
            ", the others paused " + duration_text(stalls.back()) + "\n";
  }
  text += std::to_string(faults) + (faults == 1 ? " fault injected, " : " faults injected, ") +
          std::to_string(recoveries.size()) + (recoveries.size() == 1 ? " node lost" : " nodes lost");
  if (!recoveries.empty()) {
    text += "; noticed after " + Spread(detections).text() + "; the others paused " + Spread(stalls).text();
  }
  if (!json.at("goodput").is_null()) {
    text += "; goodput " + percent(json.at("goodput").get<double>(), 1) + " of " +
            fixed(json.at("full_samples_per_s").get<double>(), 0) + " samples/s undisturbed";
  }
  return text + "\n";
}

}  // namespace

Result<std::string> report_text(std::string_view summary) {
  const Json json = Json::parse(summary, nullptr, false);
  if (json.is_discarded()) return Error{ErrorCode::kCorrupt, "the summary is no JSON"};
  try {
    return text_of(json);
  } catch (const Json::exception& e) {
    return Error{ErrorCode::kCorrupt, std::string("the summary is incomplete: ") + e.what()};
  }
}

}  // namespace convoy::record
