// Encrypted runs as people set them up: keygen, invite, files that are copied, lists that change; on machines
// of their own.
#include <signal.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <sstream>

#include "tests/support/free_port.h"
#include "tests/system/invited.h"
#include "tests/system/network.h"
#include "tests/system/process.h"
#include "tests/system/world.h"

using namespace convoy::test;

namespace {

// The key that `convoy keygen` printed.
std::string public_key_of(const Finished& keygen) {
  const std::string head = "public_key = \"";
  const std::size_t at = keygen.out.find(head);
  BOOST_REQUIRE(at != std::string::npos);
  return keygen.out.substr(at + head.size(), 40);
}

void remove_line(const World& world, const std::string& file, const std::string& part) {
  std::istringstream in(world.read(file));
  std::string kept;
  for (std::string line; std::getline(in, line);) {
    if (!has(line, part)) kept += line + "\n";
  }
  world.write(file, kept);
}

}  // namespace

BOOST_AUTO_TEST_CASE(machines_join_by_invitation_before_and_while_the_run_goes_on_and_strangers_do_not,
                     *boost::unit_test::precondition(has_network)) {
  const World world(2000, 50);
  const Network net(world.folder(), 3);
  const std::string master = Network::address(0) + ":7070";
  set_up(world, master);
  Process boss(world.folder(), "master", {"master", "run.toml", "--set", "train.epochs=6"}, net.on(0));
  BOOST_REQUIRE(boss.says("nobody is invited yet"));
  invite(world, "alice", "w-slave");
  invite(world, "paul", "p-slave");
  Process alice(world.folder(), "alice", {"node", "alice.toml", "--set", "node.devices=[{ slowdown = 30 }]"},
                net.on(1));
  Process paul(world.folder(), "paul", {"node", "paul.toml"}, net.on(2));
  BOOST_REQUIRE(boss.says(": 1 member,"));

  // A stranger: refused in words on both sides.
  const std::string key = public_key_of(run(world.folder(), {"keygen", "stranger.key"}));
  world.write("stranger.toml", world.read("alice.toml"));
  remove_line(world, "stranger.toml", "secret_key");
  remove_line(world, "stranger.toml", "public_key");
  world.write("stranger.toml", world.read("stranger.toml") + "secret_key_file = \"stranger.key\"\n");
  const Finished stranger =
      run(world.folder(), {"node", "stranger.toml", "--set", "node.connect_timeout_s=1"}, 10, net.on(2));
  BOOST_TEST(stranger.status == 1);
  BOOST_TEST(has(stranger.err, master + " refused our key " + key), stranger.err);
  BOOST_TEST(has(stranger.err, "convoy invite"), stranger.err);
  BOOST_TEST(boss.says("a stranger from " + Network::address(2) + " was refused: its key " + key));

  // Invited while the run goes on: the Master and the P-slave let it in.
  invite(world, "bob", "w-slave");
  {
    Process bob(world.folder(), "bob", {"node", "bob.toml"}, net.on(2));
    BOOST_REQUIRE(boss.says(": 2 members"));
    bob.signal(SIGINT);
    BOOST_TEST(bob.wait(10).value_or(-1) == 0);
  }
  const Finished status = run(world.folder(), {"status"}, 10, net.on(0));  // needs no invitation there
  BOOST_TEST(status.status == 0);
  BOOST_TEST(has(status.out, "alice"), status.out + status.err);
  BOOST_TEST(has(run(world.folder(), {"status", master}, 10, net.on(0)).err, "convoy status NODE.toml"));
  // And taken off the list again, all of them: whoever is in stays, and nobody comes.
  world.write("allowed.txt", "");
  BOOST_REQUIRE(boss.says("0 keys may join now"));
  const Finished bob =
      run(world.folder(), {"node", "bob.toml", "--set", "node.connect_timeout_s=1"}, 10, net.on(2));
  BOOST_TEST(bob.status == 1);
  BOOST_TEST(has(bob.err, "refused our key"), bob.err);

  BOOST_TEST(boss.wait(20).value_or(-1) == 0, boss.err() + alice.err() + paul.err());
  BOOST_TEST(alice.wait(5).value_or(-1) == 0);
  BOOST_TEST(paul.wait(5).value_or(-1) == 0);
  BOOST_TEST(run(world.folder(), {"verify", "runs/small"}).status == 0);
  BOOST_TEST(!std::filesystem::exists(world.path("runs/small/address")));
}

