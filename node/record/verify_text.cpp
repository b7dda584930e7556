// What `convoy verify` says, for people and for scripts.
#include "node/record/json_text.h"
#include "node/record/text.h"
#include "node/record/verify.h"

namespace convoy::record {

std::string verify_json(const VerifyReport& report) {
  Json json;
  json["ok"] = report.ok;
  json["sample_count"] = report.sample_count;
  json["end"] = report.end_position;
  json["epochs"] = Json::array();
  for (const VerifyReport::Epoch& e : report.epochs) {
    json["epochs"].push_back({{"epoch", e.epoch},
                              {"samples", e.samples},
                              {"lost", e.lost},
                              {"duplicated", e.duplicated},
                              {"digest_ok", e.digest_ok}});
  }
  json["p_slaves"] = Json::array();
  for (const VerifyReport::Server& s : report.servers) {
    const Tenure& t = s.tenure;
    json["p_slaves"].push_back(
        {{"id", s.key.id.value},
         {"life", s.key.incarnation.value},
         {"from", t.end == Tenure::End::kNever ? Json(nullptr) : Json(in_words(t.from))},
         {"until", t.until ? Json(in_words(*t.until)) : Json(nullptr)},
         {"end", to_string(t.end)},
         {"entries", s.entries},
         {"samples", s.samples},
         {"missing", s.missing},
         {"foreign", s.foreign}});
  }
  json["voided"] = report.voided;
  json["problems"] = report.problems;
  return dump(json);
}

std::string verify_text(const VerifyReport& report) {
  std::string text;
  for (const VerifyReport::Epoch& e : report.epochs) {
    text += "epoch " + std::to_string(e.epoch) + ": " + grouped(e.samples) + " samples, " + grouped(e.lost) +
            " lost, " + grouped(e.duplicated) + " duplicated, digests " + (e.digest_ok ? "right" : "WRONG") +
            "\n";
  }
  for (const VerifyReport::Server& s : report.servers) {
    text += in_words(s.key) + ": " + describe(s.tenure) + "; its log tells of " + grouped(s.entries) +
            (s.entries == 1 ? " update" : " updates") + ", " + grouped(s.samples) + " samples\n";
  }
  if (report.voided > 0) text += grouped(report.voided) + " updates were undone by roll-backs\n";
  for (const std::string& problem : report.problems) text += "problem: " + problem + "\n";
  const std::size_t logs = report.servers.size();
  if (report.ok) {
    text += "ok: every position was trained exactly once, with the data set's samples; " +
            (logs == 1 ? "one P-slave's log says so\n"
                       : "the logs of " + std::to_string(logs) + " lives of P-slaves agree\n");
  } else {
    text += "NOT ok\n";
  }
  return text;
}

}  // namespace convoy::record
