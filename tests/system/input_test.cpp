// Wrong input: each is answered by an exit status and words that say what to do.
#include <sys/stat.h>
#include <zlib.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <utility>

#include "tests/support/free_port.h"
#include "tests/support/plain_listener.h"
#include "tests/system/process.h"
#include "tests/system/world.h"

using namespace convoy::test;

namespace {

std::string gzipped(const std::string& bytes) {
  const TemporaryFolder folder;
  const std::string path = folder / "packed";
  gzFile file = gzopen(path.c_str(), "wb");
  BOOST_REQUIRE(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())) ==
                static_cast<int>(bytes.size()));
  BOOST_REQUIRE(gzclose(file) == Z_OK);
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

BOOST_AUTO_TEST_CASE(several_errors_of_a_run_file_come_at_once_with_their_lines) {
  const World world(20, 5);
  world.write("bad.toml", "model.name = \"tiny-cnn\"\ntrain = { batch = \"many\" }\nsink.mode = \"bsp\"\n");
  const Finished result = run(world.folder(), {"train", "bad.toml"});
  BOOST_TEST(result.status == 2);
  BOOST_TEST_CONTEXT(result.err) {
    BOOST_TEST(has(result.err, "bad.toml:2:"));
    BOOST_TEST(has(result.err, "train.batch"));
    BOOST_TEST(has(result.err, "bad.toml:3:"));
  }
}

BOOST_AUTO_TEST_CASE(a_taken_port_and_an_address_of_no_interface_are_named_with_their_errno) {
  const World world(20, 5);
  const PlainListener other;
  const std::string& taken = other.address();
  for (const auto& [address, error] :
       {std::pair{taken, "errno 98"}, {std::string("192.0.2.1:7070"), "errno 99"}}) {
    for (const char* command : {"master", "train"}) {
      const Finished result = run(world.folder(), {command, "small.toml", "--set",
                                                   "cluster.listen=" + address, "--set", "security=none"});
      BOOST_TEST_CONTEXT(command << ": " << result.err) {
        BOOST_TEST(result.status == 1);
        BOOST_TEST(has(result.err, "cannot listen on " + address));
        BOOST_TEST(has(result.err, error));
      }
    }
  }
  // The same for a P-slave.
  world.write("node.toml", "node.master = \"127.0.0.1:7070\"\nnode.roles = [\"p-slave\"]\nnode.port = " +
                               taken.substr(taken.rfind(':') + 1) + "\n");
  const Finished node = run(world.folder(), {"node", "node.toml"});
  BOOST_TEST(node.status == 1);
  BOOST_TEST(has(node.err, "cannot listen on " + taken), node.err);
  BOOST_TEST(has(node.err, "errno 98"), node.err);
}

BOOST_AUTO_TEST_CASE(a_port_that_is_taken_costs_no_run) {
  const World world(40, 10);
  const PlainListener other;
  const std::string listen = "cluster.listen=" + other.address();
  // A run that never began does not look like one that was interrupted.
  BOOST_TEST(run(world.folder(), {"master", "small.toml", "--set", listen}).status == 1);
  BOOST_REQUIRE(run(world.folder(), {"train", "small.toml"}).status == 0);
  // And the one that it should have replaced is still there.
  BOOST_TEST(run(world.folder(), {"master", "small.toml", "--overwrite", "--set", listen}).status == 1);
  BOOST_TEST(run(world.folder(), {"verify", "runs/small"}).status == 0);
}

