#include "config/run_file.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "config/model_file.h"
#include "config/read_text.h"
#include "config/run_fields.h"
#include "config/suggest.h"
#include "config/supported.h"
#include "config/toml_writer.h"
#include "kernels/graph/zoo.h"

namespace convoy::config {
namespace {

using detail::TomlReader;

// The file's name without folder and .toml, in the letters that a run's name may have.
std::string stem_of(const std::string& name) {
  std::string stem = std::filesystem::path(name).stem().string();
  std::replace_if(
      stem.begin(), stem.end(),
      [](char c) {
        return !detail::is_run_name(std::string{'x', c});
      },
      '-');
  while (stem.starts_with('.')) stem.erase(0, 1);
  return stem.empty() ? "run" : stem.substr(0, 100);
}

void finish_run(TomlReader& r, const std::string& file, RunOptions& o) {
  if (o.name.empty()) o.name = stem_of(file);
  if (!detail::is_run_name(o.name)) {
    r.error("run.name", "`" + o.name + "` cannot name a folder",
            "letters, digits, `.`, `_` and `-`, at most 100, not starting with a dot");
  }
  if (o.dir.empty()) o.dir = "runs/" + o.name;
}

void check_model_name(TomlReader& r, const std::string& name) {
  const std::vector<std::string> names = model_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  std::string what = "`" + name + "` is not known";
  const auto meant = detail::closest_key(name, std::set<std::string>(names.begin(), names.end()));
  if (meant) what += ", did you mean `" + *meant + "`?";
  std::string allowed;
  for (const std::string& n : names) allowed += n + ", ";
  r.error("model.name", what, allowed + "or model.file for layers of your own");
}

void check_definition(TomlReader& r, const ModelOptions& o) {
  const auto graph = make_graph(o);
  if (!graph) r.errors_elsewhere(graph.error().message);
}

void finish_model(TomlReader& r, const std::string& folder, ModelOptions& o) {
  const int ways = int{r.given("model.name")} + int{r.given("model.onnx")} +
                   int{r.given("model.file") || r.given("model.definition")};
  if (ways != 1) {
    r.error("model", ways == 0 ? "no model is named" : "several models are named",
            "one of model.name, model.file, model.onnx");
    return;
  }
  if (!o.name.empty()) return check_model_name(r, o.name);
  if (!o.definition.empty()) return check_definition(r, o);
  if (o.file.empty()) return;
  const std::filesystem::path path = std::filesystem::path(folder) / o.file;
  auto text = detail::read_text(path.string());
  if (text) {
    o.definition = std::move(*text);
    if (o.definition.empty()) r.error("model.file", path.string() + " is empty", "a file of layers");
    if (!o.definition.empty()) check_definition(r, o);
  } else {
    r.error("model.file", text.error().message, "a file of layers, named relative to the run file");
  }
}

void finish_data(TomlReader& r, DataOptions& o) {
  constexpr const char* kNames = "mnist, fashion-mnist; or data.format and data.dir for files of your own";
  if (o.name.empty() && o.dir.empty()) {
    r.error("data", "no data set is named", std::string("data.name = ") + kNames);
  }
  if (!o.name.empty() && o.name != "mnist" && o.name != "fashion-mnist") {
    r.error("data.name", "`" + o.name + "` is not known", kNames);
  }
  if (o.dir.empty()) o.dir = "data/" + o.name;
  if (o.mean.has_value() != o.std.has_value()) {
    r.error(o.mean ? "data.mean" : "data.std", "is there without the other",
            "both data.mean and data.std, or none");
  }
}

void finish_train(TomlReader& r, TrainOptions& o) {
  if (o.nesterov && o.momentum == 0) {
    r.error("train.nesterov", "is true while train.momentum is 0", "nesterov = false, or a momentum above 0");
  }
  ScheduleOptions& s = o.schedule;
  if (s.kind == ScheduleKind::kOneCycle) {
    if (!r.given("train.warmup")) s.warmup = 0.3;
    if (!r.given("train.warmup_from")) s.warmup_from = 0.04;
    if (!r.given("train.final")) s.final = 4e-6;
  }
  const ScheduleOptions defaults;
  const std::string kind = to_string(s.kind);
  const bool falls =
      s.kind == ScheduleKind::kLinear || s.kind == ScheduleKind::kCosine || s.kind == ScheduleKind::kOneCycle;
  if (!falls && s.final != defaults.final) {
    r.error("train.final", "has no meaning with train.schedule = \"" + kind + "\"",
            "linear, cosine, one_cycle use it");
  }
  if (s.kind != ScheduleKind::kStep) {
    if (s.step_epochs != defaults.step_epochs) {
      r.error("train.step_epochs", "has no meaning with train.schedule = \"" + kind + "\"", "step uses it");
    }
    if (s.step_factor != defaults.step_factor) {
      r.error("train.step_factor", "has no meaning with train.schedule = \"" + kind + "\"", "step uses it");
    }
  }
}

void finish_sync(TomlReader& r, SyncOptions& o) {
  const bool bound_given = r.given("sync.bound");
  switch (o.mode) {
    case SyncMode::kBsp:
      if (bound_given && o.bound != 0) {
        r.error("sync.bound", "is " + detail::print_bound(o.bound) + " while sync.mode is bsp",
                "0 or no such line; or sync.mode = \"dsp\"");
      }
      o.bound = 0;
      break;
    case SyncMode::kAsp:
      if (bound_given && o.bound) {
        r.error("sync.bound", "is " + detail::print_bound(o.bound) + " while sync.mode is asp",
                "inf or no such line; or sync.mode = \"dsp\"");
      }
      o.bound.reset();
      break;
    case SyncMode::kDsp:
    case SyncMode::kDynamic:
      break;
  }
  if (o.mode == SyncMode::kDynamic) {
    if (o.bound && o.bound_low > *o.bound) {
      if (r.given("sync.bound_low")) {
        r.error("sync.bound_low",
                "is " + std::to_string(o.bound_low) + ", above sync.bound = " + std::to_string(*o.bound),
                "0 to sync.bound");
      } else {
        o.bound_low = *o.bound;
      }
    }
  } else if (r.given("sync.bound_low")) {
    r.error("sync.bound_low", "has no meaning while sync.mode is " + std::string(to_string(o.mode)),
            "no such line; or sync.mode = \"dynamic\"");
    o.bound_low = SyncOptions{}.bound_low;
  }
  if (o.bound == 0) {
    if (o.pull_ahead == true) {
      r.error("sync.pull_ahead", "is true while the bound is 0", "false; or a sync.bound from 1 on");
    }
    o.pull_ahead = false;
  }
}

void finish_local(TomlReader& r, LocalOptions& o) {
  if (o.w_slaves.empty()) r.error("local.w_slave", "has no entry", "at least one W-slave");
  if (o.p_slaves.empty()) r.error("local.p_slave", "has no entry", "at least one P-slave");
}

// What a fault of this kind can happen to.
void check_target(TomlReader& r, const std::string& path, const FaultTarget& target, const FaultOptions& o,
                  const LocalOptions& local) {
  using Kind = FaultTarget::Kind;
  const std::string kind = to_string(o.kind);
  const bool of_w_slave = target.kind == Kind::kWSlave || target.kind == Kind::kAnyWSlave;
  if (target.kind == Kind::kMaster && (o.kind == FaultKind::kLeave || o.kind == FaultKind::kJoin)) {
    r.error(path, "the Master cannot " + kind, "w-slave[i], p-slave[i], any-w-slave, any-p-slave");
  }
  if (o.kind == FaultKind::kSlow && !of_w_slave) {
    r.error(path, "only what computes can be slow", "w-slave[i], any-w-slave");
  }
  if (o.kind == FaultKind::kDiskFull && target.kind != Kind::kMaster) {
    r.error(path, "only the Master writes", "master");
  }
  if (target.kind != Kind::kWSlave && target.kind != Kind::kPSlave) return;
  const std::size_t count = of_w_slave ? local.w_slaves.size() : local.p_slaves.size();
  if (o.kind == FaultKind::kJoin || static_cast<std::size_t>(target.index) < count) return;
  r.error(path, "there are " + std::to_string(count) + " of that kind, counted from 0",
          "0 to " + std::to_string(count - 1) + " as the index");
}

void finish_fault(TomlReader& r, const std::string& path, const FaultOptions& o, const LocalOptions& local) {
  const auto wrong = [&](const char* key, const std::string& what, const std::string& allowed) {
    r.error(path + key, what, allowed);
  };
  const std::string kind = to_string(o.kind);
  if (!r.given(path + ".kind"))
    wrong(".kind", "is missing", "kill, freeze, slow, leave, join, partition, drop, ...");
  if (!r.given(path + ".target"))
    wrong(".target", "is missing", "master, w-slave[i], any-p-slave, w-slave[0]->master");
  if (o.to && !of_links(o.kind)) {
    wrong(".target", "a link, while " + kind + " happens to a process", "one process");
  } else {
    check_target(r, path + ".target", o.target, o, local);
    if (o.to) check_target(r, path + ".target", *o.to, o, local);
  }
  if (o.at && o.every) wrong(".every", "is there beside `at`", "one of the two");
  if (o.every && o.every->value <= 0) wrong(".every", "is without end", "above 0");
  if (!r.given(path + ".at") && !r.given(path + ".every") && !r.given(path + ".probability")) {
    wrong(".at", "is missing", "at, every or probability, which say when");
  }
  if (o.kind == FaultKind::kSlow && o.factor <= 1) wrong(".factor", "is missing", "a number above 1");
  if (o.kind != FaultKind::kSlow && o.factor != 1)
    wrong(".factor", "has no meaning for " + kind, "slow uses it");
  if (o.kind == FaultKind::kDelay && o.delay_ms <= 0) wrong(".delay_ms", "is missing", "a number above 0");
  if (o.kind != FaultKind::kDelay && o.kind != FaultKind::kReorder && o.delay_ms != 0)
    wrong(".delay_ms", "has no meaning for " + kind, "delay and reorder use it");
  if (o.kind == FaultKind::kJoin && o.for_s != 0) {
    wrong(".for_s", "has no meaning for join", "faults that last, and kill and leave, which it brings back");
  }
}

Result<RunFile> parse(std::string_view text, const std::string& name, const std::string& folder,
                      const Overrides& overrides, Unsupported unsupported) {
  RunFile file;
  RunOptions& o = file.options;
  TomlReader reader(text, name, overrides);
  detail::walk(reader, o);
  detail::read_security(reader, file.security);
  finish_run(reader, name, o);
  finish_model(reader, folder, o.model);
  finish_data(reader, o.data);
  finish_train(reader, o.train);
  finish_sync(reader, o.sync);
  finish_local(reader, o.local);
  for (std::size_t i = 0; i < o.faults.size(); ++i) {
    finish_fault(reader, "fault[" + std::to_string(i) + "]", o.faults[i], o.local);
  }
  if (!o.kernels.record.empty() && !o.kernels.replay.empty()) {
    reader.error("kernels.replay", "is there beside kernels.record", "one of the two");
  }
  if (unsupported == Unsupported::kRefused) {
    for (const UnsupportedKey& key : unsupported_keys(o)) reader.error(key.path, key.what, key.allowed);
  }
  std::string errors = reader.take_errors();
  if (!errors.empty()) return Error{ErrorCode::kUsage, std::move(errors)};
  return file;
}

}  // namespace

Result<RunFile> read_run_file(const std::string& path, const Overrides& overrides, Unsupported unsupported) {
  auto text = detail::read_text(path);
  if (!text) return Error{ErrorCode::kUsage, text.error().message};
  return parse(*text, path, std::filesystem::path(path).parent_path().string(), overrides, unsupported);
}

Result<RunFile> parse_run_file(std::string_view text, const std::string& name, const Overrides& overrides,
                               Unsupported unsupported) {
  return parse(text, name, std::filesystem::path(name).parent_path().string(), overrides, unsupported);
}

std::string serialise(const RunOptions& options) {
  detail::TomlWriter writer;
  RunOptions copy = options;  // a walk takes what it can also fill
  detail::walk(writer, copy);
  return writer.take();
}

}  // namespace convoy::config
