#include "tests/system/world.h"

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

}  // namespace convoy::test
