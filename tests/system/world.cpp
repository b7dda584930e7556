#include "tests/system/world.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace convoy::test {
namespace {

constexpr int kSide = 12;
constexpr int kClasses = 10;

void put_big_endian(std::ofstream& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.put(static_cast<char>(value >> shift & 0xff));
}

}  // namespace

World::World(int train, int test) {
  std::string name = (std::filesystem::temp_directory_path() / "convoy-system-XXXXXX").string();
  BOOST_REQUIRE(mkdtemp(name.data()) != nullptr);
  folder_ = name;
  std::filesystem::create_directory(path("set"));
  write_split("train", train);
  write_split("t10k", test);
  write("small.toml",
        "model.name = \"tiny-cnn\"\n"
        "data = { format = \"idx\", dir = \"set\" }\n"
        "train = { epochs = 2, batch = 16, lr = 0.02, momentum = 0.9 }\n"
        "cluster.failure_timeout_s = 2\n"
        "local.w_slave = [{}, {}]\n"
        "local.p_slave = [{}, {}]\n");
}

World::~World() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

// A bright row for each class, in noise.
void World::write_split(const std::string& split, int count) const {
  std::ofstream images(path("set/" + split + "-images-idx3-ubyte"), std::ios::binary);
  std::ofstream labels(path("set/" + split + "-labels-idx1-ubyte"), std::ios::binary);
  put_big_endian(images, 0x803);
  put_big_endian(images, static_cast<std::uint32_t>(count));
  put_big_endian(images, kSide);
  put_big_endian(images, kSide);
  put_big_endian(labels, 0x801);
  put_big_endian(labels, static_cast<std::uint32_t>(count));
  std::mt19937 noise(static_cast<unsigned>(count));
  for (int i = 0; i < count; ++i) {
    const int label = i % kClasses;
    labels.put(static_cast<char>(label));
    for (int p = 0; p < kSide * kSide; ++p) {
      images.put(static_cast<char>(noise() % 64 + (p / kSide == label ? 128 : 0)));
    }
  }
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
