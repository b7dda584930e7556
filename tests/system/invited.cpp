#include "tests/system/invited.h"

#include <boost/test/unit_test.hpp>

#include "tests/system/process.h"

namespace convoy::test {

void set_up(const World& world, const std::string& listen) {
  BOOST_REQUIRE(run(world.folder(), {"keygen", "master.key"}).status == 0);
  world.write("run.toml", world.read("small.toml") + "run.name = \"small\"\ncluster.listen = \"" + listen +
                              "\"\nsecurity = { secret_key_file = \"master.key\", allowed_keys_file = "
                              "\"allowed.txt\" }\n");
}

void invite(const World& world, const std::string& name, const std::string& roles) {
  const Finished done =
      run(world.folder(), {"invite", "run.toml", name + ".toml", "--name", name, "--roles", roles});
  BOOST_REQUIRE_MESSAGE(done.status == 0, done.err);
}

}  // namespace convoy::test
