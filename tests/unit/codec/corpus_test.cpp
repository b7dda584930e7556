#include <array>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "messages/codec/codec.h"
#include "tests/fuzz/codec_input.h"
#include "tests/unit/codec/random_messages.h"

namespace convoy {
namespace {

// A schema change that leaves the seeds behind would leave the fuzzer with nothing to start from:
// build/<preset>/tests/fuzz/codec_seeds makes new ones.
BOOST_AUTO_TEST_CASE(every_fuzz_seed_is_a_message_and_every_kind_has_one) {
  std::array<bool, testing::kMessageKinds> seen{};
  for (const auto& entry :
       std::filesystem::directory_iterator(CONVOY_SOURCE_DIR "/tests/fuzz/corpus/codec")) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const auto decoded = decode(testing::parse_codec_input(std::as_bytes(std::span(bytes))));
    BOOST_TEST_CONTEXT(entry.path().filename()) {
      BOOST_REQUIRE_EQUAL(decoded.ok() ? "" : decoded.error().message, "");
      seen[decoded->envelope.message.index()] = true;
    }
  }
  for (std::size_t kind = 0; kind < seen.size(); ++kind) BOOST_TEST(seen[kind], "no seed of kind " << kind);
}

}  // namespace
}  // namespace convoy
