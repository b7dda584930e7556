// Faults injected on purpose: a schedule in the run file, and `convoy fault` against a run that goes on.
#include <signal.h>

#include <boost/test/unit_test.hpp>

#include "tests/system/process.h"
#include "tests/system/world.h"

using namespace convoy::test;

namespace {

// `count` lines of faults.jsonl say that this kind was injected.
std::size_t injected(const World& world, const std::string& kind) {
  const std::string text = world.read("runs/small/faults.jsonl");
  const std::string part = "\"fault\":\"" + kind + "\"";
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_schedule_of_every_kind_of_trouble_loses_no_sample_and_leaves_nobody) {
  const World world(4000, 100);
  world.write("faults.toml", world.read("small.toml") + R"(
[[fault]]
kind = "kill"
target = "w-slave[0]"
at = "clock 40"
[[fault]]
kind = "freeze"
target = "w-slave[1]"
at = "clock 80"
for_s = 2
[[fault]]
kind = "leave"
target = "w-slave[0]"
at = "clock 200"
for_s = 0.5
[[fault]]
kind = "join"
target = "w-slave[2]"
at = "clock 120"
[[fault]]
kind = "partition"
target = "w-slave[1]->p-slave[0]"
at = "clock 280"
for_s = 0.3
[[fault]]
kind = "drop"
target = "p-slave[1]"
at = "clock 300"
for_s = 1
probability = 0.1
[[fault]]
kind = "kill"
target = "master"
at = "clock 340"
)");
  Process train(
      world.folder(), "train",
      {"train", "faults.toml", "--set", "run.name=small", "--set", "train.epochs=8", "--set",
       "cluster.failure_timeout_s=1", "--set", "local.w_slave=[{ slowdown = 30 }, { slowdown = 30 }]"});
  BOOST_REQUIRE(train.says("2 members"));
  const Children children(train);
  BOOST_TEST(train.says("w-slave-0 was killed by signal 9"));
  BOOST_TEST(train.says("the Master was killed by signal 9", 60));
  BOOST_TEST(train.wait(120).value_or(-1) == 0);
  BOOST_TEST(children.gone(5));
  const auto summary = world.summary();
  BOOST_TEST(summary["faults_injected"] == 7);
  BOOST_TEST(injected(world, "kill") == 2u);
  for (const char* kind : {"freeze", "leave", "join", "partition", "drop"})
    BOOST_TEST(injected(world, kind) == 1u, kind);
  BOOST_TEST(summary["recoveries"].size() >= 2u);
  BOOST_TEST(summary["samples_lost"] == 0);
  BOOST_TEST(summary["samples_duplicated"] == 0);
  BOOST_TEST(run(world.folder(), {"verify", "runs/small"}).status == 0);
  const Finished report = run(world.folder(), {"report", "runs/small"});
  BOOST_TEST(report.status == 0);
  BOOST_TEST(has(report.out, "7 faults injected"), report.out);
}

BOOST_AUTO_TEST_CASE(a_running_cluster_suffers_what_it_is_told_to) {
  const World world(4000, 100);
  Process train(
      world.folder(), "train",
      {"train", "small.toml", "--set", "train.epochs=1000", "--set", "cluster.failure_timeout_s=1"});
  BOOST_REQUIRE(train.says("2 members"));
  const auto fault = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"fault", "runs/small"});
    return run(world.folder(), arguments);
  };
  const Finished stranger = fault({"kill", "bob"});
  BOOST_TEST(stranger.status == 2);
  BOOST_TEST(has(stranger.err, "nobody here is called bob; known: master, w-slave-"), stranger.err);
  BOOST_TEST(fault({"explode", "w-slave-0"}).status == 2);
  BOOST_TEST(has(fault({"kill", "w-slave[0]"}).out, "injected: kill of w-slave-0"));
  BOOST_TEST(train.says("w-slave-0 was killed by signal 9"));
  BOOST_TEST(train.says("2 members, 2 P-slaves", 30, 2));
  BOOST_TEST(fault({"freeze", "w-slave-1", "--for-s", "3"}).status == 0);
  BOOST_TEST(train.says("w-slave-1 is lost"));
  BOOST_TEST(fault({"slow", "any-w-slave", "--factor", "2", "--for-s", "1"}).status == 0);
  BOOST_TEST(fault({"kill", "master"}).status == 0);
  BOOST_TEST(train.says("the Master was killed by signal 9"));
  BOOST_TEST(train.says("the Master came back"));
  train.signal(SIGINT);
  BOOST_TEST(train.wait(20).value_or(-1) == 1);
  BOOST_TEST(world.summary()["faults_injected"] == 4);
}