BOOST_AUTO_TEST_CASE(a_master_that_is_started_again_invites_as_its_predecessor_did) {
  const World world(2000, 50);
  set_up(world, "127.0.0.1:" + std::to_string(free_port()));
  invite(world, "alice", "w-slave");
  invite(world, "paul", "p-slave");
  Process alice(world.folder(), "alice", {"node", "alice.toml", "--set", "node.devices=[{ slowdown = 30 }]"});
  Process paul(world.folder(), "paul", {"node", "paul.toml"});
  {
    Process first(world.folder(), "first", {"master", "run.toml", "--set", "train.epochs=6"});
    BOOST_REQUIRE(first.says(": 1 member,"));
    invite(world, "carol", "w-slave");
    BOOST_REQUIRE(first.says("3 keys may join now"));
  }                                  // killed
  invite(world, "dave", "w-slave");  // while there is no Master
  Process second(world.folder(), "second", {"master", "run.toml", "--resume", "--set", "train.epochs=6"});
  BOOST_REQUIRE(second.says(": 1 member,"));
  invite(world, "bob", "w-slave");
  // Both train to the end, for which the P-slave has to let them in.
  const std::string slow = "node.devices=[{ slowdown = 30 }]";
  Process dave(world.folder(), "dave", {"node", "dave.toml", "--set", slow});
  Process bob(world.folder(), "bob", {"node", "bob.toml", "--set", slow});
  BOOST_REQUIRE(second.says(": 3 members"));
  BOOST_TEST(second.wait(30).value_or(-1) == 0, second.err() + dave.err() + bob.err());
  BOOST_TEST(alice.wait(5).value_or(-1) == 0);
  BOOST_TEST(paul.wait(5).value_or(-1) == 0);
  BOOST_TEST(run(world.folder(), {"verify", "runs/small"}).status == 0);
}

