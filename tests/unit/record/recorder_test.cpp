// The Recorder: a run told in traces, and what is written of it.
#include <set>

#include "tests/unit/record/recorded_run.h"

namespace convoy::record {
namespace {

// 200 samples by two members, 10 s to 14 s.
void whole_run(Run& run) {
  run.begin(10);
  for (int i = 0; i < 4; ++i) {
    CommitLogEntry e = entry(i % 2, i / 2, i * 50, i * 50 + 50, kN, 50.0 / (i + 1));
    e.staleness = i % 3;
    e.delay = i;
    run.log(11 + i, e);
  }
}

BOOST_AUTO_TEST_CASE(the_summary_holds_everything_by_its_agreed_name) {
  Run run;
  whole_run(run);
  run.trace(14.5, TraceActive{view_record(2, 2, {})});
  run.trace(14.6, TraceEvaluation{SnapshotId(1), 200, 95, 100, 20.0, true});
  run.status.members[0].busy = 3s;
  run.status.members[0].waiting = 1s;
  const Json s = run.finish(15);
  BOOST_TEST(s["mode"] == "dsp");
  BOOST_TEST(s["bound"] == 4);
  BOOST_TEST(s["epochs"] == 2.0);
  BOOST_TEST(s["clocks"] == 2);
  BOOST_TEST(s["samples"] == 200);
  BOOST_TEST(s["wall_s"].get<double>() == 4.0);  // first lease to last commit
  BOOST_TEST(s["samples_per_s"].get<double>() == 50.0);
  BOOST_TEST(s["train_loss"].get<double>() == 0.25);
  BOOST_TEST(s["test_accuracy"].get<double>() == 0.95);
  BOOST_TEST(std::abs(s["time_to_target_s"].get<double>() - 4.6) < 1e-9);
  BOOST_TEST(s["staleness_histogram"].get<std::vector<int>>() == (std::vector<int>{2, 1, 1}),
             boost::test_tools::per_element());
  BOOST_TEST(s["delay_histogram"].get<std::vector<int>>() == (std::vector<int>{1, 1, 1, 1}),
             boost::test_tools::per_element());
  BOOST_TEST(s["samples_lost"] == 0);
  BOOST_TEST(s["samples_duplicated"] == 0);
  BOOST_TEST(s["view_changes"] == 1);
  BOOST_TEST(s["faults_injected"] == 0);
  BOOST_TEST(s["recoveries"].empty());
  BOOST_TEST(s["finished"] == true);
  BOOST_REQUIRE(s["members"].size() == 2u);
  const Json& m = s["members"][0];
  BOOST_TEST(m["id"] == 0);
  BOOST_TEST(m["host"] == "alpha");
  BOOST_TEST(m["device"] == "cpu");
  BOOST_TEST(m["samples"] == 100);
  BOOST_TEST(m["clocks"] == 2);
  BOOST_TEST(m["busy_s"] == 3.0);
  BOOST_TEST(m["wait_s"] == 1.0);
  BOOST_TEST(m["batch"] == 32);
}

BOOST_AUTO_TEST_CASE(a_finished_run_without_a_log_has_lost_everything) {
  Run run;
  run.begin(0);
  BOOST_TEST(run.finish(1)["samples_lost"] == 200);
}

BOOST_AUTO_TEST_CASE(a_run_that_failed_has_a_summary_with_the_reason) {
  Run run;
  run.begin(0);
  run.log(1, entry(0, 0, 0, 50, kN));
  const Json s = run.finish(2, false, "P-slave p-slave-1 is lost");
  BOOST_TEST(s["finished"] == false);
  BOOST_TEST(s["reason"] == "P-slave p-slave-1 is lost");
  BOOST_TEST(s["samples"] == 50);
  BOOST_TEST(s["samples_lost"].is_null());
  BOOST_TEST(s["samples_duplicated"] == 0);
  BOOST_TEST((state_of(run.paths) == RunState::kInterrupted));
}

BOOST_AUTO_TEST_CASE(a_run_that_never_began_has_a_summary_too) {
  Run run;
  const Json s = run.finish(5, false, "stopped by the operator");
  BOOST_TEST(s["samples"] == 0);
  BOOST_TEST(s["wall_s"] == 0.0);
  BOOST_TEST(s["test_accuracy"].is_null());
  BOOST_TEST(s["time_to_target_s"].is_null());
}

BOOST_AUTO_TEST_CASE(no_bound_is_null) {
  TemporaryFolder folder;
  RecorderOptions options;
  options.title.mode = "asp";
  Recorder recorder = require(Recorder::open(RunPaths{folder.path()}, options));
  require(recorder.finish(at(1), {}, false, "x"));
  BOOST_TEST(Json::parse(read_file(folder / "summary.json"))["bound"].is_null());
}

BOOST_AUTO_TEST_CASE(a_window_is_a_line_at_most_once_a_second) {
  Run run;
  require(run.recorder->observe(at(9), run.status));  // before the start: nothing
  run.begin(10);
  run.log(10.4, entry(0, 0, 0, 30, kN, 60));
  run.status.members[0].busy = 500ms;
  run.status.members[0].waiting = 1500ms;
  for (const double t : {10.2, 10.5, 10.9, 11.0, 11.1, 11.5})
    require(run.recorder->observe(at(t), run.status));
  run.log(11.6, entry(1, 0, 30, 50, kN, 30));
  require(run.recorder->observe(at(12.5), run.status));
  const std::vector<Json> lines = read_lines(run.paths.metrics());
  BOOST_REQUIRE(lines.size() == 2u);
  BOOST_TEST(lines[0]["t_s"].get<double>() == 1.0);
  BOOST_TEST(lines[0]["samples"] == 30);
  BOOST_TEST(lines[0]["loss"].get<double>() == 2.0);
  BOOST_TEST(lines[0]["samples_per_s"].get<double>() == 30.0);
  BOOST_TEST(lines[0]["clock"] == 0);
  BOOST_REQUIRE(lines[0]["members"].size() == 2u);
  const Json& m = lines[0]["members"][0];
  BOOST_TEST(m["id"] == 0);
  BOOST_TEST(m["clock"] == 1);
  BOOST_TEST(m["batch"] == 32);
  BOOST_TEST(m["gap"] == 0);
  BOOST_TEST(m["wait_share"].get<double>() == 0.75);
  BOOST_TEST(lines[1]["t_s"].get<double>() == 2.5);
  BOOST_TEST(lines[1]["samples"] == 50);
  BOOST_TEST(lines[1]["clock"] == 1);
  BOOST_TEST(lines[1]["loss"].get<double>() == 1.5);
  BOOST_TEST(std::abs(lines[1]["samples_per_s"].get<double>() - 20 / 1.5) < 1e-3);
  // No life sign came in between: the last share stands.
  BOOST_TEST(lines[1]["members"][0]["wait_share"].get<double>() == 0.75);
}

BOOST_AUTO_TEST_CASE(the_gap_is_that_of_the_last_grant_and_keeps_the_bound) {
  Run run;
  run.begin(0);
  // Three updates ahead and held: granted at most 2 ahead, though 3 are committed.
  for (int c = 0; c < 3; ++c) {
    CommitLogEntry e = entry(0, c, c * 10, c * 10 + 10, kN);
    e.staleness = c;
    run.log(0.1 * c + 0.1, e);
  }
  require(run.recorder->observe(at(1), run.status));
  const Json line = read_lines(run.paths.metrics()).at(0);
  BOOST_TEST(line["clock"] == 0);
  BOOST_TEST(line["members"][0]["clock"] == 3);
  BOOST_TEST(line["members"][0]["gap"] == 2);
  BOOST_TEST(line["members"][1]["gap"] == 0);
}

BOOST_AUTO_TEST_CASE(an_evaluation_is_a_line_of_its_own) {
  Run run;
  run.begin(10);
  run.trace(12, TraceEvaluation{SnapshotId(1), 50, 80, 100, 40.0, false});
  run.trace(13, TraceEvaluation{SnapshotId(2), 100, 92, 100, 20.0, false});
  run.trace(14, TraceEvaluation{SnapshotId(3), 150, 91, 100, 25.0, false});
  const std::vector<Json> lines = read_lines(run.paths.metrics());
  BOOST_REQUIRE(lines.size() == 3u);
  BOOST_TEST(lines[0]["t_s"].get<double>() == 2.0);
  BOOST_TEST(lines[0]["epoch"].get<double>() == 0.5);
  BOOST_TEST(lines[0]["test_accuracy"].get<double>() == 0.8);
  BOOST_TEST(lines[0]["test_loss"].get<double>() == 0.4);
  const Json s = run.finish(15);
  BOOST_TEST(s["time_to_target_s"].get<double>() == 3.0);  // the first that reached 0.9
  BOOST_TEST(s["test_accuracy"].get<double>() == 0.91);    // the last
  BOOST_TEST(s["best_accuracy"].get<double>() == 0.92);
}

BOOST_AUTO_TEST_CASE(a_loss_is_a_recovery_with_its_detection_and_its_stall) {
  Run run;
  run.begin(0);
  run.log(1.0, entry(0, 0, 0, 10, kN));
  run.log(1.5, entry(1, 0, 10, 20, kN));
  // Nobody commits from 1.5 on: member 0 waits for the dead one. Detected at 4, new view at 4.25.
  run.trace(4.0, TraceLost{"w-slave-1", "silent for 2.50 s", 2500ms});
  run.trace(4.25, TraceActive{view_record(2, 1, {0})});
  run.log(4.5, entry(0, 1, 20, 30, kN));
  run.log(5.0, entry(0, 2, 30, 40, kN));
  const Json s = run.finish(6);
  BOOST_REQUIRE(s["recoveries"].size() == 1u);
  BOOST_TEST(s["recoveries"][0]["what"] == "W-slave w-slave-1 lost: silent for 2.50 s");
  BOOST_TEST(s["recoveries"][0]["detect_s"].get<double>() == 2.5);
  BOOST_TEST(s["recoveries"][0]["stall_s"].get<double>() == 3.0);
}

BOOST_AUTO_TEST_CASE(others_that_train_on_do_not_stall) {
  Run run;
  run.begin(0);
  for (int c = 0; c < 20; ++c) {
    if (c == 10) run.trace(2.0, TraceLost{"w-slave-1", "its connection broke", 500ms});
    if (c == 12) run.trace(2.5, TraceActive{view_record(2, 12, {0})});
    run.log(0.25 * c, entry(0, c, c * 5, c * 5 + 5, kN));
  }
  const Json s = run.finish(6);
  BOOST_TEST(s["recoveries"][0]["stall_s"].get<double>() == 0.25);
}

BOOST_AUTO_TEST_CASE(a_stall_before_the_detection_counts_when_commits_came_again) {
  Run run;
  run.begin(0);
  run.log(0.5, entry(0, 0, 0, 10, kN));
  run.log(3.5, entry(0, 1, 10, 20, kN));
  run.trace(4.0, TraceLost{"w-slave-1", "silent for 3.75 s", 3750ms});
  run.trace(4.1, TraceActive{view_record(2, 2, {0})});
  run.log(4.2, entry(0, 2, 20, 30, kN));
  BOOST_TEST(run.finish(5)["recoveries"][0]["stall_s"].get<double>() == 3.0);
}

BOOST_AUTO_TEST_CASE(who_leaves_is_no_loss) {
  Run run;
  run.begin(0);
  run.trace(1, TraceLost{"w-slave-1", "it left", 100ms});
  BOOST_TEST(run.finish(2)["recoveries"].empty());
  BOOST_TEST(contains(read_file(run.paths.log()), "w-slave-1 left"));
}

BOOST_AUTO_TEST_CASE(a_member_keeps_what_it_did_in_earlier_lives) {
  Run run;
  run.begin(0);
  run.log(1, entry(0, 0, 0, 10, kN));
  run.status.members[0].busy = 4s;
  require(run.recorder->observe(at(1), run.status));
  run.status.members[0].key.incarnation = Incarnation(2);
  run.status.members[0].busy = 3s;
  CommitLogEntry e = entry(0, 5, 10, 30, kN);
  e.member.incarnation = Incarnation(2);
  run.log(2, e);
  const Json m = run.finish(3)["members"][0];
  BOOST_TEST(m["busy_s"] == 7.0);
  BOOST_TEST(m["samples"] == 30);
  BOOST_TEST(m["clocks"] == 2);
}

BOOST_AUTO_TEST_CASE(the_log_is_one_line_an_event_whatever_peers_call_themselves) {
  Run run;
  require(run.recorder->note(at(0.25), "listening on 127.0.0.1:7777"));
  run.trace(1, TraceJoined{{MemberId(0), Incarnation(1)}, "evil\x1b[2J\nname"});
  run.trace(2, TraceViolation{"c_min fell"});
  run.trace(3, TraceGrant{});
  const std::string log = read_file(run.paths.log());
  BOOST_TEST(
      log ==
      "[0.250] listening on 127.0.0.1:7777\n[1.000] evil?[2J?name is ready\n[2.000] VIOLATION: c_min fell\n");
  BOOST_TEST(run.finish(4)["violations"] == 1);
}

BOOST_AUTO_TEST_CASE(names_that_are_no_utf8_do_not_break_the_summary) {
  Run run;
  run.status.members[0].name = "\xff\xfe";
  run.status.members[0].host = "caf\xe9";
  const Json s = run.finish(1, false, "bad \x80 reason");
  BOOST_TEST(s["finished"] == false);
}

BOOST_AUTO_TEST_CASE(a_diverged_loss_is_null_and_the_files_stay_json) {
  Run run;
  run.begin(0);
  run.log(0.5, entry(0, 0, 0, 10, kN, std::numeric_limits<double>::infinity()));
  require(run.recorder->observe(at(1), run.status));
  BOOST_TEST(read_lines(run.paths.metrics()).at(0)["loss"].is_null());
  BOOST_TEST(run.finish(2)["train_loss"].is_null());
}

BOOST_AUTO_TEST_CASE(speeds_and_time_left_are_those_of_the_last_windows) {
  Run run(1000);
  run.begin(0);
  for (int i = 0; i < 10; ++i) {
    run.log(i + 0.5, entry(i % 2, i / 2, i * 50, i * 50 + 50, kN, 5));
    require(run.recorder->observe(at(i + 1), run.status));
  }
  const RunMetrics& m = run.recorder->metrics();
  BOOST_TEST(m.samples_per_s == 50.0);
  BOOST_REQUIRE(m.remaining_s.has_value());
  BOOST_TEST(*m.remaining_s == 10.0);
  BOOST_TEST(m.elapsed_s == 10.0);
  BOOST_TEST(m.members.at(MemberId(0)).samples_per_s == 20.0);  // two of its five windows
  BOOST_TEST(m.members.at(MemberId(1)).samples_per_s == 30.0);
  BOOST_TEST(m.c_min == Clock(5));
}

BOOST_AUTO_TEST_CASE(a_folder_that_is_not_there_is_an_error_with_its_path) {
  TemporaryFolder folder;
  const auto recorder = Recorder::open(RunPaths{folder / "gone"}, {});
  BOOST_REQUIRE(!recorder.ok());
  BOOST_TEST(contains(recorder.error().message, folder / "gone"));
}

}  // namespace
}  // namespace convoy::record
