// Nodes that come, go, die and wait, against a Master started by hand.
#include <signal.h>

#include <boost/test/unit_test.hpp>

#include "tests/support/free_port.h"
#include "tests/system/process.h"
#include "tests/system/world.h"

using namespace convoy::test;

namespace {

std::string node_file(std::uint16_t port) {
  return "node.name = \"n\"\nnode.master = \"127.0.0.1:" + std::to_string(port) + "\"\n";
}

// A W-slave that takes its time, or the P-slave.
std::vector<std::string> node(const std::string& name, const std::string& role,
                              const std::string& slowdown = "1") {
  std::vector<std::string> arguments{
      "node", "node.toml", "--local", "--set", "node.name=" + name, "--set", "node.roles=[\"" + role + "\"]"};
  if (slowdown != "1") {
    arguments.insert(arguments.end(), {"--set", "node.devices=[{ slowdown = " + slowdown + " }]"});
  }
  return arguments;
}

std::vector<std::string> master(std::uint16_t port) {
  return {"master", "small.toml", "--set", "cluster.listen=127.0.0.1:" + std::to_string(port)};
}

}  // namespace

BOOST_AUTO_TEST_CASE(w_slaves_join_leave_and_die_and_no_sample_is_lost) {
  const World world(4000, 100);
  const std::uint16_t port = free_port();
  world.write("node.toml", node_file(port));
  std::vector<std::string> command = master(port);
  command.insert(command.end(), {"--set", "train.epochs=6"});
  Process alice(world.folder(), "alice", node("alice", "w-slave", "15"));
  Process server(world.folder(), "server", node("server", "p-slave"));
  BOOST_TEST(alice.says("nobody listens there"));  // started before its Master: waits, and says so
  Process boss(world.folder(), "master", command);
  BOOST_REQUIRE(boss.says("v1.1: 1 member,"));
  Process bob(world.folder(), "bob", node("bob", "w-slave", "15"));
  Process carol(world.folder(), "carol", node("carol", "w-slave", "15"));
  BOOST_REQUIRE(boss.says(": 3 members"));
  bob.signal(SIGINT);
  BOOST_TEST(bob.wait(20).value_or(-1) == 0);
  BOOST_TEST(boss.says("bob left"));
  carol.signal(SIGKILL);
  BOOST_TEST(boss.says("carol is lost"));
  BOOST_TEST(boss.says(": 1 member, 1 P-slave"));
  BOOST_TEST(boss.wait(120).value_or(-1) == 0);
  BOOST_TEST(alice.wait(5).value_or(-1) == 0);
  BOOST_TEST(server.wait(5).value_or(-1) == 0);
  // The rest stood still for detection (a tenth of the time-out for one that is killed) and a clock; this is
  // a busy machine.
  const auto recoveries = world.summary()["recoveries"];
  BOOST_REQUIRE(recoveries.size() == 1u);
  BOOST_TEST(recoveries[0]["stall_s"].get<double>() < 1.5);
  BOOST_TEST(run(world.folder(), {"verify", "runs/small"}).status == 0);
}

BOOST_AUTO_TEST_CASE(a_frozen_w_slave_is_replaced_and_joins_afresh_when_it_wakes) {
  const World world(4000, 100);
  const std::uint16_t port = free_port();
  world.write("node.toml", node_file(port));
  std::vector<std::string> command = master(port);
  command.insert(command.end(), {"--set", "train.epochs=6", "--set", "cluster.failure_timeout_s=1"});
  Process boss(world.folder(), "master", command);
  Process server(world.folder(), "server", node("server", "p-slave"));
  Process alice(world.folder(), "alice", node("alice", "w-slave", "15"));
  BOOST_REQUIRE(boss.says(": 1 member,"));
  Process bob(world.folder(), "bob", node("bob", "w-slave", "15"));
  BOOST_REQUIRE(boss.says(": 2 members"));
  bob.signal(SIGSTOP);
  BOOST_TEST(boss.says("bob is lost"));
  bob.signal(SIGCONT);
  BOOST_TEST(bob.says("joining afresh"));
  BOOST_TEST(boss.wait(120).value_or(-1) == 0);
  BOOST_TEST(bob.wait(5).value_or(-1) == 0);
  BOOST_TEST(run(world.folder(), {"verify", "runs/small"}).status == 0);
}

BOOST_AUTO_TEST_CASE(a_lost_p_slave_ends_the_run_in_words_and_nobody_is_left) {
  const World world(4000, 100);
  const std::uint16_t port = free_port();
  world.write("node.toml", node_file(port));
  std::vector<std::string> command = master(port);
  command.insert(command.end(), {"--set", "train.epochs=6"});
  Process boss(world.folder(), "master", command);
  Process server(world.folder(), "server", node("server", "p-slave"));
  Process alice(world.folder(), "alice", node("alice", "w-slave", "15"));
  BOOST_REQUIRE(boss.says(": 1 member,"));
  server.signal(SIGKILL);
  BOOST_TEST(boss.wait(10).value_or(-1) == 1);
  BOOST_TEST(boss.err().find("P-slave server at 127.0.0.1") != std::string::npos);
  BOOST_TEST(alice.wait(5).value_or(-1) == 1);
}
