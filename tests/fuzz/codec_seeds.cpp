// Writes the seed corpus of fuzz_codec: two messages of each kind, from encode(), and one of each kind of
// entry in a stream. Run it after a change of the schema, and commit what it wrote. Usage: codec_seeds FOLDER
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <variant>

#include "messages/codec/codec.h"
#include "tests/fuzz/codec_input.h"
#include "tests/unit/codec/random_messages.h"

namespace convoy {
namespace {

bool write_seed(const std::filesystem::path& path, const Envelope& envelope, RunId run, std::size_t offset) {
  const auto bytes = testing::make_codec_input(encode(envelope, run), offset);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) {
    std::fprintf(stderr, "%s cannot be written\n", path.c_str());
    return false;
  }
  return true;
}

// The first that is drawn with an entry of this kind.
Envelope replicated(std::size_t entry) {
  testing::RandomMessages random(entry);
  while (true) {
    Envelope envelope = random.envelope(testing::kReplicate, 3);
    if (std::get<Replicate>(envelope.message).entry.index() == entry) return envelope;
  }
}

}  // namespace
}  // namespace convoy

int main(int argc, char** argv) {
  using namespace convoy;
  if (argc != 2) {
    std::fprintf(stderr, "usage: codec_seeds FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder(argv[1]);
  for (std::size_t kind = 0; kind < testing::kMessageKinds; ++kind) {
    testing::RandomMessages random(kind);
    for (std::size_t size : {2, 4}) {
      const Envelope envelope = random.envelope(kind, size);
      // A few start misaligned.
      const std::string name = std::string(name_of(envelope.message)) + "-" + std::to_string(size);
      if (!write_seed(folder / name, envelope, random.run(), kind % 4 * 2)) return 1;
    }
  }
  for (std::size_t entry = 0; entry < testing::kStreamEntries; ++entry) {
    const std::string name = "Replicate-entry-" + std::to_string(entry);
    if (!write_seed(folder / name, replicated(entry), RunId(entry), 0)) return 1;
  }
  return 0;
}
