// The Recorder and the logs of several P-slaves, of which each covers a part of the run.
#include "tests/unit/record/evidence.h"
#include "tests/unit/record/recorded_run.h"

namespace convoy::record {
namespace {

BOOST_AUTO_TEST_CASE(lost_and_duplicated_samples_are_those_of_all_logs_together) {
  Run run;
  run.begin(0);
  run.log(1, entry(0, 0, 0, 100, kN));
  run.log_of(2, 0, {entry(0, 1, 100, 150, kN)});
  run.log_of(2, 1, {entry(0, 2, 140, 190, kN)});  // another update trained 10 of the same
  const Json s = run.finish(3);
  BOOST_TEST(s["samples_lost"] == 10);
  BOOST_TEST(s["samples_duplicated"] == 10);
  BOOST_TEST(s["samples"] == 200);
}

BOOST_AUTO_TEST_CASE(an_update_that_stands_twice_in_a_log_is_duplicated) {
  Run run;
  run.begin(0);
  for (int times = 0; times < 2; ++times) run.log(1, entry(0, 0, 0, 100, kN));
  BOOST_TEST(run.finish(3)["samples_duplicated"] == 100);
}

BOOST_AUTO_TEST_CASE(p_slaves_that_take_turns_lose_and_repeat_nothing) {
  Run run;
  run.begin(0);
  run.log(1, entry(0, 0, 0, 50, kN, 100));
  // P-slave 0 dies with the end of its log, 2 comes, 0 comes back.
  run.log_of(2, 1, {entry(0, 1, 50, 100, kN, 50)});
  run.log_of(3, 2, {entry(1, 0, 100, 150, kN, 25)});
  run.log_of(4, 1, {entry(1, 0, 100, 150, kN, 25), entry(0, 2, 150, 200, kN, 10)});
  run.log_of(5, 0, {entry(0, 2, 150, 200, kN, 10)}, 2);
  run.log_of(5, 2, {entry(0, 2, 150, 200, kN, 10)});
  const RunMetrics& m = run.recorder->metrics();
  BOOST_TEST(m.samples == 200);
  const Json s = run.finish(6);
  BOOST_TEST(s["samples"] == 200);
  BOOST_TEST(s["samples_lost"] == 0);
  BOOST_TEST(s["samples_duplicated"] == 0);
  BOOST_TEST(s["wall_s"].get<double>() == 4.0);  // the last update that was news
  BOOST_TEST(s["members"][0]["clocks"] == 3);
  BOOST_TEST(s["members"][1]["clocks"] == 1);
  BOOST_TEST(s["train_loss"].get<double>() == 0.2);  // of the last update
  BOOST_TEST(s["staleness_histogram"].get<std::vector<int>>() == std::vector<int>{4},
             boost::test_tools::per_element());
  const CommitLogs logs = require(require(CommitLogStore::open_existing(run.paths.commits())).read_all());
  BOOST_TEST(logs.size() == 4u);
  BOOST_TEST(logs.at({ServerId(0), Incarnation(2)}).size() == 1u);
}

BOOST_AUTO_TEST_CASE(how_p_slaves_ended_is_written_down) {
  Run run;
  run.begin(0);
  const ServerKey lost{ServerId(0), Incarnation(1)};
  const ServerKey left{ServerId(1), Incarnation(2)};
  run.trace(1, TraceLost{"p-slave-0", "its connection broke", 500ms, lost});
  run.trace(2, TraceLost{"p-slave-1", "it left", 10ms, left});
  run.trace(3, TraceLost{"w-slave-0", "it left", 10ms, {}});
  const ServerEnds ends = require(require(CommitLogStore::open_existing(run.paths.commits())).read_ends());
  BOOST_TEST((ends == ServerEnds{{lost, ServerEnd::kLost}, {left, ServerEnd::kLeft}}));
  const Json s = run.finish(4, false, "stopped");
  BOOST_REQUIRE(s["recoveries"].size() == 1u);
  BOOST_TEST(s["recoveries"][0]["what"] == "P-slave p-slave-0 lost: its connection broke");
}

BOOST_AUTO_TEST_CASE(a_master_that_takes_over_counts_on) {
  Run run;
  {
    Journal journal = require(Journal::open(run.paths.journal()));
    require(journal.record_active({view_record(1, 0, {0, 1}), {}, {}}));
    require(journal.record_active({view_record(2, 1, {0, 1}), IntervalSet{{0, 50}}, {}}));
  }
  run.begin(0);
  run.log(1, entry(0, 0, 0, 50, kN));
  run.log_of(2, 0, {entry(0, 1, 50, 100, kN), entry(1, 0, 100, 150, kN)});
  run.open();
  BOOST_TEST(run.recorder->metrics().samples == 150);
  const std::map<ServerKey, std::uint64_t> written{{{ServerId(0), Incarnation(1)}, 3},
                                                   {{ServerId(1), Incarnation(1)}, 1}};
  BOOST_TEST((require(run.recorder->log_entries()) == written));
  run.trace(0.5, TraceActive{view_record(3, 1, {0, 1})});
  run.log_of(1, 1, {entry(0, 1, 50, 100, kN), entry(1, 0, 100, 150, kN)});  // what the other had told before
  BOOST_TEST(run.recorder->metrics().samples == 150);
  run.log(2, entry(0, 2, 150, 200, kN));
  const Json s = run.finish(3);
  BOOST_TEST(s["samples"] == 200);
  BOOST_TEST(s["samples_lost"] == 0);
  BOOST_TEST(s["samples_duplicated"] == 0);
  BOOST_TEST(s["view_changes"] == 2);
  BOOST_TEST(s["members"][0]["samples"] == 150);
  BOOST_TEST(s["members"][0]["clocks"] == 3);
}

BOOST_AUTO_TEST_CASE(times_and_evaluations_go_on_under_a_master_that_takes_over) {
  Run run;
  {
    Journal journal = require(Journal::open(run.paths.journal()));
    require(journal.record_active({view_record(1, 0, {0, 1}), {}, {}}));
  }
  run.begin(10);
  run.log(11, entry(0, 0, 0, 100, kN));
  run.trace(12, TraceEvaluation{SnapshotId(1), 100, 95, 100, 20.0, false});
  require(run.recorder->observe(at(14), run.status));
  std::ofstream(run.paths.metrics(), std::ios::app) << R"({"t_s":99,"clock")";  // killed in the middle
  run.open();
  run.trace(0.5, TraceActive{view_record(2, 1, {0, 1})});
  run.log(1.5, entry(0, 1, 100, 200, kN));
  run.trace(2.5, TraceEvaluation{SnapshotId(2), 200, 93, 100, 20.0, true});
  const Json s = run.finish(3);
  BOOST_TEST(s["wall_s"].get<double>() == 5.0);  // 4 s, then 1 s to the last commit
  BOOST_TEST(s["samples_per_s"].get<double>() == 40.0);
  BOOST_TEST(s["time_to_target_s"].get<double>() == 2.0);
  BOOST_TEST(s["best_accuracy"].get<double>() == 0.95);
  BOOST_TEST(s["test_accuracy"].get<double>() == 0.93);
}

BOOST_AUTO_TEST_CASE(a_master_that_takes_over_counts_nothing_that_was_rolled_back) {
  const Evidence before = rolled_back_run();
  Run run(kEnd);
  {
    Journal journal = require(Journal::open(run.paths.journal()));
    CommitLogStore commits = require(CommitLogStore::open(run.paths.commits()));
    for (std::size_t v = 0; v < 4; ++v) require(journal.record_active(before.views[v]));
    for (const auto& [server, log] : before.logs) require(commits.append(server, log));
  }
  run.open();
  BOOST_TEST(run.recorder->metrics().samples == kEnd);
  const Json s = run.finish(3);
  BOOST_TEST(s["samples_lost"] == 0);
  BOOST_TEST(s["samples_duplicated"] == 0);
}

BOOST_AUTO_TEST_CASE(the_gap_is_the_largest_that_any_p_slave_granted_for_the_last_update) {
  Run run;
  run.begin(0);
  CommitLogEntry e = entry(0, 0, 0, 10, kN);
  e.staleness = 4;
  run.log_of(0.1, 0, {e});
  e = entry(0, 1, 10, 20, kN);
  e.staleness = 1;
  run.log_of(0.2, 0, {e});
  BOOST_TEST(run.gap() == 1);
  e.staleness = 3;  // the other heard less
  run.log_of(0.3, 1, {entry(0, 0, 0, 10, kN), e});
  BOOST_TEST(run.gap() == 3);
  e.staleness = 0;  // a backup grants nothing
  run.log_of(0.4, 2, {e});
  BOOST_TEST(run.gap() == 3);
}

}  // namespace
}  // namespace convoy::record
