// Writes the seed corpus of fuzz_journal: files that a Master left, whole, and rows as fuzz_journal.cpp
// describes them. Run it after a change of the schema of views or of journals, and commit what it wrote.
// Usage: journal_seeds FOLDER
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "messages/codec/codec.h"
#include "node/record/journal.h"
#include "tests/unit/codec/random_messages.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

const std::string kNodes =
    R"([{"peer":7,"p_slave":true,"name":"p","host":"h","device":"","address":"[::1]:4000","public_key":"k",)"
    R"("id":0,"incarnation":2,"samples_per_s":1.5}])";

bool write_seed(const fs::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  return file.flush().good();
}

std::string length_of(const std::string& bytes) {
  return {static_cast<char>(bytes.size() & 0xff), static_cast<char>(bytes.size() >> 8)};
}

bool write_row(const fs::path& path, const ViewRecord& view, const std::string& ledger) {
  const Frame record = encode_record(view);
  const std::string bytes(reinterpret_cast<const char*>(record.data()), record.size());
  std::string seed = {'\x01', static_cast<char>(view.view.term), static_cast<char>(view.view.attempt)};
  for (const std::string& part : {bytes, ledger, kNodes}) seed += length_of(part) + part;
  return write_seed(path, seed);
}

bool write_file(const fs::path& path, const ViewRecord& view) {
  const fs::path made = path.string() + ".sqlite";
  {
    auto journal = record::Journal::open(made);
    if (!journal || !journal->begin_term() || !journal->record_active({view, IntervalSet{{0, 64}}, {}}))
      return false;
  }
  std::ifstream in(made, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  fs::remove(made);
  return write_seed(path, '\0' + bytes);
}

}  // namespace
}  // namespace convoy

int main(int argc, char** argv) {
  using namespace convoy;
  if (argc != 2) {
    std::fprintf(stderr, "usage: journal_seeds FOLDER\n");
    return 2;
  }
  const fs::path folder(argv[1]);
  testing::RandomMessages random(1);
  for (const std::size_t size : {1, 3}) {
    ViewRecord view = random.record(size);
    view.view = View{1, static_cast<std::uint32_t>(size)};
    const std::string end = "-" + std::to_string(size);
    if (!write_row(folder / ("row" + end), view, "0-64,128-192") ||
        !write_file(folder / ("file" + end), view)) {
      std::fprintf(stderr, "%s cannot be written\n", folder.c_str());
      return 1;
    }
  }
  return 0;
}
