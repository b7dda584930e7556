// libFuzzer target: whatever became of a journal's file, a Master that is started again on it gets views,
// terms or an error. Input: a byte of which bit 0 tells how the rest is meant:
//
//   0   the bytes of the whole file
//   1   one row of a good file: term and attempt (a byte each), then record, ledger and nodes, each behind
//   its
//       length in two bytes, little-endian; so that what is behind SQLite's own checks is reached as well
#include <sqlite3.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>

#include "messages/base/check.h"
#include "node/record/journal.h"

namespace convoy::record {
namespace {

using Bytes = std::span<const std::uint8_t>;

// A folder in memory where there is one: each write of a journal waits for its disk.
class Place {
 public:
  Place() {
    const std::filesystem::path memory = "/dev/shm";
    const auto base = std::filesystem::exists(memory) ? memory : std::filesystem::temp_directory_path();
    std::string pattern = (base / "convoy-fuzz-XXXXXX").string();
    CONVOY_CHECK(mkdtemp(pattern.data()) != nullptr, "no folder");
    folder_ = pattern;
  }
  ~Place() { std::filesystem::remove_all(folder_); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  std::string file() const { return folder_ / "journal.sqlite"; }
  void hold(Bytes bytes) {
    for (const char* end : {"-wal", "-shm", "-journal"}) std::filesystem::remove(file() + end);
    std::ofstream out(file(), std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    CONVOY_CHECK(out.flush().good(), "cannot be written");
  }

 private:
  std::filesystem::path folder_;
};

// The bytes of a journal in which nothing is.
std::vector<std::uint8_t> empty_journal(Place& place) {
  place.hold({});
  CONVOY_CHECK(Journal::open(place.file()).ok(), "a new journal cannot be opened");
  std::ifstream in(place.file(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Bytes take(Bytes& input, std::size_t size) {
  const Bytes taken = input.first(std::min(size, input.size()));
  input = input.subspan(taken.size());
  return taken;
}

Bytes take_field(Bytes& input) {
  const Bytes length = take(input, 2);
  return take(input, length.size() < 2 ? 0 : length[0] | std::size_t{length[1]} << 8);
}

void put_row(const std::string& path, Bytes input) {
  sqlite3* database = nullptr;
  sqlite3_stmt* insert = nullptr;
  CONVOY_CHECK(sqlite3_open(path.c_str(), &database) == SQLITE_OK, sqlite3_errmsg(database));
  sqlite3_exec(database, "PRAGMA synchronous = OFF", nullptr, nullptr, nullptr);
  CONVOY_CHECK(sqlite3_prepare_v2(database, "INSERT INTO views VALUES (?1, ?2, ?3, ?4, ?5)", -1, &insert,
                                  nullptr) == SQLITE_OK,
               sqlite3_errmsg(database));
  const Bytes view = take(input, 2);
  for (int i = 0; i < 2; ++i)
    sqlite3_bind_int64(insert, i + 1, view.size() < 2 ? 0 : view[static_cast<std::size_t>(i)]);
  const Bytes record = take_field(input);
  const Bytes ledger = take_field(input);
  const Bytes nodes = take_field(input);
  sqlite3_bind_blob64(insert, 3, record.data(), record.size(), SQLITE_STATIC);
  sqlite3_bind_text64(insert, 4, reinterpret_cast<const char*>(ledger.data()), ledger.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
  sqlite3_bind_text64(insert, 5, reinterpret_cast<const char*>(nodes.data()), nodes.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
  sqlite3_step(insert);
  sqlite3_finalize(insert);
  sqlite3_close(database);
}

template <class T>
void check_words(const Result<T>& got) {
  CONVOY_CHECK(got.ok() || !got.error().message.empty(), "a refusal without words");
}

void read_as_people_do(const std::string& path) {
  auto journal = Journal::open_existing(path);
  check_words(journal);
  if (!journal) return;
  check_words(journal->all_active());
  check_words(journal->active_count());
}

void start_a_master(const std::string& path) {
  auto journal = Journal::open(path);
  check_words(journal);
  if (!journal) return;
  const auto last = journal->last_active();
  check_words(last);
  if (!last) return;
  const auto term = journal->begin_term();
  check_words(term);
  if (!term) return;
  Journal::Active next = last->value_or(Journal::Active{});
  CONVOY_CHECK(!*last || (*last)->record.view.term < *term, "a term that was used before: ", *term);
  next.record.view = View{*term, 1};
  check_words(journal->record_active(next));
}

}  // namespace
}  // namespace convoy::record

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convoy::record;
  static Place place;
  static const std::vector<std::uint8_t> empty = empty_journal(place);
  if (size == 0) return 0;
  const Bytes rest(data + 1, size - 1);
  if ((data[0] & 1) == 0) {
    place.hold(rest);
  } else {
    place.hold(empty);
    put_row(place.file(), rest);
  }
  read_as_people_do(place.file());
  start_a_master(place.file());
  return 0;
}