BOOST_AUTO_TEST_CASE(broken_data_is_an_error_and_never_a_hang) {
  const auto train_says = [](const std::function<void(const World&)>& damage, const std::string& because) {
    const World world(20, 5);
    damage(world);
    const Finished result = run(world.folder(), {"train", "small.toml"}, 10);
    BOOST_TEST_CONTEXT(because << ": " << result.err) {
      BOOST_TEST(result.status == 1);
      BOOST_TEST(has(result.err, because));
    }
  };
  const std::string images = "set/train-images-idx3-ubyte";
  const std::string labels = "set/train-labels-idx1-ubyte";
  train_says([&](const World& w) { std::filesystem::resize_file(w.path(labels), 8 + 19); },
             labels + ": holds 19 bytes of items where its header says 20: it is cut short");
  train_says([&](const World& w) { std::filesystem::resize_file(w.path(images), 16); },
             images + ": holds 0 bytes");
  train_says(
      [&](const World& w) {
        std::string text = w.read(labels);
        text[7] = 19;
        w.write(labels, text.substr(0, 8 + 19));
      },
      "holds 20 images, but " + labels + " holds 19 labels");
  train_says(
      [&](const World& w) {
        const std::string packed = gzipped(w.read(images));
        w.write(images + ".gz", packed.substr(0, packed.size() - 9));
        std::filesystem::remove(w.path(images));
      },
      images + ".gz: the gzip stream is cut short");
  train_says([](const World& w) { std::filesystem::remove(w.path("set/t10k-images-idx3-ubyte")); },
             "set/t10k-images-idx3-ubyte: cannot be opened: No such file or directory");
  train_says(
      [&](const World& w) {
        std::filesystem::remove(w.path(labels));
        BOOST_REQUIRE(mkfifo(w.path(labels).c_str(), 0600) == 0);
      },
      labels + ": cannot be read: it is no regular file");
}

BOOST_AUTO_TEST_CASE(data_that_one_node_cannot_read_is_that_nodes_end_and_no_other) {
  const World world(200, 10);
  const std::string master = "127.0.0.1:" + std::to_string(free_port());
  // Data sets with a name are looked for in each node's own folder.
  std::filesystem::create_directory(world.path("data"));
  std::filesystem::rename(world.path("set"), world.path("data/mnist"));
  world.write("run.toml",
              "model.name = \"tiny-cnn\"\ndata.name = \"mnist\"\nlocal.w_slave = [{}]\nlocal.p_slave = [{}]\n"
              "train = { batch = 16, lr = 0.02 }\nrun.name = \"small\"\ncluster.listen = \"" +
                  master + "\"\n");
  world.write("node.toml", "node.master = \"" + master + "\"\n");
  Process boss(world.folder(), "master", {"master", "run.toml"});
  Process server(world.folder(), "server", {"node", "node.toml", "--set", "node.roles=[\"p-slave\"]"});
  const Finished blind = run(
      world.folder(), {"node", "node.toml", "--set", "node.name=blind", "--set", "node.data_dir=nowhere"});
  BOOST_TEST(blind.status == 1);
  BOOST_TEST(has(blind.err, "blind: nowhere/mnist/train-images-idx3-ubyte: cannot be opened"), blind.err);
  BOOST_TEST(boss.says("blind is lost: its connection broke"));
  Process alice(world.folder(), "alice", {"node", "node.toml", "--set", "node.name=alice"});
  BOOST_TEST(boss.wait(30).value_or(-1) == 0);
  BOOST_TEST(alice.wait(5).value_or(-1) == 0);
  BOOST_TEST(server.wait(5).value_or(-1) == 0);
}

BOOST_AUTO_TEST_CASE(a_master_that_never_answers_is_given_up_when_the_file_says_so) {
  const World world(20, 5);
  const PlainListener silent;  // accepts, and says nothing
  const std::string nobody = "127.0.0.1:" + std::to_string(free_port());
  for (const std::string& master : {silent.address(), nobody}) {
    world.write("node.toml", "node.master = \"" + master + "\"\nnode.connect_timeout_s = 1\n");
    const Finished result = run(world.folder(), {"node", "node.toml"}, 10);
    BOOST_TEST_CONTEXT(result.err) {
      BOOST_TEST(result.status == 1);
      BOOST_TEST(has(result.err,
                     "the Master at " + master + " was not reached within 1 s (node.connect_timeout_s): "));
      BOOST_TEST(
          has(result.err, master == nobody ? "errno 111; nobody listens there" : "it does not answer"));
    }
  }
}

BOOST_AUTO_TEST_CASE(an_unknown_command_and_a_missing_file_are_usage_errors) {
  const World world(20, 5);
  BOOST_TEST(run(world.folder(), {"trian"}).status == 2);
  BOOST_TEST(run(world.folder(), {"train", "nowhere.toml"}).status == 2);
  BOOST_TEST(run(world.folder(), {"--version"}).status == 0);
}
