// What a system test plays in: a folder of its own with a small data set, a run file and a node file.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/folder.h"

namespace convoy::test {

class World {
 public:
  // A made-up data set of `train` and `test` samples, `side` x `side` grey, that a network can learn.
  explicit World(int train = 600, int test = 100, int side = 12);

  const std::string& folder() const { return folder_.path(); }
  std::string path(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, const std::string& text) const;
  std::string read(const std::string& name) const;
  nlohmann::json summary(const std::string& run = "small") const;

 private:
  TemporaryFolder folder_;
};

}  // namespace convoy::test
