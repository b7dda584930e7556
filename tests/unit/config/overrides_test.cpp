// --set on top of a file.
#include <boost/test/unit_test.hpp>

#include "config/run_file.h"

namespace convoy::config {
namespace {

const std::string kText =
    "model.name = \"lenet\"\ndata.name = \"mnist\"\nsync.mode = \"dsp\"\n"
    "[[local.w_slave]]\nthreads = 1\n[[local.w_slave]]\nthreads = 2\n";

Overrides set(std::vector<std::string> texts) {
  return {.set = std::move(texts), .workers = {}, .servers = {}};
}

RunOptions read(const Overrides& overrides, const std::string& text = kText) {
  auto file = parse_run_file(text, "run.toml", overrides);
  BOOST_REQUIRE_MESSAGE(file.ok(), (file.ok() ? std::string() : file.error().message));
  return file->options;
}

std::string error_of(const Overrides& overrides, const std::string& text = kText) {
  const auto file = parse_run_file(text, "run.toml", overrides);
  BOOST_REQUIRE(!file.ok());
  return file.error().message;
}

BOOST_AUTO_TEST_CASE(words_need_no_quotes) {
  BOOST_TEST((read(set({"sync.mode=bsp"})).sync.mode == SyncMode::kBsp));
  BOOST_TEST((read(set({"sync.mode=\"bsp\""})).sync.mode == SyncMode::kBsp));
}

BOOST_AUTO_TEST_CASE(numbers_are_text_where_text_is_wanted) {
  BOOST_TEST(read(set({"run.name=007"})).name == "007");
  BOOST_TEST(read(set({"run.name=2024-01-01"})).name == "2024-01-01");
  BOOST_TEST(read(set({"train.lr=1"})).train.lr == 1);
}

BOOST_AUTO_TEST_CASE(inf_and_whole_numbers_bound) {
  BOOST_TEST(!read(set({"sync.bound=inf"})).sync.bound.has_value());
  BOOST_TEST(read(set({"sync.bound=7"})).sync.bound.value() == 7);
}

BOOST_AUTO_TEST_CASE(entries_of_lists_are_reached_by_their_index) {
  const RunOptions o = read(set({"local.w_slave[1].slowdown=4"}));
  BOOST_TEST(o.local.w_slaves.size() == 2u);
  BOOST_TEST(o.local.w_slaves[0].slowdown == 1);
  BOOST_TEST(o.local.w_slaves[1].slowdown == 4);
  BOOST_TEST(o.local.w_slaves[1].threads == 2);
}

BOOST_AUTO_TEST_CASE(the_index_after_the_last_makes_an_entry) {
  const RunOptions o = read(set({"local.w_slave[2].threads=3", "local.p_slave[1].threads=2"}));
  BOOST_TEST(o.local.w_slaves.size() == 3u);
  BOOST_TEST(o.local.w_slaves[2].threads == 3);
  // No list in the file stands for its one default entry.
  BOOST_TEST(o.local.p_slaves.size() == 2u);
  BOOST_TEST(o.local.p_slaves[1].threads == 2);
}

BOOST_AUTO_TEST_CASE(an_index_beyond_that_is_an_error) {
  BOOST_TEST(
      error_of(set({"local.w_slave[5].threads=3"})) ==
      "--set local.w_slave[5].threads=3: local.w_slave has 2 entries, so the next one is local.w_slave[2]");
}

BOOST_AUTO_TEST_CASE(sets_change_what_workers_made) {
  Overrides overrides = set({"local.w_slave[2].slowdown=2"});
  overrides.workers = 3;
  const RunOptions o = read(overrides);
  BOOST_TEST(o.local.w_slaves.size() == 3u);
  BOOST_TEST(o.local.w_slaves[2].slowdown == 2);
  BOOST_TEST(o.local.w_slaves[1].threads == 1);
}

BOOST_AUTO_TEST_CASE(the_last_set_of_a_key_wins) {
  BOOST_TEST(read(set({"train.batch=3", "train.batch=5"})).train.batch == 5);
}

BOOST_AUTO_TEST_CASE(errors_name_the_set_and_not_a_place_in_the_file) {
  BOOST_TEST(error_of(set({"sync.mode=fast"})) ==
             "--set sync.mode=fast: sync.mode: `fast` is not one of them; allowed: bsp, dsp, dynamic, asp");
  BOOST_TEST(error_of(set({"train.batch=many"})) ==
             "--set train.batch=many: train.batch: is text; allowed: a whole number from 1 to 1073741824");
  BOOST_TEST(
      error_of(set({"local.w_slave[0].slowdown=0"})) ==
      "--set local.w_slave[0].slowdown=0: local.w_slave[0].slowdown: 0 is out of range; allowed: a number "
      "from 1 to 1e+06");
  BOOST_TEST(error_of(set({"sync.bond=4"}))
                 .starts_with("--set sync.bond=4: sync.bond: unknown key, did you mean `sync.bound`?"));
}

BOOST_AUTO_TEST_CASE(a_table_that_only_a_set_has_is_that_sets_error) {
  const std::string message = error_of(set({"traim.lr=4"}));
  BOOST_TEST(message.starts_with("--set traim.lr=4: traim: unknown table, did you mean `train`?"), message);
  const std::string list = error_of(set({"local.w_slave=[{thread=2}]"}));
  BOOST_TEST(list.starts_with("--set local.w_slave=[{thread=2}]: local.w_slave[0].thread: unknown key"),
             list);
}

BOOST_AUTO_TEST_CASE(errors_of_file_and_sets_come_together) {
  const std::string both = error_of(set({"train.batch=0"}), kText + "[sink]\n");
  BOOST_TEST(both.starts_with("run.toml:8:2: sink: unknown table"), both);
  BOOST_TEST(both.find("\n--set train.batch=0: train.batch: 0 is out of range") != std::string::npos, both);
}

BOOST_AUTO_TEST_CASE(texts_that_set_nothing_are_errors) {
  for (const char* text :
       {"sync.mode", "=3", "sync..mode=3", "local.w_slave[0]=3", "local.w_slave[x].threads=3", ""}) {
    const std::string message = error_of(set({text}));
    BOOST_TEST(message.starts_with(std::string("--set ") + text + ": not of the form key=value"), message);
  }
  BOOST_TEST(error_of(set({"sync.mode.x=3"})) ==
             "--set sync.mode.x=3: sync.mode is not a table; name one of its entries, as in sync.mode[0]");
}

BOOST_AUTO_TEST_CASE(a_line_break_cannot_smuggle_in_another_key) {
  const std::string message = error_of(set({"run.name=a\n[sync]"}));
  BOOST_TEST(message.find("cannot name a folder") != std::string::npos, message);
}

BOOST_AUTO_TEST_CASE(no_workers_is_an_error) {
  Overrides overrides;
  overrides.workers = 0;
  BOOST_TEST(error_of(overrides).find("local.w_slave: has no entry; allowed: at least one W-slave") !=
             std::string::npos);
}

}  // namespace
}  // namespace convoy::config
