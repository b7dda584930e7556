#include "node/record/summary.h"

#include "node/record/json_text.h"

namespace convoy::record {

std::string to_json(const Summary& s) {
  Json json;
  json["name"] = s.title.name;
  json["run"] = std::to_string(s.run.value);
  json["build"] = s.build_id;
  json["started_at"] = s.started_at;
  json["finished"] = s.finished;
  json["reason"] = s.reason;
  json["model"] = s.title.model;
  json["data"] = s.title.data;
  json["mode"] = s.title.mode;
  json["bound"] = or_null(s.title.bound);
  json["batch"] = s.title.batch;
  json["epochs"] = rounded(s.epochs);
  json["clocks"] = s.clocks.value;
  json["samples"] = s.samples;
  json["wall_s"] = rounded(s.wall_s);
  json["samples_per_s"] = s.wall_s > 0 ? rounded(static_cast<double>(s.samples) / s.wall_s, 1e-3) : 0.0;
  json["train_loss"] = or_null(s.train_loss);
  json["test_accuracy"] = s.evaluation ? Json(s.evaluation->accuracy) : Json(nullptr);
  json["test_loss"] = s.evaluation ? Json(s.evaluation->loss) : Json(nullptr);
  json["best_accuracy"] = or_null(s.best_accuracy);
  json["target_accuracy"] = or_null(s.title.target_accuracy);
  json["time_to_target_s"] = or_null(s.time_to_target_s);
  json["staleness_histogram"] = s.histograms.staleness;
  json["delay_histogram"] = s.histograms.delay;
  json["samples_lost"] = or_null(s.samples_lost);
  json["samples_duplicated"] = s.samples_duplicated;
  json["view_changes"] = s.view_changes;
  json["violations"] = s.violations;
  json["faults_injected"] = s.faults_injected;
  json["recoveries"] = Json::array();
  for (const Recovery& r : s.recoveries) {
    json["recoveries"].push_back(
        {{"what", r.what}, {"detect_s", rounded(r.detect_s)}, {"stall_s", rounded(r.stall_s)}});
  }
  json["goodput"] = or_null(s.goodput);
  json["full_samples_per_s"] = or_null(s.full_samples_per_s);
  json["members"] = Json::array();
  for (const SummaryMember& m : s.members) {
    json["members"].push_back({{"id", m.id.value},
                               {"name", m.name},
                               {"host", m.host},
                               {"device", m.device},
                               {"samples", m.samples},
                               {"clocks", m.clocks},
                               {"busy_s", rounded(m.busy_s)},
                               {"wait_s", rounded(m.wait_s)},
                               {"batch", m.batch}});
  }
  return dump(json, 2) + "\n";
}

}  // namespace convoy::record
