// Writes the seed corpus of fuzz_codec: two messages of each kind, from encode(). Run it after a change of
// the schema, and commit what it wrote. Usage: codec_seeds FOLDER
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "messages/codec/codec.h"
#include "tests/fuzz/codec_input.h"
#include "tests/unit/codec/random_messages.h"

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
      const auto bytes = testing::make_codec_input(encode(envelope, random.run()), kind % 4 * 2);
      const std::string name = std::string(name_of(envelope.message)) + "-" + std::to_string(size);
      std::ofstream file(folder / name, std::ios::binary);
      file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
      if (!file.flush()) {
        std::fprintf(stderr, "%s cannot be written\n", (folder / name).c_str());
        return 1;
      }
    }
  }
  return 0;
}
