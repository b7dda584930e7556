// Faults and what they cost, as the Recorder tells them.
#include "node/record/journal.h"
#include "node/record/report.h"
#include "tests/unit/record/recorded_run.h"

namespace convoy::record {
namespace {

Inject kill_of(const std::string& target, std::uint64_t id) {
  Inject fault;
  fault.id = id;
  fault.target = target;
  return fault;
}

bool fault(Run& run, double t_s, const Inject& inject) {
  return require(run.recorder->fault(at(t_s), inject));
}

// Another Master goes on with the run.
void take_over(Run& run) {
  {
    Journal journal = require(Journal::open(run.paths.journal()));
    require(journal.record_active({view_record(1, 0, {0, 1}), {}, {}}));
  }
  run.open();
}

// Samples [first, last) by one member, then a window.
void window(Run& run, double t_s, std::int64_t clock, std::int64_t first, std::int64_t last) {
  run.log(t_s - 0.5, entry(0, clock, first, last, kN));
  require(run.recorder->observe(at(t_s), run.status));
}

BOOST_AUTO_TEST_CASE(
    a_loss_is_counted_from_its_injection_and_one_that_nobody_injected_from_its_last_life_sign) {
  Run run;
  run.begin(10);
  run.log(11, entry(0, 0, 0, 50, kN));
  BOOST_TEST(fault(run, 11.0, kill_of("w-slave-1", 7)));
  run.trace(11.25, TraceLost{"w-slave-1", "its connection broke", 400ms});
  run.trace(11.5, TraceActive{view_record(2, 1, {0})});
  run.log(12, entry(0, 1, 50, 100, kN));
  run.trace(13, TraceLost{"w-slave-1", "silent", 1s});
  run.trace(13.5, TraceActive{view_record(3, 1, {0})});
  run.log(14, entry(0, 2, 100, 150, kN));
  const Json s = run.finish(15, false, "stopped");
  BOOST_TEST(s["faults_injected"] == 1);
  BOOST_REQUIRE(s["recoveries"].size() == 2u);
  BOOST_TEST(s["recoveries"][0]["what"] == "W-slave w-slave-1 lost: its connection broke");
  BOOST_TEST(s["recoveries"][0]["detect_s"].get<double>() == 0.25);
  BOOST_TEST(s["recoveries"][0]["stall_s"].get<double>() == 1.0);
  BOOST_TEST(s["recoveries"][1]["detect_s"].get<double>() == 1.0);
  BOOST_TEST(s["recoveries"][1]["stall_s"].get<double>() == 2.0);
}

BOOST_AUTO_TEST_CASE(a_repeated_fault_is_one_and_both_it_and_recoveries_outlive_the_master) {
  Run run;
  run.begin(10);
  run.log(11, entry(0, 0, 0, 50, kN));
  BOOST_TEST(fault(run, 11, kill_of("w-slave-1", 7)));
  BOOST_TEST(!fault(run, 11.1, kill_of("w-slave-1", 7)));
  run.trace(11.2, TraceLost{"w-slave-1", "its connection broke", 200ms});
  run.trace(11.5, TraceActive{view_record(2, 1, {0})});
  run.log(12, entry(0, 1, 50, 100, kN));
  take_over(run);
  BOOST_TEST(!fault(run, 0.5, kill_of("w-slave-1", 7)));
  BOOST_TEST(fault(run, 0.5, kill_of("master", 8)));
  const Json s = run.finish(1, false, "stopped");
  BOOST_TEST(s["faults_injected"] == 2);
  BOOST_TEST(s["recoveries"].size() == 1u);
}

BOOST_AUTO_TEST_CASE(goodput_holds_the_whole_run_against_its_windows_with_everybody) {
  Run run;
  run.begin(10);
  window(run, 11, 0, 0, 50);
  window(run, 12, 1, 50, 100);
  run.trace(12.1, TraceActive{view_record(2, 1, {0})});
  run.status.members[1].in_view = false;
  window(run, 13, 2, 100, 110);  // changed
  window(run, 14, 3, 110, 130);  // not everybody
  run.log(15, entry(0, 4, 130, 150, kN));
  const Json s = run.finish(15.5, false, "stopped");
  BOOST_TEST(s["full_samples_per_s"].get<double>() == 50.0);
  BOOST_TEST(s["wall_s"].get<double>() == 5.0);
  BOOST_TEST(s["goodput"].get<double>() == 150.0 / (5 * 50));
}

BOOST_AUTO_TEST_CASE(a_master_that_takes_over_knows_the_windows_of_the_one_before) {
  Run run;
  run.begin(10);
  window(run, 11, 0, 0, 50);
  window(run, 12, 1, 50, 100);
  take_over(run);
  const Json s = run.finish(1, false, "stopped");
  BOOST_TEST(s["full_samples_per_s"].get<double>() == 50.0);
}

BOOST_AUTO_TEST_CASE(the_report_has_a_line_for_each_loss_and_one_for_the_whole) {
  Run run;
  run.begin(10);
  window(run, 11, 0, 0, 50);
  BOOST_TEST(fault(run, 11, kill_of("w-slave-1", 7)));
  run.trace(11.25, TraceLost{"w-slave-1", "its connection broke", 400ms});
  run.trace(11.5, TraceActive{view_record(2, 1, {0})});
  run.log(12, entry(0, 1, 50, 100, kN));
  const std::string summary = run.finish(15, false, "stopped").dump();
  const std::string expected =
      "  W-slave w-slave-1 lost: its connection broke: noticed after 0.2 s, the others paused 1.5 s\n"
      "1 fault injected, 1 node lost; noticed after 0.2 s (median), 0.2 s at most; the others paused 1.5 s "
      "(median), 1.5 s at most; goodput 100.0 % of 50 samples/s undisturbed\n";
  BOOST_TEST(require(report_text(summary)) == expected);
  BOOST_TEST(run.recorder->report() == expected);
}

BOOST_AUTO_TEST_CASE(a_run_without_trouble_has_no_report_and_what_is_no_summary_is_refused) {
  Run run;
  run.begin(10);
  BOOST_TEST(require(report_text(run.finish(11).dump())).empty());
  BOOST_TEST(!report_text("{").ok());
  BOOST_TEST(!report_text("{}").ok());
}

}  // namespace
}  // namespace convoy::record