BOOST_AUTO_TEST_CASE(a_master_is_reached_by_its_name_and_by_ipv6,
                     *boost::unit_test::precondition(has_network)) {
  for (const std::string& master :
       {std::string("host0:7070"), std::string("six0:7070"), "[" + Network::address6(0) + "]:7070"}) {
    const World world(200, 20);
    const Network net(world.folder(), 2);
    set_up(world, master);
    invite(world, "node", "both");
    Process boss(world.folder(), "master", {"master", "run.toml"}, net.on(0));
    Process node(world.folder(), "node", {"node", "node.toml"}, net.on(1));
    BOOST_TEST_CONTEXT(master << ": " << boss.err() << node.err()) {
      BOOST_TEST(boss.wait(30).value_or(-1) == 0);
      BOOST_TEST(node.wait(5).value_or(-1) == 0);
      BOOST_TEST(has(boss.err(), ", encrypted"));
      BOOST_TEST(run(world.folder(), {"verify", "runs/small"}).status == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(loopback_works_in_every_notation_and_encrypted_when_the_file_says_so) {
  const World world(40, 10);
  BOOST_REQUIRE(run(world.folder(), {"keygen", "master.key"}).status == 0);
  const std::string keys = "security={ secret_key_file = \"master.key\" }";
  for (const auto& [listen, more] : {std::pair<std::string, std::string>{"[::1]:0", "sync.mode=dsp"},
                                     {"localhost:0", "sync.mode=dsp"},
                                     {"127.1.2.3:0", "sync.mode=dsp"},
                                     {"[::1]:0", keys}}) {
    const Finished done = run(world.folder(), {"train", "small.toml", "--overwrite", "--set",
                                               "cluster.listen=" + listen, "--set", more});
    BOOST_TEST_CONTEXT(listen << " " << more << ": " << done.err) {
      BOOST_TEST(done.status == 0);
      BOOST_TEST(has(done.err, ", encrypted") == (more == keys));
    }
  }
}

BOOST_AUTO_TEST_CASE(who_can_be_reached_from_outside_needs_keys_and_is_told_how_to_get_them) {
  const World world(20, 5);
  const Finished train = run(world.folder(), {"train", "small.toml", "--set", "cluster.listen=192.0.2.1:0"});
  BOOST_TEST(train.status == 2);
  BOOST_TEST(has(train.err, "convoy keygen master.key"), train.err);
  world.write("node.toml", "node.master = \"192.0.2.1:7070\"\n");
  const Finished node = run(world.folder(), {"node", "node.toml"});
  BOOST_TEST(node.status == 2);
  BOOST_TEST(has(node.err, "convoy invite"), node.err);
  // Keys that do not belong together are found out here, not by the Master's refusal.
  BOOST_REQUIRE(run(world.folder(), {"keygen", "node.key"}).status == 0);
  const std::string other = public_key_of(run(world.folder(), {"keygen"}));
  world.write(
      "node.toml",
      "node.master = \"192.0.2.1:7070\"\nsecurity = { secret_key_file = \"node.key\", public_key = \"" +
          other + "\", server_key = \"" + other + "\" }\n");
  const Finished mixed = run(world.folder(), {"node", "node.toml"});
  BOOST_TEST(mixed.status == 2);
  BOOST_TEST(has(mixed.err, "security.public_key is " + other), mixed.err);
  // A P-slave that W-slaves of other machines dial is as exposed as a Master.
  world.write(
      "node.toml",
      "node.master = \"127.0.0.1:7070\"\nnode.roles = [\"p-slave\"]\nnode.advertise = \"192.0.2.1\"\n");
  const Finished server = run(world.folder(), {"node", "node.toml"});
  BOOST_TEST(server.status == 2);
  BOOST_TEST(has(server.err, "node.advertise"), server.err);
}

BOOST_AUTO_TEST_CASE(an_invitation_that_cannot_be_written_leaves_no_key_behind) {
  const World world(20, 5);
  set_up(world, "192.0.2.1:7070");
  invite(world, "alice", "w-slave");
  const std::string list = world.read("allowed.txt");
  struct stat status {};
  BOOST_REQUIRE(stat(world.path("alice.toml").c_str(), &status) == 0);
  BOOST_TEST((status.st_mode & 0777) == 0600);  // a secret key is in it

  const auto refused = [&](std::vector<std::string> more, const std::string& because) {
    std::vector<std::string> arguments{"invite", "run.toml"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished done = run(world.folder(), arguments);
    BOOST_TEST_CONTEXT(because << ": " << done.err) {
      BOOST_TEST(done.status != 0);
      BOOST_TEST(has(done.err, because));
      BOOST_TEST(world.read("allowed.txt") == list);
    }
  };
  refused({"alice.toml", "--name", "bob"}, "alice.toml cannot be made: File exists");
  refused({"nowhere/bob.toml", "--name", "bob"}, "nowhere/bob.toml cannot be made: No such file");
  refused({"bob.toml", "--name", "bob", "--set", "cluster.listen=0.0.0.0:7070"}, "set cluster.advertise");
  refused({"bob.toml", "--name", "bob", "--set", "cluster.listen=192.0.2.1:0"}, "no fixed port");
  refused({"bob.toml", "--name", "two\nlines"}, "node.name: holds a control character");
  // A list without an end of its last line gets one.
  world.write("allowed.txt", list.substr(0, list.size() - 1));
  invite(world, "bob", "w-slave");
  BOOST_TEST(world.read("allowed.txt").starts_with(list));
}
