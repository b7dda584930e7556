// Peers that cannot work together, of another run or another version: each side says so, once, and the node
// ends.
#include <signal.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <vector>

#include "messages/codec/codec.h"
#include "tests/net/transport_fixture.h"
#include "tests/support/free_port.h"
#include "tests/system/process.h"
#include "tests/system/world.h"

using namespace convoy;
using namespace convoy::test;

namespace {

constexpr std::uint16_t kOther = kProtocolVersion + 1;

// A message as a node of version kOther would send it: the version is the first field of the header's first
// word, after segment table and root pointer.
WireFrames of_other_version(const Envelope& envelope) {
  const Frame header = encode(envelope, RunId(0)).header;
  std::vector<std::byte> bytes(header.bytes().begin(), header.bytes().end());
  bytes[16] = std::byte{kOther & 0xff};
  bytes[17] = std::byte{kOther >> 8};
  return {Frame::of(std::move(bytes))};
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

BOOST_AUTO_TEST_CASE(nodes_of_an_earlier_run_are_refused_in_words_and_end) {
  const World world(4000, 20);
  const std::string master = "127.0.0.1:" + std::to_string(free_port());
  world.write("node.toml", "node.master = \"" + master + "\"\n");
  const std::vector<std::string> start{
      "master", "small.toml",       "--overwrite", "--set", "cluster.listen=" + master,
      "--set",  "train.epochs=1000"};
  Process server(world.folder(), "server", {"node", "node.toml", "--set", "node.roles=[\"p-slave\"]"});
  Process alice(world.folder(), "alice", {"node", "node.toml", "--set", "node.name=alice"});
  {
    Process first(world.folder(), "first", start);
    BOOST_REQUIRE(first.says("v1.1: 1 member"));
  }  // killed
  Process second(world.folder(), "second", start);
  for (Process* node : {&server, &alice}) {
    BOOST_TEST(node->wait(10).value_or(-1) == 1);
    BOOST_TEST_CONTEXT(node->err()) {
      BOOST_TEST(has(node->err(), "the Master refuses: this is run "));
      BOOST_TEST(has(node->err(), "start the node again to join this one [Master at " + master + "]"));
    }
  }
  BOOST_TEST(second.says("refused a message from 127.0.0.1:"));
  // Neither goes on about it.
  BOOST_TEST(count(second.err(), "refused a message") <= 2u, second.err());
  BOOST_TEST(count(alice.err(), "refused") <= 2u, alice.err());
}

BOOST_AUTO_TEST_CASE(a_node_of_another_version_is_refused_by_the_master_in_words) {
  const World world(20, 5);
  Process boss(world.folder(), "master", {"master", "small.toml"});
  BOOST_REQUIRE(boss.says("the Master listens on "));
  const std::string text = boss.err();
  const std::size_t at = text.find("listens on ") + 11;
  RecordingSink sink;
  const auto node = must_start(dialling(PeerId(4711)), sink);
  BOOST_REQUIRE(node->connect(kMasterPeer, text.substr(at, text.find('\n', at) - at)).ok());
  Envelope hello;
  hello.from = PeerId(4711);
  hello.message = Hello{.role = RoleKind::kWorker, .name = "old"};
  node->send(kMasterPeer, of_other_version(hello));
  BOOST_REQUIRE(sink.wait_for_arrivals(1));
  const auto answer = decode({.header = sink.arrivals()[0].frames[0], .tensors = {}});
  BOOST_REQUIRE(answer.ok());
  const auto* refuse = std::get_if<Refuse>(&answer->envelope.message);
  BOOST_REQUIRE(refuse != nullptr);
  BOOST_TEST((refuse->reason == RefuseReason::kOtherVersion));
  BOOST_TEST(refuse->text == "this process speaks protocol version " + std::to_string(kProtocolVersion) +
                                 ", you speak " + std::to_string(kOther) +
                                 ": run the same build of convoy everywhere");
  BOOST_TEST(boss.says("refused a message from 127.0.0.1:"));
  BOOST_TEST(boss.says("you speak " + std::to_string(kOther)));

  // Its own refusal, in its version, is understood, and not answered.
  Envelope retort;
  retort.from = PeerId(4711);
  retort.message = Refuse{RefuseReason::kOtherVersion, {}, "you speak 1"};
  node->send(kMasterPeer, of_other_version(retort));
  node->send(kMasterPeer, of_other_version(hello));
  BOOST_REQUIRE(sink.wait_for_arrivals(2));  // to the second Hello; messages of one peer stay in order
  BOOST_TEST(sink.arrivals().size() == 2u);
  BOOST_TEST(count(boss.err(), "refused a message") == 1u, boss.err());
}

BOOST_AUTO_TEST_CASE(a_node_that_a_master_of_another_version_refuses_ends_with_the_reason) {
  const World world(20, 5);
  RecordingSink sink;
  const auto master = must_start(listening(kMasterPeer), sink);
  world.write("node.toml", "node.master = \"" + master->bound_address() + "\"\n");
  Process node(world.folder(), "node", {"node", "node.toml"});
  BOOST_REQUIRE(sink.wait_for_arrivals(1));
  Envelope refusal;
  refusal.from = kMasterPeer;
  refusal.message =
      Refuse{RefuseReason::kOtherVersion, {}, "this process speaks protocol version 2, you speak 1"};
  master->send(sink.arrivals()[0].from, of_other_version(refusal));
  BOOST_TEST(node.wait(5).value_or(-1) == 1);
  BOOST_TEST(
      has(node.err(), "the Master refuses: this process speaks protocol version 2, you speak 1 [Master at " +
                          master->bound_address() + "]"),
      node.err());
}
