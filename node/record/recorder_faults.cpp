// Faults that were injected, and what became of those who suffered them: faults.jsonl.
#include <sstream>

#include "config/run_options.h"
#include "node/record/json_text.h"
#include "node/record/recorder_state.h"

namespace convoy::record {

Result<bool> Recorder::State::on(Time now, const Inject& fault) {
  if (!fault_ids.insert(fault.id).second) return false;
  recoveries.injected(now, fault.target);
  Json line;
  line["t_s"] = rounded(since_lease(now));
  line["fault"] = config::to_string(fault.kind);
  line["target"] = fault.target;
  if (!fault.to.empty()) line["to"] = fault.to;
  if (fault.for_s > 0) line["for_s"] = fault.for_s;
  line["id"] = fault.id;
  if (auto kept = faults_file.append(dump(line)); !kept) return kept.error();
  return true;
}

Result<void> Recorder::State::keep_recoveries(Time now) {
  for (Recovery& r : recoveries.take()) {
    Json line;
    line["t_s"] = rounded(since_lease(now));
    line["what"] = r.what;
    line["detect_s"] = rounded(r.detect_s);
    line["stall_s"] = rounded(r.stall_s);
    recovered.push_back(std::move(r));
    if (auto kept = faults_file.append(dump(line)); !kept) return kept;
  }
  return {};
}

Result<void> Recorder::State::restore_faults() {
  auto text = read_text(paths.faults());
  if (!text) return text.error();
  std::istringstream lines(*text);
  for (std::string text_line; std::getline(lines, text_line);) {
    const Json line = Json::parse(text_line, nullptr, false);
    if (!line.is_object()) continue;
    try {
      if (line.contains("fault")) fault_ids.insert(line.at("id").get<std::uint64_t>());
      if (line.contains("what")) {
        recovered.push_back({line.at("what").get<std::string>(), line.at("detect_s").get<double>(),
                             line.at("stall_s").get<double>()});
      }
    } catch (const Json::exception&) {
      continue;  // cut short
    }
  }
  return {};
}

}  // namespace convoy::record
