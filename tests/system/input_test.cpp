// Wrong input: each is answered by an exit status and words that say what to do.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/support/free_port.h"
#include "tests/system/process.h"
#include "tests/system/world.h"

using namespace convoy::test;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
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
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  BOOST_REQUIRE(bind(fd, reinterpret_cast<const sockaddr*>(&address), size) == 0 && listen(fd, 1) == 0);
  BOOST_REQUIRE(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  const std::string taken = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  const Finished result = run(world.folder(), {"master", "small.toml", "--set", "cluster.listen=" + taken});
  close(fd);
  BOOST_TEST(result.status == 1);
  BOOST_TEST_CONTEXT(result.err) {
    BOOST_TEST(has(result.err, taken));
    BOOST_TEST(has(result.err, "errno"));
  }
}

BOOST_AUTO_TEST_CASE(broken_data_is_an_error_and_never_a_hang) {
  {
    const World world(20, 5);
    std::filesystem::resize_file(world.path("set/train-labels-idx1-ubyte"), 8 + 19);
    const Finished result = run(world.folder(), {"train", "small.toml"});
    BOOST_TEST(result.status == 1);
    BOOST_TEST(has(result.err, "train-labels-idx1-ubyte"));
  }
  {
    const World world(20, 5);
    std::filesystem::remove(world.path("set/t10k-images-idx3-ubyte"));
    const Finished result = run(world.folder(), {"train", "small.toml"});
    BOOST_TEST(result.status != 0);
    BOOST_TEST(has(result.err, "t10k-images-idx3-ubyte"));
  }
}

BOOST_AUTO_TEST_CASE(a_master_that_never_answers_is_given_up_when_the_file_says_so) {
  const World world(20, 5);
  world.write("node.toml", "node.master = \"127.0.0.1:" + std::to_string(free_port()) +
                               "\"\nnode.connect_timeout_s = 1\n");
  const Finished result = run(world.folder(), {"node", "node.toml"}, 10);
  BOOST_TEST(result.status == 1);
  BOOST_TEST(has(result.err, "node.connect_timeout_s"));
}

BOOST_AUTO_TEST_CASE(an_unknown_command_and_a_missing_file_are_usage_errors) {
  const World world(20, 5);
  BOOST_TEST(run(world.folder(), {"trian"}).status == 2);
  BOOST_TEST(run(world.folder(), {"train", "nowhere.toml"}).status == 2);
  BOOST_TEST(run(world.folder(), {"--version"}).status == 0);
}
