// What a person reads when a run file is wrong. Whole messages: their places and words are the product.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "config/run_file.h"

namespace convoy::config {
namespace {

std::vector<std::string> errors_of(const std::string& text, const Overrides& overrides = {},
                                   Unsupported unsupported = Unsupported::kRefused) {
  const auto file = parse_run_file(text, "run.toml", overrides, unsupported);
  if (file.ok()) return {};
  BOOST_TEST((file.error().code == ErrorCode::kUsage));
  std::vector<std::string> lines;
  std::string line;
  for (const char c : file.error().message + "\n") {
    if (c != '\n') {
      line += c;
      continue;
    }
    lines.push_back(line);
    line.clear();
  }
  return lines;
}

void expect(const std::vector<std::string>& errors, const std::vector<std::string>& expected) {
  BOOST_CHECK_EQUAL_COLLECTIONS(errors.begin(), errors.end(), expected.begin(), expected.end());
}

const std::string kLeast = "model.name = \"lenet\"\ndata.name = \"mnist\"\n";

BOOST_AUTO_TEST_CASE(all_errors_of_a_file_come_at_once_in_its_order) {
  const std::string text = R"([model]
name = "lenet"
[data]
name = 7
[train]
batch = "many"
lr = -0.1
momentum = 1.5
[sync]
mode = "bps"
bound = "four"
)";
  expect(errors_of(text),
         {
             "run.toml:3:1: data: no data set is named; allowed: data.name = mnist, fashion-mnist; or "
             "data.format "
             "and data.dir for files of your own",
             "run.toml:4:8: data.name: is a whole number; allowed: text in quotes",
             "run.toml:6:9: train.batch: is text; allowed: a whole number from 1 to 1073741824",
             "run.toml:7:6: train.lr: -0.1 is out of range; allowed: a number above 0 and up to 1e+06",
             "run.toml:8:12: train.momentum: 1.5 is out of range; allowed: a number from 0 and below 1",
             "run.toml:10:8: sync.mode: `bps` is not one of them, did you mean `bsp`?; allowed: bsp, dsp, "
             "dynamic, "
             "asp",
             "run.toml:11:9: sync.bound: `four` is not understood; allowed: a whole number from 0 on, or inf",
         });
}

BOOST_AUTO_TEST_CASE(unknown_keys_are_errors_that_name_what_was_meant) {
  expect(errors_of(kLeast + "[sync]\nbuond = 4\n[trian]\nlr = 1\n"),
         {
             "run.toml:4:1: sync.buond: unknown key, did you mean `sync.bound`?; allowed: bound, bound_low, "
             "local_steps, mode, partition, pull_ahead",
             "run.toml:5:2: trian: unknown table, did you mean `train`?; allowed: checkpoint, cluster, data, "
             "eval, "
             "fault, kernels, local, model, plan, run, security, sync, train, wire",
         });
}

BOOST_AUTO_TEST_CASE(names_that_other_programs_use_are_understood_in_the_hint) {
  const auto errors = errors_of(kLeast + "train.learning_rate = 1\nbatch = 3\n");
  BOOST_REQUIRE(errors.size() == 2u);
  BOOST_TEST(errors[0].find("did you mean `train.lr`?") != std::string::npos, errors[0]);
  BOOST_TEST(errors[1].find("did you mean `train.batch`?") != std::string::npos, errors[1]);
}

BOOST_AUTO_TEST_CASE(unknown_keys_inside_lists_of_tables_are_found) {
  const auto errors = errors_of(kLeast + "[[local.w_slave]]\n[[local.w_slave]]\nthread = 2\n");
  BOOST_REQUIRE(errors.size() == 1u);
  BOOST_TEST(errors[0].starts_with("run.toml:5:1: local.w_slave[1].thread: unknown key, did you mean "
                                   "`local.w_slave.threads`?"),
             errors[0]);
}

BOOST_AUTO_TEST_CASE(keys_that_contradict_each_other_are_errors) {
  expect(errors_of(kLeast + "[sync]\nmode = \"dynamic\"\nbound = 2\nbound_low = 3\n"),
         {"run.toml:6:13: sync.bound_low: is 3, above sync.bound = 2; allowed: 0 to sync.bound"});
  expect(
      errors_of(kLeast + "sync = { mode = \"bsp\", bound = 2 }\n"),
      {"run.toml:3:32: sync.bound: is 2 while sync.mode is bsp; allowed: 0 or no such line; or sync.mode = "
       "\"dsp\""});
  expect(
      errors_of(kLeast + "sync = { mode = \"asp\", bound = 2 }\n"),
      {"run.toml:3:32: sync.bound: is 2 while sync.mode is asp; allowed: inf or no such line; or sync.mode = "
       "\"dsp\""});
  expect(errors_of(kLeast + "sync.bound_low = 1\n"),
         {"run.toml:3:18: sync.bound_low: has no meaning while sync.mode is dsp; allowed: no such line; or "
          "sync.mode = \"dynamic\""});
  expect(
      errors_of(kLeast + "sync = { bound = 0, pull_ahead = true }\n"),
      {"run.toml:3:34: sync.pull_ahead: is true while the bound is 0; allowed: false; or a sync.bound from 1 "
       "on"});
  expect(errors_of(kLeast + "train.nesterov = true\n"),
         {"run.toml:3:18: train.nesterov: is true while train.momentum is 0; allowed: nesterov = false, or a "
          "momentum above 0"});
  expect(errors_of(kLeast + "train.final = 0.1\n"),
         {"run.toml:3:15: train.final: has no meaning with train.schedule = \"constant\"; allowed: linear, "
          "cosine, "
          "one_cycle use it"});
  expect(
      errors_of(kLeast + "model.onnx = \"x.onnx\"\n", {}, Unsupported::kAccepted),
      {"run.toml:1:1: model: several models are named; allowed: one of model.name, model.file, model.onnx"});
  expect(errors_of(kLeast + "data.mean = 0.1\n"), {"run.toml:3:13: data.mean: is there without the other; "
                                                   "allowed: both data.mean and data.std, or none"});
  expect(errors_of(kLeast + "kernels = { record = \"a\", replay = \"b\" }\n"),
         {"run.toml:3:36: kernels.replay: is there beside kernels.record; allowed: one of the two"});
}

BOOST_AUTO_TEST_CASE(what_is_missing_is_named) {
  expect(errors_of(""),
         {
             "run.toml:1:1: model: no model is named; allowed: one of model.name, model.file, model.onnx",
             "run.toml:1:1: data: no data set is named; allowed: data.name = mnist, fashion-mnist; or "
             "data.format "
             "and data.dir for files of your own",
         });
}

BOOST_AUTO_TEST_CASE(a_file_that_is_no_toml_says_where_it_stops_being_it) {
  const auto errors = errors_of(kLeast + "[train\nlr = 1\n");
  BOOST_REQUIRE(errors.size() == 1u);
  BOOST_TEST(errors[0].starts_with("run.toml:3:7: not TOML: "), errors[0]);
  const auto twice = errors_of(kLeast + "model.name = \"lenet\"\n");
  BOOST_REQUIRE(twice.size() == 1u);
  BOOST_TEST(twice[0].starts_with("run.toml:3:"), twice[0]);
}

BOOST_AUTO_TEST_CASE(tables_values_and_lists_in_each_others_place_are_errors) {
  expect(errors_of(kLeast + "sync = 3\n"),
         {"run.toml:3:8: sync: is a whole number; allowed: a table of keys"});
  expect(errors_of(kLeast + "local.w_slave = 3\n"),
         {"run.toml:3:17: local.w_slave: is a whole number; allowed: a list of tables, [[local.w_slave]]"});
  expect(errors_of(kLeast + "local.w_slave = [3]\n"),
         {"run.toml:3:18: local.w_slave[0]: is a whole number; allowed: a table of keys"});
  expect(errors_of(kLeast + "[local]\nw_slave = []\n"),
         {"run.toml:4:11: local.w_slave: has no entry; allowed: at least one W-slave"});
  expect(errors_of(kLeast + "train.lr = [1]\n"),
         {"run.toml:3:12: train.lr: is a list; allowed: a number above 0 and up to 1e+06"});
  expect(errors_of(kLeast + "train.batch = 1.5\n"),
         {"run.toml:3:15: train.batch: is a number with a fraction; allowed: a whole number from 1 to "
          "1073741824"});
  expect(errors_of(kLeast + "train.nesterov = 1\n"),
         {"run.toml:3:18: train.nesterov: is a whole number; allowed: true or false"});
  expect(errors_of(kLeast + "train.lr = nan\n"),
         {"run.toml:3:12: train.lr: nan is out of range; allowed: a number above 0 and up to 1e+06"});
  expect(errors_of(kLeast + "run.name = \"\"\n"),
         {"run.toml:3:12: run.name: is empty; allowed: some text, or no such line"});
}

BOOST_AUTO_TEST_CASE(names_and_addresses_of_the_outside_are_checked) {
  expect(
      errors_of(kLeast + "run.name = \"../x\"\n"),
      {"run.toml:3:12: run.name: `../x` cannot name a folder; allowed: letters, digits, `.`, `_` and `-`, at "
       "most 100, not starting with a dot"});
  const auto errors = errors_of(kLeast + "cluster.listen = \"*:7070\"\n");
  BOOST_REQUIRE(errors.size() == 1u);
  BOOST_TEST(errors[0].starts_with("run.toml:3:18: cluster.listen: `*:7070` is not understood"), errors[0]);
  const auto data = errors_of("model.name = \"lenet\"\ndata.name = \"cifar\"\n");
  BOOST_REQUIRE(data.size() == 1u);
  BOOST_TEST(data[0].starts_with("run.toml:2:13: data.name: `cifar` is not known; allowed: mnist, "),
             data[0]);
}

BOOST_AUTO_TEST_CASE(faults_that_make_no_sense_are_errors) {
  const std::string good = kLeast + "[[fault]]\nkind = \"kill\"\ntarget = \"w-slave[0]\"\nat = \"30s\"\n";
  expect(errors_of(good), {});
  const auto bad =
      errors_of(kLeast +
                    "[[fault]]\nkind = \"slow\"\ntarget = \"w-slave[0]->master\"\nat = \"soon\"\n"
                    "delay_ms = 3\n",
                {}, Unsupported::kAccepted);
  expect(bad,
         {
             "run.toml:3:1: fault[0].factor: is missing; allowed: a number above 1",
             "run.toml:5:10: fault[0].target: a link, while slow happens to a process; allowed: one process",
             "run.toml:6:6: fault[0].at: `soon` is not understood; allowed: \"30s\", \"clock 50\" or \"epoch "
             "1\"",
             "run.toml:7:12: fault[0].delay_ms: has no meaning for slow; allowed: delay and reorder use it",
         });
  const auto fault = [](const std::string& keys) {
    return errors_of(kLeast + "fault = [{ " + keys + " }]\n");
  };
  expect(fault("kind = \"leave\", target = \"master\", at = \"1s\""),
         {"run.toml:3:37: fault[0].target: the Master cannot leave; allowed: w-slave[i], p-slave[i], "
          "any-w-slave, any-p-slave"});
  expect(fault("kind = \"kill\", target = \"w-slave[1]\", every = \"0s\""),
         {"run.toml:3:36: fault[0].target: there are 1 of that kind, counted from 0; allowed: 0 to 0 as the "
          "index",
          "run.toml:3:58: fault[0].every: is without end; allowed: above 0"});
  expect(fault("kind = \"join\", target = \"w-slave[1]\", at = \"clock 3\""), {});
  expect(
      fault("kind = \"slow\", factor = 2, target = \"any-p-slave\", at = \"1s\""),
      {"run.toml:3:48: fault[0].target: only what computes can be slow; allowed: w-slave[i], any-w-slave"});
  expect(fault("kind = \"disk_full\", target = \"master\", at = \"1s\""),
         {"run.toml:3:19: fault[0].kind: disk_full is not available yet; allowed: the other kinds"});
}

BOOST_AUTO_TEST_CASE(what_is_not_built_yet_is_refused_by_name) {
  const auto errors = errors_of(kLeast + "wire.encoding = \"fp16\"\nplan.segments = \"auto\"\n");
  expect(errors, {
                     "run.toml:3:17: wire.encoding: fp16 is not available yet; allowed: fp32",
                     "run.toml:4:17: plan.segments: auto is not available yet; allowed: 1",
                 });
}

BOOST_AUTO_TEST_CASE(security_is_none_or_keys) {
  expect(
      errors_of(kLeast + "security = \"off\"\n"),
      {"run.toml:3:12: security: `off` is not understood; allowed: \"none\", or a table of keys [security]"});
  expect(errors_of(kLeast + "security = \"none\"\n"), {});
  expect(errors_of(kLeast + "[security]\nserver_key = \"short\"\n"),
         {"run.toml:4:14: security.server_key: is no CURVE key; allowed: 40 characters as `convoy keygen` "
          "prints "
          "them"});
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_read_says_why) {
  const auto absent = read_run_file("/nonexistent/run.toml");
  BOOST_REQUIRE(!absent.ok());
  BOOST_TEST(absent.error().message == "/nonexistent/run.toml: cannot be read: No such file or directory");
  BOOST_TEST((absent.error().code == ErrorCode::kUsage));
  const auto folder = read_run_file("/");
  BOOST_REQUIRE(!folder.ok());
  BOOST_TEST(folder.error().message == "/: cannot be read: Is a directory");
}

}  // namespace
}  // namespace convoy::config
