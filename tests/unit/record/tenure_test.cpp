// P-slaves that come, leave and are lost: what each log must hold.
#include "node/record/tenure.h"

#include "node/record/text.h"
#include "tests/unit/record/evidence.h"

namespace convoy::record {
namespace {

BOOST_AUTO_TEST_CASE(p_slaves_may_come_leave_die_and_come_back) {
  const VerifyReport report = verify(elastic_run());
  BOOST_TEST(report.ok);
  BOOST_TEST(report.problems.empty());
  BOOST_REQUIRE(report.servers.size() == 4u);
  for (const VerifyReport::Epoch& e : report.epochs) BOOST_TEST(e.lost == 0);
}

BOOST_AUTO_TEST_CASE(one_that_was_lost_may_lack_the_end_of_its_log_whatever_its_length) {
  for (std::int64_t told = 0; told <= 4; ++told) {
    Evidence run = elastic_run();
    run.logs[life(1)] = updates(0, told);
    BOOST_TEST(verify(run).ok, told);
  }
}

BOOST_AUTO_TEST_CASE(one_that_was_lost_may_not_lack_what_it_told_later_things_after) {
  Evidence run = elastic_run();
  run.logs[life(1)].erase(run.logs[life(1)].begin() + 1);  // of view 1; it tells of view 2
  BOOST_TEST(finds(verify(run),
                   "P-slave 1 (life 1), from v1.1 until it was lost, before v1.3: its log lacks 4 "
                   "positions, from 4 on"));
}

BOOST_AUTO_TEST_CASE(one_that_was_lost_may_not_leave_out_an_update_and_tell_of_the_members_next) {
  for (const bool in_its_first_view : {true, false}) {
    Evidence run = steady_run();
    run.views = {view(1, {life(0), life(1)}, 0), view(3, {life(0)}, 20), view(4, {life(0)}, kEnd)};
    if (!in_its_first_view) run.views.insert(run.views.begin() + 1, view(2, {life(0), life(1)}, 8));
    run.logs[life(1)] = updates(0, 5);
    BOOST_TEST(verify(run).ok);
    run.logs[life(1)].erase(run.logs[life(1)].begin() + 2);  // of member 0, and it tells of its next
    BOOST_TEST(finds(verify(run),
                     "P-slave 1 (life 1), from v1.1 until it was lost, before v1.3: its log tells of "
                     "later updates and leaves out clock 1 of member 0 (life 1)"));
    run.logs[life(1)].pop_back();
    BOOST_TEST(verify(run).ok);  // the other member's may have come first
  }
}

BOOST_AUTO_TEST_CASE(one_that_left_may_lack_nothing) {
  Evidence run = elastic_run();
  run.logs[life(0)].pop_back();
  BOOST_TEST(finds(verify(run),
                   "P-slave 0 (life 1), from v1.1 until it left, with v1.5: its log lacks 4 positions, "
                   "from 16 on, committed while it served (clock 2 of member 0 (life 1))"));
}

BOOST_AUTO_TEST_CASE(one_that_came_later_may_lack_nothing_since) {
  Evidence run = elastic_run();
  run.logs[life(2)].erase(run.logs[life(2)].begin());
  BOOST_TEST(
      finds(verify(run), "P-slave 2 (life 1), from v1.2 to the end: its log lacks 4 positions, from 8 on"));
}

BOOST_AUTO_TEST_CASE(one_that_came_back_may_lack_nothing_since) {
  Evidence run = elastic_run();
  run.logs[life(1, 2)].pop_back();
  BOOST_TEST(
      finds(verify(run), "P-slave 1 (life 2), from v1.4 to the end: its log lacks 1 position, from 24 on"));
}

BOOST_AUTO_TEST_CASE(nobody_tells_of_what_was_committed_before_it_came) {
  Evidence run = elastic_run();
  run.logs[life(2)].insert(run.logs[life(2)].begin(), updates(1, 2).front());
  const VerifyReport report = verify(run);
  BOOST_TEST(report.servers.back().foreign == 4);
  BOOST_TEST(finds(report,
                   "P-slave 2 (life 1), from v1.2 to the end: its log has 4 positions, from 4 on, which were "
                   "not committed while it served (clock 0 of member 1 (life 1))"));
}

BOOST_AUTO_TEST_CASE(nobody_tells_of_what_was_committed_after_it_went) {
  for (const ServerKey who : {life(0), life(1)}) {
    Evidence run = elastic_run();
    run.logs[life(1)] = updates(0, 4);  // complete
    run.logs[who].push_back(updates(5, 6).front());
    BOOST_TEST(finds(verify(run), in_words(who)));
  }
}

BOOST_AUTO_TEST_CASE(what_only_a_lost_one_applied_is_found) {
  Evidence run = elastic_run();
  // Its positions went to another update in the end.
  run.logs[life(1)].push_back(entry(7, 0, 12, 16, kImages));
  const VerifyReport report = verify(run);
  BOOST_TEST(report.epochs[1].duplicated == 4);
  BOOST_TEST(finds(report, "trained what another update trained: 4 positions, from 12 on"));
}

BOOST_AUTO_TEST_CASE(a_life_must_tell_what_the_others_tell) {
  Evidence run = elastic_run();
  run.logs[life(1, 2)].push_back(updates(2, 3).front());
  run.logs[life(1, 2)].back().trained = IntervalSet{{8, 11}};
  BOOST_TEST(finds(verify(run), "P-slave 0 (life 1) and P-slave 1 (life 2) differ in clock 1 of member 0"));
}

BOOST_AUTO_TEST_CASE(what_one_alone_told_of_is_missed_when_it_is_gone) {
  Evidence run = elastic_run();
  for (const ServerKey who : {life(0), life(2)}) {
    auto& log = run.logs[who];
    std::erase_if(log, [](const CommitLogEntry& e) { return e.trained.contains(12); });
  }
  const VerifyReport report = verify(run);
  BOOST_TEST(report.epochs[1].lost == 4);
  BOOST_TEST(finds(report, "epoch 1 lacks 4 positions, from 12 on"));
}

BOOST_AUTO_TEST_CASE(a_log_of_somebody_who_was_in_no_view_is_found) {
  Evidence run = elastic_run();
  run.logs[life(5)] = updates(0, 1);
  BOOST_TEST(finds(verify(run), "P-slave 5 (life 1), in no view: its log has 4 positions, from 0 on"));
}

BOOST_AUTO_TEST_CASE(one_without_a_copy_has_nothing_to_tell) {
  Evidence run = elastic_run();
  for (Journal::Active& v : run.views)
    std::erase_if(v.record.shards, [](const auto& s) { return s.owner == ServerId(2); });
  BOOST_TEST(
      finds(verify(run), "P-slave 2 (life 1), from v1.2 to the end: its log has 17 positions, from 8 on"));
  run.logs.erase(life(2));
  BOOST_TEST(verify(run).ok);
}

BOOST_AUTO_TEST_CASE(a_backup_tells_like_an_owner) {
  Evidence run = elastic_run();
  for (Journal::Active& v : run.views) {
    std::erase_if(v.record.shards, [](const auto& s) { return s.owner == ServerId(2); });
    if (v.record.find_server(ServerId(2)) != nullptr) v.record.shards.front().backup = ServerId(2);
  }
  BOOST_TEST(verify(run).ok);
  run.logs[life(2)].erase(run.logs[life(2)].begin() + 1);
  BOOST_TEST(
      finds(verify(run), "P-slave 2 (life 1), from v1.2 to the end: its log lacks 4 positions, from 12 on"));
}

BOOST_AUTO_TEST_CASE(one_whose_end_was_not_noted_counts_as_lost) {
  // The Master was killed after the view and before the note; another Master went on.
  Evidence run = elastic_run();
  run.ends.erase(life(0));
  run.logs[life(0)].pop_back();
  BOOST_TEST(verify(run).ok);
  run.logs[life(0)].push_back(updates(5, 6).front());
  BOOST_TEST(
      finds(verify(run), "P-slave 0 (life 1), from v1.1 until it was lost, before v1.5: its log has 4"));
}

BOOST_AUTO_TEST_CASE(one_that_was_lost_when_all_was_trained_may_lack_the_end_of_its_log) {
  Evidence run = elastic_run();
  run.logs[life(2)].pop_back();
  BOOST_TEST(!verify(run).ok);
  run.ends[life(2)] = ServerEnd::kLost;
  BOOST_TEST(verify(run).ok);
}

BOOST_AUTO_TEST_CASE(a_run_that_was_cut_short_lacks_positions_and_nothing_else_is_wrong_with_it) {
  for (std::size_t views = 1; views <= 6; ++views) {
    Evidence run = elastic_run();
    run.finished = false;
    run.views.resize(views);
    const std::int64_t told = run.views.back().ledger.size() + 4;
    for (auto& [server, log] : run.logs) {
      std::erase_if(log,
                    [&](const CommitLogEntry& e) { return e.trained.intervals().front().begin >= told; });
    }
    const auto served = tenures(run, kEnd);
    std::erase_if(run.logs, [&](const auto& log) { return !served.contains(log.first); });
    for (const std::string& problem : verify(run).problems)
      BOOST_TEST(contains(problem, "epoch"), views << " views: " << problem);
  }
}

BOOST_AUTO_TEST_CASE(a_ledger_that_nobody_tells_of_is_found_in_a_run_that_was_cut_short) {
  Evidence run = elastic_run();
  run.finished = false;
  run.views.resize(3);
  run.logs = {{life(0), updates(0, 3)}, {life(1), updates(0, 3)}, {life(2), updates(2, 3)}};
  BOOST_TEST(finds(verify(run), "the ledger of v1.3 has 4 positions, from 12 on, of which no log tells"));
}

BOOST_AUTO_TEST_CASE(a_ledger_that_shrank_is_found) {
  Evidence run = elastic_run();
  run.views[3].ledger = IntervalSet{{0, 12}};
  BOOST_TEST(finds(verify(run), "the ledger of v1.4 lacks 4 positions, from 12 on, that v1.3 had"));
}

BOOST_AUTO_TEST_CASE(a_run_that_finished_has_a_full_ledger) {
  Evidence run = elastic_run();
  run.views.pop_back();
  BOOST_TEST(finds(verify(run), "the ledger of its last view, v1.5, lacks 5 positions, from 20 on"));
}

BOOST_AUTO_TEST_CASE(logs_without_a_view_are_not_believed) {
  Evidence run = elastic_run();
  run.views.clear();
  const VerifyReport report = verify(run);
  BOOST_TEST(finds(report, "no view was ever active"));
  BOOST_TEST(finds(report, "P-slave 0 (life 1), in no view: its log has 20 positions"));
}

// ---- Roll-backs

BOOST_AUTO_TEST_CASE(what_a_roll_back_undid_does_not_count) {
  const VerifyReport report = verify(rolled_back_run());
  BOOST_TEST(report.ok);
  BOOST_TEST(report.problems.empty());
  BOOST_TEST(report.voided == 3);
  for (const VerifyReport::Epoch& e : report.epochs) BOOST_TEST(e.duplicated == 0);
  BOOST_TEST(contains(verify_text(report), "3 updates were undone by roll-backs"));
}

BOOST_AUTO_TEST_CASE(nobody_need_have_been_lost_for_a_life_to_end_with_a_roll_back) {
  Evidence run = rolled_back_run();
  run.ends.clear();
  run.logs[life(1)].pop_back();
  const VerifyReport report = verify(run);
  BOOST_TEST(report.ok);
  BOOST_TEST(contains(verify_text(report),
                      "P-slave 1 (life 1): from v1.1 until the run was rolled back, before v1.4"));
}

BOOST_AUTO_TEST_CASE(what_was_undone_must_come_again) {
  Evidence run = rolled_back_run();
  for (const ServerKey who : {life(0, 2), life(1, 2)}) run.logs[who].erase(run.logs[who].begin());
  const VerifyReport report = verify(run);
  BOOST_TEST(report.epochs[0].lost == 2);
  BOOST_TEST(report.epochs[1].lost == 2);
  BOOST_TEST(finds(report, "epoch 0 lacks 2 positions, from 8 on"));
}

BOOST_AUTO_TEST_CASE(what_the_checkpoint_has_must_not_come_again) {
  Evidence run = rolled_back_run();
  for (const ServerKey who : {life(0, 2), life(1, 2)}) run.logs[who].push_back(entry(9, 0, 4, 8, kImages));
  const VerifyReport report = verify(run);
  BOOST_TEST(report.epochs[0].duplicated == 4);
  BOOST_TEST(finds(report, "trained what another update trained: 4 positions, from 4 on"));
  BOOST_TEST(finds(report, "P-slave 0 (life 2), from v1.4 to the end: its log has 4 positions, from 4 on"));
}

BOOST_AUTO_TEST_CASE(what_the_checkpoint_has_must_be_told) {
  Evidence run = rolled_back_run();
  run.logs.erase(life(0));
  run.logs.erase(life(1));
  BOOST_TEST(finds(verify(run), "epoch 0 lacks 8 positions, from 0 on"));
}

BOOST_AUTO_TEST_CASE(an_update_is_undone_as_a_whole) {
  Evidence run = rolled_back_run();
  run.logs[life(0)] = {entry(0, 0, 0, 10, kImages)};
  run.logs[life(1)] = run.logs[life(0)];
  BOOST_TEST(finds(verify(run),
                   "clock 0 of member 0 (life 1) was undone by a roll-back in part: 2 positions, from 8"));
}

BOOST_AUTO_TEST_CASE(a_roll_back_goes_to_a_cut_that_was_made) {
  Evidence run = rolled_back_run();
  run.views[3].ledger = IntervalSet{{0, 4}};
  BOOST_TEST(finds(verify(run), "rolled back before v1.4, to a ledger that no view before had"));
}

BOOST_AUTO_TEST_CASE(nobody_outlasts_a_roll_back) {
  Evidence run = rolled_back_run();
  for (std::size_t v : {3u, 4u}) run.views[v].record.servers[0].incarnation = Incarnation(1);
  BOOST_TEST(finds(verify(run), "P-slave 0 (life 1) goes on after the roll-back before v1.4"));
  run = rolled_back_run();
  run.logs[life(1, 2)].front().member.incarnation = Incarnation(1);
  BOOST_TEST(finds(verify(run),
                   "P-slave 0 (life 1) and P-slave 1 (life 2) tell of clock 1 of member 0 (life 1), and "
                   "between them the run was rolled back"));
}

BOOST_AUTO_TEST_CASE(what_a_second_roll_back_undid_counts_neither) {
  Evidence run = rolled_back_run();
  // From the checkpoint after two updates a second time, and from there to the end.
  run.views.push_back(view(6, {life(0, 3)}, 8, 3));
  run.views.push_back(view(7, {life(0, 3)}, kEnd, 3));
  run.views[5].record.history = run.views[6].record.history = 2;
  run.logs[life(0, 3)] = updates(2, 7, 3);
  const VerifyReport report = verify(run);
  BOOST_TEST(report.ok);
  BOOST_TEST(report.voided == 8);
  // Further back than the first: what the history between had from the first is void too.
  run.views[5].ledger = IntervalSet{};
  run.logs[life(0, 3)] = updates(0, 7, 3);
  BOOST_TEST(verify(run).ok);
  BOOST_TEST(verify(run).voided == 10);
  run.logs[life(0, 3)].erase(run.logs[life(0, 3)].begin());
  BOOST_TEST(verify(run).epochs[0].lost == 4);
}

}  // namespace
}  // namespace convoy::record
