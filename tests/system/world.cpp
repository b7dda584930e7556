#include "tests/system/world.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/image_set.h"

namespace convoy::test {

World::World(int train, int test, int side) {
  std::filesystem::create_directory(path("set"));
  write_image_set(path("set"), train, test, side);
  write("small.toml",
        "model.name = \"tiny-cnn\"\n"
        "data = { format = \"idx\", dir = \"set\" }\n"
        "train = { epochs = 2, batch = 16, lr = 0.02, momentum = 0.9 }\n"
        "cluster.failure_timeout_s = 2\n"
        "local.w_slave = [{}, {}]\n"
        "local.p_slave = [{}, {}]\n");
}

void World::write(const std::string& name, const std::string& text) const {
  std::ofstream(path(name)) << text;
}

std::string World::read(const std::string& name) const {
  std::ifstream in(path(name), std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

nlohmann::json World::summary(const std::string& run) const {
  return nlohmann::json::parse(read("runs/" + run + "/summary.json"));
}

std::uint16_t free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  BOOST_REQUIRE(bind(fd, reinterpret_cast<const sockaddr*>(&address), size) == 0);
  BOOST_REQUIRE(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  close(fd);
  return ntohs(address.sin_port);
}

}  // namespace convoy::test
