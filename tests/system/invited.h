// An encrypted run and invitations to it, as people set them up.
#pragma once

#include <string>

#include "tests/system/world.h"

namespace convoy::test {

// `run.toml`: the small run, encrypted, with its Master at `listen`.
void set_up(const World& world, const std::string& listen);

// `<name>.toml`: a node file.
void invite(const World& world, const std::string& name, const std::string& roles);

}  // namespace convoy::test
