// What a run file gives: defaults, resolved values, and the way over the wire and back.
#include "config/run_file.h"

#include <boost/test/unit_test.hpp>

namespace convoy::config {
namespace {

constexpr const char* kLeast = "model.name = \"lenet\"\ndata.name = \"mnist\"\n";

RunOptions read(const std::string& text, const Overrides& overrides = {}) {
  auto file = parse_run_file(text, "somewhere/my-run.toml", overrides);
  BOOST_REQUIRE_MESSAGE(file.ok(), (file.ok() ? std::string() : file.error().message));
  return file->options;
}

BOOST_AUTO_TEST_CASE(two_lines_are_enough_and_the_rest_has_defaults) {
  const RunOptions o = read(kLeast);
  BOOST_TEST(o.name == "my-run");
  BOOST_TEST(o.dir == "runs/my-run");
  BOOST_TEST(o.seed == 1u);
  BOOST_TEST(o.data.dir == "data/mnist");
  BOOST_TEST(o.train.batch == 64);
  BOOST_TEST((o.sync.mode == SyncMode::kDsp));
  BOOST_TEST(o.sync.bound.value() == 4);
  BOOST_TEST(!o.sync.pull_ahead.has_value());
  BOOST_TEST((o.sync.partition == Partition::kProportional));
  BOOST_TEST((o.wire.encoding == Encoding::kFp32));
  BOOST_TEST(o.plan.segments.value() == 1);
  BOOST_TEST(to_string(o.cluster.listen) == "127.0.0.1:0");
  BOOST_TEST(o.cluster.failure_timeout_s == 5);
  BOOST_TEST(o.cluster.backups == 1);
  BOOST_TEST(o.cluster.min_w_slaves == 1);
  BOOST_TEST(o.cluster.min_p_slaves == 1);
  BOOST_TEST(o.cluster.lease_ahead_s == 30);
  BOOST_TEST(o.checkpoint.every_s == 60);
  BOOST_TEST(o.checkpoint.keep == 3);
  BOOST_TEST(o.eval.every_epochs == 1);
  BOOST_TEST(o.eval.average == 0);
  BOOST_TEST(o.local.w_slaves.size() == 1u);
  BOOST_TEST(o.local.p_slaves.size() == 1u);
  BOOST_TEST(o.faults.empty());
}

BOOST_AUTO_TEST_CASE(a_mode_without_a_bound_gets_the_bound_of_the_mode) {
  const auto sync = [](const std::string& mode) {
    return read(std::string(kLeast) + "sync.mode = \"" + mode + "\"\n").sync;
  };
  BOOST_TEST(sync("bsp").bound.value() == 0);
  BOOST_TEST((sync("bsp").pull_ahead == false));
  BOOST_TEST(sync("dsp").bound.value() == 4);
  BOOST_TEST(sync("dynamic").bound.value() == 4);
  BOOST_TEST(sync("dynamic").bound_low == 1);
  BOOST_TEST(!sync("asp").bound.has_value());
  BOOST_TEST(!sync("asp").pull_ahead.has_value());
}

BOOST_AUTO_TEST_CASE(inf_means_no_bound_with_and_without_quotes) {
  BOOST_TEST(!read(std::string(kLeast) + "sync.bound = inf\n").sync.bound.has_value());
  BOOST_TEST(!read(std::string(kLeast) + "sync.bound = \"inf\"\n").sync.bound.has_value());
}

BOOST_AUTO_TEST_CASE(a_small_dynamic_bound_takes_the_lower_default_down_with_it) {
  const SyncOptions s = read(std::string(kLeast) + "sync = { mode = \"dynamic\", bound = 0 }\n").sync;
  BOOST_TEST(s.bound_low == 0);
  BOOST_TEST((s.pull_ahead == false));
}

BOOST_AUTO_TEST_CASE(one_cycle_has_a_warm_up_unless_told_otherwise) {
  const auto schedule = [](const std::string& more) {
    return read(std::string(kLeast) + "[train]\nschedule = \"one_cycle\"\n" + more).train.schedule;
  };
  BOOST_TEST(schedule("").warmup == 0.3);
  BOOST_TEST(schedule("").warmup_from == 0.04);
  BOOST_TEST(schedule("warmup = 0.1").warmup == 0.1);
}

BOOST_AUTO_TEST_CASE(epochs_may_be_a_fraction) {
  BOOST_TEST(read(std::string(kLeast) + "train.epochs = 0.125\n").train.epochs == 0.125);
}

BOOST_AUTO_TEST_CASE(workers_and_servers_replace_the_local_tables) {
  const std::string text = std::string(kLeast) + "[[local.w_slave]]\nthreads = 7\n";
  const RunOptions o = read(text, {.set = {}, .workers = 3, .servers = 2});
  BOOST_TEST(o.local.w_slaves.size() == 3u);
  BOOST_TEST((o.local.w_slaves[2] == WSlaveOptions{}));
  BOOST_TEST(o.local.p_slaves.size() == 2u);
}

BOOST_AUTO_TEST_CASE(the_name_of_a_run_is_made_fit_for_a_folder) {
  auto file = parse_run_file(kLeast, "dir/.my run (2).toml");
  BOOST_REQUIRE(file.ok());
  BOOST_TEST(file->options.name == "my-run--2-");
}

BOOST_AUTO_TEST_CASE(options_come_back_from_their_text_unchanged) {
  const std::string text = std::string(kLeast) + R"(
data.mean = 0.5
data.std = 0.25
[run]
name = "all"
dir = "here/there"
seed = 9223372036854775807
[train]
epochs = 2.5
batch = 96
lr = 0.0123456789012345678
momentum = 0.9
nesterov = true
weight_decay = 5e-4
schedule = "step"
warmup = 0.125
warmup_from = 0.25
step_epochs = 0.75
step_factor = 0.3
target_accuracy = 0.99
[eval]
every_epochs = 0.1
average = 0.99
[sync]
mode = "dynamic"
bound = inf
bound_low = 3
partition = "equal"
local_steps = 4
pull_ahead = false
[wire]
encoding = "topk"
[plan]
segments = "auto"
[cluster]
listen = "[::1]:7070"
advertise = "head.example"
failure_timeout_s = 2.5
backups = 0
min_w_slaves = 3
min_p_slaves = 2
lease_ahead_s = 10
[kernels]
record = "a\\b \"c\"\t.txt"
[checkpoint]
every_s = 0
keep = 7
[[local.w_slave]]
device = "cuda:3"
threads = 2
slowdown = 4
memory_mb = 100
[[local.w_slave]]
device = "reference64"
[[local.p_slave]]
threads = 3
[[fault]]
kind = "drop"
target = "w-slave[0] -> master"
every = "1.5s"
probability = 0.25
for_s = 3
seed = 5
[[fault]]
kind = "slow"
target = "any-w-slave"
at = "clock 50"
factor = 3
[[fault]]
kind = "kill"
target = "p-slave[0]"
at = "epoch 0.5"
)";
  const RunOptions full = read(text);
  const auto back = parse_run_file(serialise(full), "elsewhere.toml");
  BOOST_REQUIRE_MESSAGE(back.ok(), (back.ok() ? std::string() : back.error().message));
  BOOST_TEST((back->options == full));
  BOOST_TEST(serialise(back->options) == serialise(full));
}

BOOST_AUTO_TEST_CASE(every_mode_and_schedule_comes_back_from_its_text) {
  for (const char* mode : {"bsp", "dsp", "dynamic", "asp"}) {
    for (const char* schedule : {"constant", "step", "cosine", "linear", "one_cycle"}) {
      const RunOptions o =
          read(kLeast, {.set = {std::string("sync.mode=") + mode, std::string("train.schedule=") + schedule},
                        .workers = {},
                        .servers = {}});
      const auto back = parse_run_file(serialise(o), "elsewhere.toml");
      BOOST_REQUIRE_MESSAGE(back.ok(), (back.ok() ? std::string() : back.error().message));
      BOOST_TEST((back->options == o), mode << " " << schedule);
    }
  }
}

BOOST_AUTO_TEST_CASE(keys_of_the_run_file_never_reach_the_text_for_the_wire) {
  const std::string key(40, 'x');
  const auto file =
      parse_run_file(std::string(kLeast) + "security.secret_key = \"" + key + "\"\n", "run.toml");
  BOOST_REQUIRE(file.ok());
  BOOST_TEST((file->security.mode == SecurityOptions::Mode::kOn));
  BOOST_TEST(file->security.secret_key == key);
  BOOST_TEST(serialise(file->options).find(key) == std::string::npos);
}

BOOST_AUTO_TEST_CASE(sample_files_are_read_as_they_stand) {
  for (const char* name : {"lenet-mnist", "lenet-fashion"}) {
    const auto file = read_run_file(std::string(CONVOY_SOURCE_DIR) + "/config/" + name + ".toml");
    BOOST_REQUIRE_MESSAGE(file.ok(), (file.ok() ? std::string() : file.error().message));
    BOOST_TEST(file->options.name == name);
    BOOST_TEST(file->options.local.w_slaves.size() == 2u);
    BOOST_TEST(file->options.local.p_slaves.size() == 2u);
    BOOST_TEST((file->options.train.schedule.kind == ScheduleKind::kLinear));
  }
}

}  // namespace
}  // namespace convoy::config
