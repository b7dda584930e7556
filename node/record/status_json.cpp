#include "node/record/status_json.h"

#include <sstream>

#include "node/record/json_text.h"
#include "node/record/render.h"
#include "node/record/text.h"

namespace convoy::record {
namespace {

std::string view_text(View view) {
  std::ostringstream out;
  out << view;
  return out.str();
}

View parse_view(const std::string& text) {
  View view;
  char v = 0;
  char dot = 0;
  std::istringstream in(text);
  if (!(in >> v >> view.term >> dot >> view.attempt)) return {};
  return view;
}

template <class T>
std::optional<T> optional_of(const Json& json) {
  return json.is_null() ? std::optional<T>() : std::optional<T>(json.get<T>());
}

// Throws what nlohmann throws when the JSON is another one.
std::string text_of(const Json& json) {
  RunTitle title;
  title.name = json.at("name").get<std::string>();
  title.model = json.at("model").get<std::string>();
  title.data = json.at("data").get<std::string>();
  title.mode = json.at("mode").get<std::string>();
  title.bound = optional_of<std::int64_t>(json.at("bound"));
  title.batch = json.at("batch").get<std::int64_t>();
  title.address = json.at("address").get<std::string>();
  MasterStatus status;
  status.view = parse_view(json.at("view").get<std::string>());
  status.started = json.at("started").get<bool>();
  status.ended = json.at("ended").get<bool>();
  status.c_min = Clock(json.at("clock").get<std::int64_t>());
  status.samples = json.at("samples").get<std::int64_t>();
  status.end = json.at("end").get<std::int64_t>();
  status.sample_count = json.at("sample_count").get<std::int64_t>();
  RunMetrics metrics;
  metrics.started = status.started;
  metrics.samples = status.samples;
  metrics.c_min = status.c_min;
  metrics.elapsed_s = json.at("elapsed_s").get<double>();
  metrics.samples_per_s = json.at("samples_per_s").get<double>();
  metrics.remaining_s = optional_of<double>(json.at("remaining_s"));
  metrics.loss = optional_of<double>(json.at("loss"));
  if (!json.at("test_accuracy").is_null()) {
    metrics.last_evaluation = RunMetrics::Evaluation{};
    metrics.last_evaluation->accuracy = json.at("test_accuracy").get<double>();
    metrics.last_evaluation->epoch = json.at("test_epoch").get<double>();
  }
  for (const Json& m : json.at("members")) {
    MasterStatus::Member member;
    member.key.id = MemberId(m.at("id").get<std::uint32_t>());
    member.name = m.at("name").get<std::string>();
    member.host = m.at("host").get<std::string>();
    member.device = m.at("device").get<std::string>();
    const auto state = m.at("state").get<std::string>();
    member.in_view = state == "member";
    member.stand_by = state == "stand_by";
    member.clock = Clock(m.at("clock").get<std::int64_t>());
    member.batch = m.at("batch").get<std::int64_t>();
    member.samples = m.at("samples").get<std::int64_t>();
    member.silent_for = from_seconds(m.at("silent_s").get<double>());
    RunMetrics::Member& shown = metrics.members[member.key.id];
    shown.clock = member.clock;
    shown.gap = m.at("gap").get<std::int64_t>();
    shown.wait_share = m.at("wait_share").get<double>();
    shown.samples_per_s = m.at("samples_per_s").get<double>();
    status.members.push_back(std::move(member));
  }
  for (const Json& p : json.at("p_slaves")) {
    MasterStatus::Server server;
    server.id = ServerId(p.at("id").get<std::uint32_t>());
    server.name = p.at("name").get<std::string>();
    server.host = p.at("host").get<std::string>();
    server.address = p.at("address").get<std::string>();
    server.in_view = p.at("in_view").get<bool>();
    server.silent_for = from_seconds(p.at("silent_s").get<double>());
    status.servers.push_back(std::move(server));
  }
  for (const Json& a : json.at("awaited")) status.awaited.push_back(a.get<std::string>());
  std::string text;
  for (const std::string& line :
       render_table(title, status, metrics, json.at("waiting_s").get<double>(), {.width = 110})) {
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string status_json(const RunTitle& title, const MasterStatus& status, const RunMetrics& metrics,
                        double waiting_s) {
  Json json;
  json["name"] = title.name;
  json["model"] = title.model;
  json["data"] = title.data;
  json["mode"] = title.mode;
  json["bound"] = or_null(title.bound);
  json["batch"] = title.batch;
  json["address"] = title.address;
  json["started"] = status.started;
  json["ended"] = status.ended;
  json["view"] = view_text(status.view);
  json["clock"] = std::max(status.c_min, metrics.c_min).value;
  json["samples"] = std::max(status.samples, metrics.samples);
  json["sample_count"] = status.sample_count;
  json["end"] = status.end;
  json["epoch"] = rounded(static_cast<double>(std::max(status.samples, metrics.samples)) /
                          static_cast<double>(std::max<std::int64_t>(status.sample_count, 1)));
  json["elapsed_s"] = rounded(metrics.elapsed_s, 1e-3);
  json["remaining_s"] = metrics.remaining_s ? Json(rounded(*metrics.remaining_s, 1e-3)) : Json(nullptr);
  json["waiting_s"] = rounded(waiting_s, 1e-3);
  json["samples_per_s"] = rounded(metrics.samples_per_s, 1e-3);
  json["loss"] = metrics.loss && std::isfinite(*metrics.loss) ? Json(*metrics.loss) : Json(nullptr);
  json["test_accuracy"] = metrics.last_evaluation ? Json(metrics.last_evaluation->accuracy) : Json(nullptr);
  json["test_epoch"] = metrics.last_evaluation ? Json(metrics.last_evaluation->epoch) : Json(nullptr);
  json["view_changes"] = metrics.view_changes;
  json["violations"] = metrics.violations;
  json["members"] = Json::array();
  for (const MasterStatus::Member& m : status.members) {
    const auto at = metrics.members.find(m.key.id);
    const RunMetrics::Member shown = at == metrics.members.end() ? RunMetrics::Member{} : at->second;
    json["members"].push_back({{"id", m.key.id.value},
                               {"name", m.name},
                               {"host", m.host},
                               {"device", m.device},
                               {"state", m.in_view    ? "member"
                                         : m.stand_by ? "stand_by"
                                                      : "joining"},
                               {"clock", std::max(m.clock, shown.clock).value},
                               {"batch", m.batch},
                               {"gap", shown.gap},
                               {"wait_share", rounded(shown.wait_share, 1e-4)},
                               {"samples", m.samples},
                               {"samples_per_s", rounded(shown.samples_per_s, 1e-3)},
                               {"busy_s", rounded(seconds(m.busy))},
                               {"wait_s", rounded(seconds(m.waiting))},
                               {"silent_s", rounded(seconds(m.silent_for), 1e-3)}});
  }
  json["p_slaves"] = Json::array();
  for (const MasterStatus::Server& p : status.servers) {
    json["p_slaves"].push_back({{"id", p.id.value},
                                {"name", p.name},
                                {"host", p.host},
                                {"address", p.address},
                                {"in_view", p.in_view},
                                {"silent_s", rounded(seconds(p.silent_for), 1e-3)}});
  }
  json["awaited"] = status.awaited;
  return dump(json);
}

Result<std::string> status_text(std::string_view json) {
  const Json parsed = Json::parse(json, nullptr, false);
  if (parsed.is_discarded()) return Error{ErrorCode::kCorrupt, "the Master's answer is no JSON"};
  try {
    return text_of(parsed);
  } catch (const Json::exception& e) {
    return Error{ErrorCode::kCorrupt, std::string("the Master's answer is no status: ") + e.what()};
  }
}

}  // namespace convoy::record
