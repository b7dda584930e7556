// convoy verify: finds what is wrong with the logs together, and nothing in right ones.
#include "node/record/verify.h"

#include "tests/unit/record/evidence.h"

namespace convoy::record {
namespace {

BOOST_AUTO_TEST_CASE(a_right_run_is_ok_in_every_epoch) {
  const VerifyReport report = verify(steady_run());
  BOOST_TEST(report.ok);
  BOOST_TEST(report.problems.empty());
  BOOST_REQUIRE(report.epochs.size() == 3u);
  const std::int64_t sizes[] = {10, 10, 5};
  for (std::size_t e = 0; e < 3; ++e) {
    BOOST_TEST(report.epochs[e].samples == sizes[e]);
    BOOST_TEST(report.epochs[e].lost == 0);
    BOOST_TEST(report.epochs[e].duplicated == 0);
    BOOST_TEST(report.epochs[e].digest_ok);
  }
}

BOOST_AUTO_TEST_CASE(the_order_of_commits_may_differ_between_p_slaves) {
  Evidence run = steady_run();
  std::reverse(run.logs[life(1)].begin(), run.logs[life(1)].end());
  BOOST_TEST(verify(run).ok);
}

BOOST_AUTO_TEST_CASE(an_update_that_every_log_lacks_is_found) {
  Evidence run = steady_run();
  for (auto& [server, log] : run.logs) log.erase(log.begin() + 2);  // positions 8 to 12
  const VerifyReport report = verify(run);
  BOOST_TEST(report.epochs[0].lost == 2);
  BOOST_TEST(report.epochs[0].samples == 8);
  BOOST_TEST(report.epochs[1].lost == 2);
  BOOST_TEST(report.epochs[2].lost == 0);
  BOOST_TEST(finds(report, "epoch 0 lacks 2 positions, from 8 on"));
}

BOOST_AUTO_TEST_CASE(an_update_that_was_applied_on_one_p_slave_only_is_found) {
  Evidence run = steady_run();
  run.logs[life(1)].erase(run.logs[life(1)].begin() + 3);
  const VerifyReport report = verify(run);
  BOOST_TEST(report.epochs[1].lost == 0);  // it was trained
  BOOST_REQUIRE(report.servers.size() == 2u);
  BOOST_TEST(report.servers[0].missing == 0);
  BOOST_TEST(report.servers[1].missing == 4);
  BOOST_TEST(finds(report,
                   "P-slave 1 (life 1), from v1.1 to the end: its log lacks 4 positions, from 12 on, "
                   "committed while it served (clock 1 of member 1 (life 1))"));
}

BOOST_AUTO_TEST_CASE(an_update_that_stands_twice_is_found) {
  Evidence run = steady_run();
  for (auto& [server, log] : run.logs) log.push_back(log[4]);  // positions 16 to 20
  const VerifyReport report = verify(run);
  BOOST_TEST(report.epochs[0].duplicated == 0);
  BOOST_TEST(report.epochs[1].duplicated == 4);
  BOOST_TEST(report.epochs[1].lost == 0);
  BOOST_TEST(finds(report, "P-slave 0 (life 1): clock 2 of member 0 (life 1) stands twice in its log"));
}

BOOST_AUTO_TEST_CASE(positions_trained_again_under_another_clock_are_found) {
  Evidence run = steady_run();
  for (auto& [server, log] : run.logs) log.push_back(entry(0, 99, 9, 11, kImages));
  const VerifyReport report = verify(run);
  BOOST_TEST(report.epochs[0].duplicated == 1);
  BOOST_TEST(report.epochs[1].duplicated == 1);
  BOOST_TEST(report.epochs[2].duplicated == 0);
  BOOST_TEST(finds(report, "trained what another update trained: 2 positions, from 9 on"));
}

BOOST_AUTO_TEST_CASE(three_times_counts_as_two_duplicates) {
  Evidence run = steady_run();
  run.logs[life(0)].push_back(entry(0, 50, 0, 4, kImages));
  run.logs[life(0)].push_back(entry(0, 51, 0, 4, kImages));
  BOOST_TEST(verify(run).epochs[0].duplicated == 8);
}

BOOST_AUTO_TEST_CASE(the_same_clock_of_another_life_is_another_update) {
  Evidence run = steady_run();
  for (auto& [server, log] : run.logs) {
    log.push_back(log[0]);
    log.back().member.incarnation = Incarnation(2);
  }
  const VerifyReport report = verify(run);
  BOOST_TEST(report.epochs[0].duplicated == 4);
  BOOST_TEST(finds(report, "trained what another update trained"));
}

BOOST_AUTO_TEST_CASE(other_samples_than_the_positions_say_are_found) {
  Evidence run = steady_run();
  for (auto& [server, log] : run.logs) log[5].digest += 1;  // positions 20 to 24
  const VerifyReport report = verify(run);
  BOOST_TEST(report.epochs[0].digest_ok);
  BOOST_TEST(report.epochs[1].digest_ok);
  BOOST_TEST(!report.epochs[2].digest_ok);
  BOOST_TEST(report.epochs[2].lost == 0);
  BOOST_TEST(finds(report, "P-slave 0 (life 1): clock 2 of member 1 (life 1) trained other samples"));
  BOOST_TEST(finds(report, "P-slave 1 (life 1): clock 2 of member 1 (life 1) trained other samples"));
}

BOOST_AUTO_TEST_CASE(a_wrong_digest_over_an_epochs_end_marks_both) {
  Evidence run = steady_run();
  run.logs[life(1)][2].digest = 0;  // positions 8 to 12; the other log is right
  const VerifyReport report = verify(run);
  BOOST_TEST(!report.epochs[0].digest_ok);
  BOOST_TEST(!report.epochs[1].digest_ok);
  BOOST_TEST(report.epochs[2].digest_ok);
  BOOST_TEST(finds(report, "P-slave 1 (life 1): clock 1 of member 0 (life 1) trained other samples"));
}

BOOST_AUTO_TEST_CASE(the_permutation_of_another_seed_or_data_set_is_found) {
  BOOST_TEST(!verify(steady_run(), kImages, kEnd, kSeed + 1).ok);
  BOOST_TEST(!verify(steady_run(), kImages + 1, kEnd, kSeed).ok);
}

BOOST_AUTO_TEST_CASE(logs_that_tell_different_stories_of_an_update_are_found) {
  Evidence run = steady_run();
  // The same positions in the end, but trained by other updates: each log alone looks right.
  auto& log = run.logs[life(1)];
  std::swap(log[0].trained, log[1].trained);
  std::swap(log[0].digest, log[1].digest);
  BOOST_TEST(
      finds(verify(run), "P-slave 0 (life 1) and P-slave 1 (life 1) differ in clock 0 of member 0 (life 1)"));
}

BOOST_AUTO_TEST_CASE(positions_that_one_account_of_an_update_leaves_out_are_not_lost) {
  Evidence run = steady_run();
  run.logs[life(0)][2] = entry(0, 1, 8, 10, kImages);  // the other says 8 to 12
  const VerifyReport report = verify(run);
  BOOST_TEST(report.epochs[1].lost == 0);
  BOOST_TEST(report.servers[0].missing == 2);
  BOOST_TEST(finds(report, "differ in clock 1 of member 0 (life 1)"));
}

BOOST_AUTO_TEST_CASE(positions_beyond_the_end_are_found) {
  Evidence run = steady_run();
  for (auto& [server, log] : run.logs) log.push_back(entry(0, 77, kEnd, kEnd + 2, kImages));
  BOOST_TEST(finds(verify(run), "beyond the end"));
}

BOOST_AUTO_TEST_CASE(an_update_of_no_sample_is_found) {
  Evidence run = steady_run();
  run.logs[life(0)].push_back(entry(0, 9, 4, 4, kImages));
  BOOST_TEST(finds(verify(run), "P-slave 0 (life 1): clock 9 of member 0 (life 1) trained nothing"));
}

BOOST_AUTO_TEST_CASE(no_log_at_all_is_not_ok) {
  Evidence run = steady_run();
  run.logs.clear();
  const VerifyReport report = verify(run);
  BOOST_TEST(finds(report, "no P-slave's log is there"));
  BOOST_REQUIRE(report.epochs.size() == 3u);
  BOOST_TEST(report.epochs[0].lost == 10);
}

BOOST_AUTO_TEST_CASE(many_problems_of_a_kind_are_counted) {
  Evidence run = steady_run();
  for (CommitLogEntry& e : run.logs[life(0)]) e.digest ^= 1;
  run.logs.erase(life(1));
  run.views = {view(1, {life(0)}, 0), view(2, {life(0)}, kEnd)};
  const VerifyReport report = verify(run);
  BOOST_TEST(report.problems.size() == 4u);
  BOOST_TEST(finds(report, "and 4 more: wrong digests"));
}

BOOST_AUTO_TEST_CASE(json_and_text_say_the_same) {
  Evidence run = elastic_run();
  Json json = Json::parse(verify_json(verify(run)));
  BOOST_TEST(json["ok"] == true);
  BOOST_TEST(json["epochs"].size() == 3u);
  BOOST_TEST(json["epochs"][2]["samples"] == 5);
  BOOST_TEST(json["epochs"][2]["digest_ok"] == true);
  BOOST_REQUIRE(json["p_slaves"].size() == 4u);
  BOOST_TEST(json["p_slaves"][0].dump() ==
             R"({"id":0,"life":1,"from":"v1.1","until":"v1.5","end":"left","entries":5,"samples":20,)"
             R"("missing":0,"foreign":0})");
  BOOST_TEST(json["p_slaves"][1]["end"] == "lost");
  BOOST_TEST(json["p_slaves"][2]["life"] == 2);
  BOOST_TEST(json["p_slaves"][3]["end"] == "stayed");
  BOOST_TEST(json["p_slaves"][3]["until"].is_null());
  const std::string text = verify_text(verify(run));
  BOOST_TEST(contains(text,
                      "P-slave 0 (life 1): from v1.1 until it left, with v1.5; its log tells of 5 updates, "
                      "20 samples\n"));
  BOOST_TEST(
      contains(text, "P-slave 1 (life 1): from v1.1 until it was lost, before v1.3; its log tells of 3 "));
  BOOST_TEST(contains(text, "P-slave 1 (life 2): from v1.4 to the end; "));
  BOOST_TEST(contains(text, "the logs of 4 lives of P-slaves agree"));
  for (auto& [server, log] : run.logs) std::erase_if(log, [](const auto& e) { return e.clock == Clock(3); });
  json = Json::parse(verify_json(verify(run)));
  BOOST_TEST(json["ok"] == false);
  BOOST_TEST(json["epochs"][2]["lost"] == 1);
  BOOST_TEST(json["p_slaves"][3]["missing"] == 1);
  BOOST_TEST(contains(verify_text(verify(run)), "NOT ok"));
}

}  // namespace
}  // namespace convoy::record
