#include <array>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <variant>

#include "messages/codec/codec.h"
#include "tests/fuzz/codec_input.h"
#include "tests/unit/codec/random_messages.h"

namespace convoy {
namespace {

// A schema change that leaves the seeds behind would leave the fuzzer with nothing to start from:
// build/<preset>/tests/fuzz/codec_seeds makes new ones.
BOOST_AUTO_TEST_CASE(every_fuzz_seed_is_a_message_and_every_kind_has_one) {
  std::array<bool, testing::kMessageKinds> seen{};
  std::array<bool, testing::kStreamEntries> seen_entry{};
  for (const auto& entry :
       std::filesystem::directory_iterator(CONVOY_SOURCE_DIR "/tests/fuzz/corpus/codec")) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const auto decoded = decode(testing::parse_codec_input(std::as_bytes(std::span(bytes))));
    BOOST_TEST_CONTEXT(entry.path().filename()) {
      BOOST_REQUIRE_EQUAL(decoded.ok() ? "" : decoded.error().message, "");
      seen[decoded->envelope.message.index()] = true;
      if (const auto* replicate = std::get_if<Replicate>(&decoded->envelope.message))
        seen_entry[replicate->entry.index()] = true;
    }
  }
  for (std::size_t kind = 0; kind < seen.size(); ++kind) BOOST_TEST(seen[kind], "no seed of kind " << kind);
  for (std::size_t entry = 0; entry < seen_entry.size(); ++entry)
    BOOST_TEST(seen_entry[entry], "no seed of entry " << entry);
}

}  // namespace
}  // namespace convoy
