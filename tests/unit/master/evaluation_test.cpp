// Evaluation: slices, and what happens when those who hold them come and go.
#include "master/evaluation.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

namespace convoy {
namespace {

const PeerId kA(10);
const PeerId kB(11);
const std::vector<Evaluation::Candidate> kBoth{{kA, 100}, {kB, 300}};

Evaluation evaluation(std::int64_t count, const std::vector<Evaluation::Candidate>& workers) {
  return Evaluation(SnapshotId(3), ViewRecord{}, 640, true, count, workers);
}

const Evaluate& task_of(const Send& send) {
  return std::get<Evaluate>(send.envelope.message);
}

EvaluateResult answer(const Evaluate& task) {
  return {task.snapshot, task.task, task.last - task.first, 0.5, task.last - task.first};
}

std::vector<Send> assign(Evaluation& e, const std::vector<Evaluation::Candidate>& workers) {
  return e.assign(workers, kMasterPeerId, View{1, 2});
}

}  // namespace

BOOST_AUTO_TEST_CASE(slices_cover_the_test_set_in_proportion_to_speed) {
  Evaluation e = evaluation(1000, kBoth);
  const std::vector<Send> sends = assign(e, kBoth);
  BOOST_REQUIRE(sends.size() == 2u);
  BOOST_TEST(sends[0].to == kA);
  BOOST_TEST(task_of(sends[0]).first == 0);
  BOOST_TEST(task_of(sends[0]).last == 250);
  BOOST_TEST(task_of(sends[1]).first == 250);
  BOOST_TEST(task_of(sends[1]).last == 1000);
  BOOST_TEST(assign(e, kBoth).empty());  // nobody is asked for two at once
}

BOOST_AUTO_TEST_CASE(the_last_result_closes_it_and_the_sums_are_exact) {
  Evaluation e = evaluation(1000, kBoth);
  const std::vector<Send> sends = assign(e, kBoth);
  BOOST_TEST(!e.result(kB, answer(task_of(sends[1]))));
  BOOST_TEST(!e.done());
  BOOST_TEST(e.result(kA, answer(task_of(sends[0]))));
  BOOST_TEST(e.done());
  const TraceEvaluation outcome = e.outcome();
  BOOST_TEST(outcome.count == 1000);
  BOOST_TEST(outcome.correct == 1000);
  BOOST_TEST(outcome.loss_sum == 1.0);
  BOOST_TEST(outcome.samples == 640);
  BOOST_TEST(outcome.final);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_ignored) {
  Evaluation e = evaluation(100, {{kA, 1}});
  const Evaluate task = task_of(assign(e, {{kA, 1}}).front());
  EvaluateResult other = answer(task);
  other.snapshot = SnapshotId(2);
  BOOST_TEST(!e.result(kA, other));
  other = answer(task);
  other.task = 7;
  BOOST_TEST(!e.result(kA, other));
  other = answer(task);
  other.count = 99;
  BOOST_TEST(!e.result(kA, other));
  BOOST_TEST(!e.result(kB, answer(task)));  // not the one that was asked
  BOOST_TEST(!e.done());
  BOOST_TEST(e.result(kA, answer(task)));
  BOOST_TEST(!e.result(kA, answer(task)));  // a repeat counts once
  BOOST_TEST(e.outcome().count == 100);
}

BOOST_AUTO_TEST_CASE(a_lost_workers_slice_goes_to_who_is_free) {
  Evaluation e = evaluation(1000, kBoth);
  const std::vector<Send> sends = assign(e, kBoth);
  e.lost(kA);
  BOOST_TEST(assign(e, {{kB, 300}}).empty());  // busy with its own
  BOOST_TEST(!e.result(kB, answer(task_of(sends[1]))));
  const std::vector<Send> again = assign(e, {{kB, 300}});
  BOOST_REQUIRE(again.size() == 1u);
  BOOST_TEST(task_of(again[0]).task == task_of(sends[0]).task);
  BOOST_TEST(!e.result(kA, answer(task_of(sends[0]))));  // too late, it is another's now
  BOOST_TEST(e.result(kB, answer(task_of(again[0]))));
}

BOOST_AUTO_TEST_CASE(an_answered_slice_is_not_lost_with_its_worker) {
  Evaluation e = evaluation(1000, kBoth);
  const std::vector<Send> sends = assign(e, kBoth);
  e.result(kA, answer(task_of(sends[0])));
  e.lost(kA);
  BOOST_TEST(e.repeat(kMasterPeerId, View{}).size() == 1u);
  BOOST_TEST(e.result(kB, answer(task_of(sends[1]))));
}

BOOST_AUTO_TEST_CASE(without_workers_the_whole_waits_for_whoever_comes) {
  Evaluation e = evaluation(50, {});
  BOOST_TEST(assign(e, {}).empty());
  const std::vector<Send> sends = assign(e, kBoth);
  BOOST_REQUIRE(sends.size() == 1u);
  BOOST_TEST(task_of(sends[0]).last - task_of(sends[0]).first == 50);
}

BOOST_AUTO_TEST_CASE(more_workers_than_test_samples_leave_nobody_an_empty_slice) {
  std::vector<Evaluation::Candidate> workers;
  for (std::uint64_t i = 0; i < 5; ++i) workers.push_back({PeerId(20 + i), 1});
  Evaluation e = evaluation(3, workers);
  const std::vector<Send> sends = assign(e, workers);
  BOOST_TEST(sends.size() == 3u);
  for (const Send& s : sends) BOOST_TEST(task_of(s).last > task_of(s).first);
}

BOOST_AUTO_TEST_CASE(repeats_name_what_is_assigned_and_unanswered) {
  Evaluation e = evaluation(1000, kBoth);
  BOOST_TEST(e.repeat(kMasterPeerId, View{}).empty());
  const std::vector<Send> sends = assign(e, kBoth);
  BOOST_TEST(e.repeat(kMasterPeerId, View{}).size() == 2u);
  e.result(kA, answer(task_of(sends[0])));
  const std::vector<Send> repeated = e.repeat(kMasterPeerId, View{});
  BOOST_REQUIRE(repeated.size() == 1u);
  BOOST_TEST(repeated[0].to == kB);
}

}  // namespace convoy
