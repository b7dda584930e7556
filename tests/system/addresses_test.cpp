// Machines whose addresses are not plain: several interfaces, IPv6 alone, link-local, NAT, loopback.
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <sstream>

#include "tests/system/invited.h"
#include "tests/system/network.h"
#include "tests/system/process.h"
#include "tests/system/world.h"

using namespace convoy::test;

namespace {

// Master on machine 0, P-slave on 1, W-slave on 2; each line of the P-slave's and W-slave's log.
void check_it_trains(const World& world, const Network& net) {
  invite(world, "paul", "p-slave");
  invite(world, "alice", "w-slave");
  Process boss(world.folder(), "master", {"master", "run.toml"}, net.on(0));
  Process paul(world.folder(), "paul", {"node", "paul.toml"}, net.on(1));
  Process alice(world.folder(), "alice", {"node", "alice.toml"}, net.on(2));
  BOOST_TEST_CONTEXT(boss.err() << paul.err() << alice.err()) {
    BOOST_TEST(boss.wait(30).value_or(-1) == 0);
    BOOST_TEST(paul.wait(5).value_or(-1) == 0);
    BOOST_TEST(alice.wait(5).value_or(-1) == 0);
  }
  BOOST_TEST(run(world.folder(), {"verify", "runs/small"}).status == 0);
}

// Sockets that wait for connections where `process` runs.
std::size_t listening(const Process& process) {
  std::size_t found = 0;
  for (const char* family : {"tcp", "tcp6"}) {
    std::ifstream table("/proc/" + std::to_string(process.pid()) + "/net/" + family);
    for (std::string line; std::getline(table, line);) {
      std::istringstream in(line);
      std::string slot, local, remote, state;
      in >> slot >> local >> remote >> state;
      found += state == "0A" ? 1 : 0;
    }
  }
  return found;
}

}  // namespace

BOOST_AUTO_TEST_CASE(of_several_interfaces_a_p_slave_takes_the_one_that_leads_to_the_master,
                     *boost::unit_test::precondition(has_network)) {
  const World world(200, 20);
  const Network net(world.folder(), 3);
  set_up(world, Network::address(0) + ":7070");
  check_it_trains(world, net);
  BOOST_TEST(has(world.read("paul.err"), "P-slave listens on " + Network::address(1) + ":"));
}

BOOST_AUTO_TEST_CASE(machines_with_ipv6_alone_train, *boost::unit_test::precondition(has_network)) {
  const World world(200, 20);
  const Network net(world.folder(), 3, Network::Family::kIpv6Only);
  set_up(world, "[" + Network::address6(0) + "]:7070");
  check_it_trains(world, net);
}

BOOST_AUTO_TEST_CASE(link_local_addresses_work_with_their_interface,
                     *boost::unit_test::precondition(has_network)) {
  const World world(200, 20);
  const Network net(world.folder(), 3, Network::Family::kIpv6Only);
  set_up(world, "[" + Network::link_local(0) + "%eth0]:7070");
  check_it_trains(world, net);
  BOOST_TEST(has(world.read("paul.err"), "%eth0]:"));
}

BOOST_AUTO_TEST_CASE(a_w_slave_only_dials_out, *boost::unit_test::precondition(has_network)) {
  const World world(2000, 20);
  const Network net(world.folder(), 3);
  set_up(world, Network::address(0) + ":7070");
  invite(world, "paul", "p-slave");
  invite(world, "alice", "w-slave");
  Process boss(world.folder(), "master", {"master", "run.toml", "--set", "train.epochs=1000"}, net.on(0));
  Process paul(world.folder(), "paul", {"node", "paul.toml"}, net.on(1));
  Process alice(world.folder(), "alice", {"node", "alice.toml"}, net.on(2));
  BOOST_REQUIRE(boss.says(": 1 member,"));
  BOOST_TEST(listening(alice) == 0u);
  BOOST_TEST(listening(paul) == 1u);
}

BOOST_AUTO_TEST_CASE(a_p_slave_behind_nat_listens_at_one_address_and_advertises_another,
                     *boost::unit_test::precondition(has_network)) {
  const World world(200, 20);
  const Network net(world.folder(), 3);
  set_up(world, Network::address(0) + ":7070");
  invite(world, "paul", "p-slave");
  invite(world, "alice", "w-slave");
  // Of a machine that hands nothing on, so that the W-slave tells where it dials.
  const std::string outside = Network::address(0) + ":4040";
  Process boss(world.folder(), "master", {"master", "run.toml"}, net.on(0));
  Process paul(
      world.folder(), "paul",
      {"node", "paul.toml", "--set", "node.advertise=" + Network::address(0), "--set", "node.port=4040"},
      net.on(1));
  Process alice(world.folder(), "alice", {"node", "alice.toml"}, net.on(2));
  BOOST_TEST(paul.says("P-slave listens on " + Network::address(1) + ":4040, and is dialled at " + outside));
  BOOST_TEST(alice.says(outside + ": Connection refused"));
}

BOOST_AUTO_TEST_CASE(a_loopback_address_is_not_advertised_to_other_machines,
                     *boost::unit_test::precondition(has_network)) {
  const World world(200, 20);
  const Network net(world.folder(), 2);
  set_up(world, "0.0.0.0:7070");
  world.write("run.toml",
              world.read("run.toml") + "cluster.advertise = \"" + Network::address(0) + ":7070\"\n");
  invite(world, "paul", "p-slave");
  invite(world, "alice", "w-slave");
  const Finished told =
      run(world.folder(), {"node", "paul.toml", "--set", "node.advertise=127.0.0.1"}, 10, net.on(1));
  BOOST_TEST(told.status == 2);
  BOOST_TEST(has(told.err, "node.advertise: 127.0.0.1 is a loopback address"), told.err);

  // A P-slave that finds its Master on a loopback address takes that for its own; a W-slave elsewhere knows.
  Process boss(world.folder(), "master", {"master", "run.toml"}, net.on(0));
  Process paul(world.folder(), "paul", {"node", "paul.toml", "--set", "node.master=127.0.0.1:7070"},
               net.on(0));
  Process alice(world.folder(), "alice", {"node", "alice.toml"}, net.on(1));
  BOOST_TEST(alice.wait(20).value_or(-1) == 1);
  BOOST_TEST(has(alice.err(), "a loopback address"), alice.err());
  BOOST_TEST(has(alice.err(), "set node.advertise in that P-slave's node file"), alice.err());
}
