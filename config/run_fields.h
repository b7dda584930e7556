// The one list of a run file's keys: what reads it (TomlReader) and what writes it (TomlWriter) take the same
// walk. Ranges of single keys are here; what depends on several keys is in run_file.cpp. Internal to config/.
#pragma once

#include "config/common_fields.h"
#include "config/run_options.h"

namespace convoy::config::detail {

template <class V>
void walk(V& v, ModelOptions& o) {
  v.text("name", o.name);
  v.text("file", o.file);
  v.text("definition", o.definition);
  v.text("onnx", o.onnx);
}

template <class V>
void walk(V& v, DataOptions& o) {
  v.text("name", o.name);
  v.choice("format", o.format);
  v.text("dir", o.dir);
  v.optional_number("mean", o.mean, {.least = -1e6, .most = 1e6});
  v.optional_number("std", o.std, {.least = 0, .most = 1e6, .above_least = true});
}

template <class V>
void walk(V& v, TrainOptions& o) {
  v.number("epochs", o.epochs, {.least = 0, .most = 1e6, .above_least = true});
  v.integer("batch", o.batch, {1, std::int64_t{1} << 30});
  v.number("lr", o.lr, {.least = 0, .most = 1e6, .above_least = true});
  v.number("momentum", o.momentum, {.least = 0, .most = 1, .below_most = true});
  v.boolean("nesterov", o.nesterov);
  v.number("weight_decay", o.weight_decay, {.least = 0, .most = 1e6});
  v.choice("schedule", o.schedule.kind);
  v.number("warmup", o.schedule.warmup, {.least = 0, .most = 1, .below_most = true});
  v.number("warmup_from", o.schedule.warmup_from, {.least = 0, .most = 1});
  v.number("final", o.schedule.final, {.least = 0, .most = 1});
  v.number("step_epochs", o.schedule.step_epochs, {.least = 0, .most = 1e6, .above_least = true});
  v.number("step_factor", o.schedule.step_factor, {.least = 0, .most = 1, .above_least = true});
  v.optional_number("target_accuracy", o.target_accuracy, {.least = 0, .most = 1, .above_least = true});
}

template <class V>
void walk(V& v, EvalOptions& o) {
  v.number("every_epochs", o.every_epochs, {.least = 0, .most = 1e6});
  v.number("average", o.average, {.least = 0, .most = 1, .below_most = true});
}

template <class V>
void walk(V& v, SyncOptions& o) {
  v.choice("mode", o.mode);
  v.form("bound", o.bound, parse_bound, print_bound, "a whole number from 0 on, or inf");
  // Only `dynamic` has a lower bound, and the reader refuses it elsewhere.
  if (v.reading() || o.mode == SyncMode::kDynamic) {
    v.integer("bound_low", o.bound_low, {0, std::int64_t{1} << 31});
  }
  v.choice("partition", o.partition);
  v.integer("local_steps", o.local_steps, {1, 1'000'000});
  v.optional_boolean("pull_ahead", o.pull_ahead);
}

template <class V>
void walk(V& v, ClusterOptions& o) {
  const auto print = [](const Address& a) { return to_string(a); };
  v.form("listen", o.listen, parse_address, print, kAllowedAddress);
  v.optional_form("advertise", o.advertise, parse_address, print, kAllowedAddress);
  v.number("failure_timeout_s", o.failure_timeout_s, {.least = 0.1, .most = 86400});
  v.integer("backups", o.backups, {0, 1});
  v.integer("min_w_slaves", o.min_w_slaves, {1, 1'000'000});
  v.integer("min_p_slaves", o.min_p_slaves, {1, 1'000'000});
  v.number("lease_ahead_s", o.lease_ahead_s, {.least = 0, .most = 86400, .above_least = true});
}

template <class V>
void walk(V& v, FaultOptions& o) {
  v.choice("kind", o.kind);
  FaultTargets targets{o.target, o.to};
  v.form("target", targets, parse_fault_targets, print_fault_targets,
         "master, w-slave[i], p-slave[i], any-w-slave, any-p-slave, or two of them joined by `->`");
  o.target = targets.first;
  o.to = targets.second;
  constexpr const char* kMoment = "\"30s\", \"clock 50\" or \"epoch 1\"";
  v.optional_form("at", o.at, parse_moment, print_moment, kMoment);
  v.optional_form("every", o.every, parse_moment, print_moment, kMoment);
  v.number("for_s", o.for_s, {.least = 0, .most = 1e9});
  v.number("factor", o.factor, {.least = 1, .most = 1e6});
  v.number("probability", o.probability, {.least = 0, .most = 1, .above_least = true});
  v.number("delay_ms", o.delay_ms, {.least = 0, .most = 1e9});
  v.integer("seed", o.seed, {});
}

template <class V>
void walk(V& v, RunOptions& o) {
  v.table("run", [&] {
    v.text("name", o.name);
    v.text("dir", o.dir);
    v.integer("seed", o.seed, {});
  });
  v.table("model", [&] { walk(v, o.model); });
  v.table("data", [&] { walk(v, o.data); });
  v.table("train", [&] { walk(v, o.train); });
  v.table("eval", [&] { walk(v, o.eval); });
  v.table("sync", [&] { walk(v, o.sync); });
  v.table("wire", [&] { v.choice("encoding", o.wire.encoding); });
  v.table("plan", [&] {
    v.form("segments", o.plan.segments, parse_segments, print_segments,
           "a whole number from 1 to 1000, or auto");
  });
  v.table("cluster", [&] { walk(v, o.cluster); });
  v.table("kernels", [&] {
    v.text("record", o.kernels.record);
    v.text("replay", o.kernels.replay);
  });
  v.table("checkpoint", [&] {
    v.number("every_s", o.checkpoint.every_s, {.least = 0, .most = 1e9});
    v.integer("keep", o.checkpoint.keep, {1, 1'000'000});
  });
  v.table("local", [&] {
    v.tables("w_slave", o.local.w_slaves, [&](WSlaveOptions& w) { walk(v, w); });
    v.tables("p_slave", o.local.p_slaves, [&](PSlaveOptions& p) {
      v.integer("threads", p.threads, {1, 1024});
    });
  });
  v.tables("fault", o.faults, [&](FaultOptions& f) { walk(v, f); });
}

}  // namespace convoy::config::detail
