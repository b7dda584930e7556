// Whichever way a run ends, every process is gone within five seconds.
#include <signal.h>

#include <boost/test/unit_test.hpp>

#include "tests/support/free_port.h"
#include "tests/system/process.h"
#include "tests/system/world.h"

using namespace convoy::test;

namespace {

constexpr int kSoon = 5;  // seconds

// A run of one Master, two P-slaves and two W-slaves that would go on for long.
struct LongRun {
  int backups = 1;
  World world{4000, 50};
  Process train{world.folder(),
                "train",
                {"train", "small.toml", "--set", "train.epochs=1000", "--set", "local.w_slave[0].slowdown=20",
                 "--set", "cluster.backups=" + std::to_string(backups)}};
  bool trains = train.says("v1.1: 2 members");
  Children children{train};

  explicit LongRun(int with_backups = 1) : backups(with_backups) {
    BOOST_REQUIRE_MESSAGE(trains, train.err());
    BOOST_REQUIRE(children.size() == 5u);
  }
  std::string log(const std::string& node) const { return world.read("runs/small/logs/" + node + ".txt"); }
  // Exit status of `convoy train`; -1 when it, or a child, is still there.
  int end() {
    const int status = train.wait(kSoon).value_or(-1);
    return children.gone(1) ? status : -1;
  }
};

std::vector<std::string> node(const std::string& name, const std::string& role) {
  return {"node", "node.toml", "--set", "node.name=" + name, "--set", "node.roles=[\"" + role + "\"]"};
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_train_that_is_asked_to_stop_stops_and_at_once_when_asked_twice) {
  for (const int number : {SIGINT, SIGTERM}) {
    LongRun run;
    run.train.signal(number);
    BOOST_TEST(run.end() == 1);
    BOOST_TEST(has(run.train.err(), "convoy: stopped by the operator"));
    BOOST_TEST(!has(run.train.err(), "starting it again"));
    BOOST_TEST(run.world.summary()["finished"] == false);
  }
  LongRun run;
  run.children.signal("master", SIGSTOP);  // one that would not answer
  run.train.signal(SIGINT);
  run.train.signal(SIGTERM);  // two of one kind at once may come as one
  BOOST_TEST(run.end() == 130);
}

BOOST_AUTO_TEST_CASE(nobody_waits_for_a_node_that_is_frozen_when_the_run_is_stopped) {
  LongRun run;
  run.children.signal("w-slave-1", SIGSTOP);
  run.train.signal(SIGINT);
  BOOST_TEST(run.end() == 1);
}

BOOST_AUTO_TEST_CASE(the_end_of_the_launcher_is_the_end_of_all) {
  LongRun run;
  run.children.signal("w-slave-1", SIGSTOP);
  run.train.signal(SIGKILL);
  BOOST_TEST(run.end() == 128 + SIGKILL);
  BOOST_TEST(run.world.summary()["finished"] == false);  // the Master had time to write it
}

BOOST_AUTO_TEST_CASE(a_master_that_dies_is_started_again_and_the_run_goes_on) {
  LongRun run;
  run.children.signal("master", SIGKILL);
  BOOST_REQUIRE(run.train.says("the Master was killed by signal 9 (Killed); starting it again"));
  BOOST_REQUIRE(run.train.says("(the Master came back"));
  run.train.signal(SIGINT);
  BOOST_TEST(run.end() == 1);
}

BOOST_AUTO_TEST_CASE(a_p_slave_with_a_backup_that_dies_is_started_again_and_the_run_goes_on) {
  LongRun run;
  run.children.signal("p-slave-0", SIGKILL);
  BOOST_REQUIRE(run.train.says("p-slave-0 was killed by signal 9 (Killed); starting it again"));
  BOOST_REQUIRE(run.train.says("p-slave-0 is lost"));
  BOOST_REQUIRE(run.train.says("P-slave p-slave-0 joins"));
  run.train.signal(SIGINT);
  BOOST_TEST(run.end() == 1);
}

BOOST_AUTO_TEST_CASE(the_end_of_a_p_slave_without_a_backup_is_the_end_of_a_train_in_words_and_of_its_status) {
  LongRun run(0);
  run.children.signal("p-slave-0", SIGKILL);
  BOOST_TEST(run.end() == 1);
  BOOST_TEST(has(run.train.err(), "convoy: p-slave-0 was killed by signal 9"), run.train.err());
  BOOST_TEST(has(run.train.err(), "convoy: P-slave p-slave-0 at 127.0.0.1"), run.train.err());
  BOOST_TEST(has(run.train.err(), "start the run again"), run.train.err());
}

BOOST_AUTO_TEST_CASE(a_w_slave_that_dies_is_started_again_and_the_run_goes_on) {
  LongRun run;
  run.children.signal("w-slave-1", SIGKILL);
  BOOST_REQUIRE(run.train.says("w-slave-1 was killed by signal 9 (Killed); starting it again"));
  BOOST_REQUIRE(run.train.says("(w-slave-1 joins"));
  run.train.signal(SIGINT);
  BOOST_TEST(run.end() == 1);
}

BOOST_AUTO_TEST_CASE(a_w_slave_that_cannot_work_ends_the_run_with_its_reason) {
  const World world(40, 10);
  // Kernel choices that are none: found out by W-slaves alone, when they warm up.
  world.write("choices.txt", "nonsense\n");
  const Finished train =
      run(world.folder(), {"train", "small.toml", "--set", "kernels.replay=choices.txt"}, 30);
  BOOST_TEST(train.status == 1);
  BOOST_TEST(has(train.err, "its log is runs/small/logs/w-slave-"), train.err);
  BOOST_TEST(has(train.err, "choices.txt"), train.err);
}

BOOST_AUTO_TEST_CASE(a_train_whose_terminal_is_closed_goes_on) {
  const World world(600, 50);
  Process train(world.folder(), "train",
                {"train", "small.toml", "--set", "train.epochs=4", "--set", "local.w_slave[0].slowdown=5"},
                {.terminal = true});
  BOOST_REQUIRE(train.says("v1.1: 2 members"));
  train.hang_up();
  BOOST_TEST(train.wait(60).value_or(-1) == 0);
  BOOST_TEST(run(world.folder(), {"verify", "runs/small"}).status == 0);
}

BOOST_AUTO_TEST_CASE(nodes_of_a_master_that_died_wait_leave_when_asked_and_give_up_when_told_so) {
  const World world(4000, 50);
  const std::string master = "127.0.0.1:" + std::to_string(free_port());
  world.write("node.toml", "node.master = \"" + master + "\"\n");
  std::vector<std::string> impatient = node("impatient", "w-slave");
  impatient.insert(impatient.end(), {"--set", "node.connect_timeout_s=1"});
  Process server(world.folder(), "server", node("server", "p-slave"));
  Process alice(world.folder(), "alice", node("alice", "w-slave"));
  Process boss(world.folder(), "master",
               {"master", "small.toml", "--set", "cluster.listen=" + master, "--set", "train.epochs=1000"});
  Process bob(world.folder(), "bob", impatient);
  BOOST_REQUIRE(boss.says(": 2 members"));
  boss.signal(SIGKILL);
  BOOST_TEST(alice.says("the connection to the Master at " + master + " broke; dialling again"));
  BOOST_TEST(bob.wait(kSoon).value_or(-1) == 1);
  BOOST_TEST(
      has(bob.err(), "the Master at " + master + " was not reached within 1 s (node.connect_timeout_s)"),
      bob.err());
  BOOST_TEST(alice.running());
  alice.signal(SIGINT);
  BOOST_TEST(alice.wait(kSoon).value_or(-1) == 0);
  BOOST_TEST(has(alice.err(), "the Master does not answer"), alice.err());
  // What a P-slave has may be nowhere else: it waits for a Master to hand it over to, unless it is asked
  // twice.
  server.signal(SIGTERM);
  server.signal(SIGINT);
  BOOST_TEST(server.wait(kSoon).has_value());
}

BOOST_AUTO_TEST_CASE(arithmetic_that_takes_long_does_not_hold_up_the_end) {
  // LeNet in batches of 500 on the reference back end: measuring itself takes a W-slave twenty seconds.
  const World world(500, 10, 28);
  const std::string master = "127.0.0.1:" + std::to_string(free_port());
  world.write("node.toml", "node.master = \"" + master + "\"\n");
  const Process boss(world.folder(), "master",
                     {"master", "small.toml", "--set", "cluster.listen=" + master, "--set",
                      "model.name=lenet", "--set", "train.batch=500"});
  std::vector<std::string> slow = node("slow", "w-slave");
  slow.insert(slow.end(), {"--set", "node.devices=[{ device = \"reference\" }]"});
  Process alice(world.folder(), "alice", slow);
  BOOST_REQUIRE(alice.says("welcomed; loading data, compiling and measuring"));
  alice.signal(SIGINT);
  BOOST_TEST(alice.wait(kSoon).value_or(-1) == 0);
  BOOST_TEST(has(alice.err(), "left the run"), alice.err());
}
