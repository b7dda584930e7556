// The store of the P-slaves' logs.
#include "node/record/commit_log.h"

#include <sqlite3.h>

#include <cmath>
#include <limits>

#include "node/record/interval_text.h"
#include "tests/unit/record/support.h"

namespace convoy::record {
namespace {

constexpr ServerKey kZero{ServerId(0), Incarnation(1)};
constexpr ServerKey kOne{ServerId(1), Incarnation(1)};
constexpr ServerKey kTwo{ServerId(2), Incarnation(3)};

BOOST_AUTO_TEST_CASE(entries_come_back_as_they_were_in_each_log_s_order) {
  const TemporaryFolder folder;
  CommitLogEntry full = entry(3, 17, 128, 192, 100, 1.25);
  full.trained.insert({256, 260});
  full.digest = 0xffff'ffff'ffff'fff0ull;
  full.member.incarnation = Incarnation(9);
  full.correct = 60;
  full.staleness = 4;
  full.delay = 11;
  CommitLogEntry diverged = entry(1, 0, 0, 64, 100, std::numeric_limits<double>::infinity());
  const std::vector<CommitLogEntry> first = {full, diverged};
  const std::vector<CommitLogEntry> second = {diverged};
  const std::vector<CommitLogEntry> more = {entry(3, 18, 64, 128, 100)};
  {
    CommitLogStore store = require(CommitLogStore::open(folder / "commits.sqlite"));
    require(store.append(kZero, first));
    require(store.append(kTwo, second));
    require(store.append(kZero, {}));
  }
  CommitLogStore store = require(CommitLogStore::open(folder / "commits.sqlite"));
  require(store.append(kZero, more));
  const CommitLogs logs = require(store.read_all());
  BOOST_REQUIRE(logs.size() == 2u);
  BOOST_TEST((logs.at(kZero) == std::vector<CommitLogEntry>{full, diverged, more[0]}));
  BOOST_TEST((logs.at(kTwo) == second));
}

BOOST_AUTO_TEST_CASE(each_life_of_a_p_slave_has_a_log_of_its_own) {
  const TemporaryFolder folder;
  CommitLogStore store = require(CommitLogStore::open(folder / "commits.sqlite"));
  const std::vector<CommitLogEntry> first = {entry(0, 0, 0, 4, 10), entry(0, 1, 4, 8, 10)};
  const std::vector<CommitLogEntry> second = {entry(0, 2, 8, 12, 10)};
  const ServerKey again{kOne.id, Incarnation(2)};
  require(store.append(kOne, first));
  require(store.append(again, second));
  const CommitLogs logs = require(store.read_all());
  BOOST_REQUIRE(logs.size() == 2u);
  BOOST_TEST((logs.at(kOne) == first));
  BOOST_TEST((logs.at(again) == second));
  BOOST_TEST((require(store.counts()) == std::map<ServerKey, std::uint64_t>{{kOne, 2}, {again, 1}}));
}

BOOST_AUTO_TEST_CASE(how_a_life_ended_is_kept) {
  const TemporaryFolder folder;
  {
    CommitLogStore store = require(CommitLogStore::open(folder / "commits.sqlite"));
    BOOST_TEST(require(store.read_ends()).empty());
    require(store.record_end(kOne, ServerEnd::kLost));
    require(store.record_end(kTwo, ServerEnd::kLeft));
    require(store.record_end(kTwo, ServerEnd::kLeft));  // told twice
  }
  CommitLogStore store = require(CommitLogStore::open_existing(folder / "commits.sqlite"));
  const ServerEnds ends = require(store.read_ends());
  BOOST_TEST((ends == ServerEnds{{kOne, ServerEnd::kLost}, {kTwo, ServerEnd::kLeft}}));
}

BOOST_AUTO_TEST_CASE(a_loss_that_is_no_number_stays_none) {
  const TemporaryFolder folder;
  CommitLogStore store = require(CommitLogStore::open(folder / "commits.sqlite"));
  const std::vector<CommitLogEntry> entries = {entry(0, 0, 0, 4, 10, std::nan(""))};
  require(store.append(kZero, entries));
  BOOST_TEST(std::isnan(require(store.read_all()).at(kZero).front().loss_sum));
}

BOOST_AUTO_TEST_CASE(histograms_count_each_update_once_with_its_largest_value) {
  const TemporaryFolder folder;
  CommitLogStore store = require(CommitLogStore::open(folder / "commits.sqlite"));
  const auto log = [](const std::vector<std::int64_t>& staleness) {
    std::vector<CommitLogEntry> entries;
    for (const std::int64_t s : staleness) {
      const auto clock = static_cast<std::int64_t>(entries.size());
      entries.push_back(entry(0, clock, clock * 4, clock * 4 + 4, 100));
      entries.back().staleness = s;
      entries.back().delay = 2 * s;
    }
    return entries;
  };
  require(store.append(kZero, log({0, 1, 3})));
  require(store.append(kOne, log({0, 2, 2})));
  const CommitHistograms h = require(store.histograms());
  BOOST_TEST(h.staleness == (std::vector<std::int64_t>{1, 0, 1, 1}), boost::test_tools::per_element());
  BOOST_TEST(h.delay == (std::vector<std::int64_t>{1, 0, 0, 0, 1, 0, 1}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_value_beyond_reason_costs_no_memory) {
  const TemporaryFolder folder;
  CommitLogStore store = require(CommitLogStore::open(folder / "commits.sqlite"));
  std::vector<CommitLogEntry> entries = {entry(0, 0, 0, 4, 10)};
  entries[0].staleness = std::numeric_limits<std::int64_t>::max();
  entries[0].delay = -5;
  require(store.append(kZero, entries));
  const CommitHistograms h = require(store.histograms());
  BOOST_TEST(h.staleness.size() <= 65536u);
  BOOST_TEST(h.staleness.back() == 1);
  BOOST_TEST(h.delay.empty());
}

BOOST_AUTO_TEST_CASE(reading_wants_a_log_that_is_there) {
  const TemporaryFolder folder;
  const auto store = CommitLogStore::open_existing(folder / "commits.sqlite");
  BOOST_REQUIRE(!store.ok());
  BOOST_TEST(contains(store.error().message, folder / "commits.sqlite"));
  BOOST_TEST(!std::filesystem::exists(folder / "commits.sqlite"));
}

BOOST_AUTO_TEST_CASE(a_log_can_be_read_while_it_is_written) {
  const TemporaryFolder folder;
  CommitLogStore writer = require(CommitLogStore::open(folder / "commits.sqlite"));
  const std::vector<CommitLogEntry> entries = {entry(0, 0, 0, 4, 10)};
  require(writer.append(kZero, entries));
  CommitLogStore reader = require(CommitLogStore::open_existing(folder / "commits.sqlite"));
  BOOST_TEST((require(reader.read_all()).at(kZero) == entries));
}

BOOST_AUTO_TEST_CASE(an_entry_that_cannot_be_read_is_named) {
  const TemporaryFolder folder;
  {
    CommitLogStore store = require(CommitLogStore::open(folder / "commits.sqlite"));
    const std::vector<CommitLogEntry> entries = {entry(0, 0, 0, 4, 10), entry(0, 1, 4, 8, 10)};
    require(store.append(kTwo, entries));
  }
  sqlite3* handle = nullptr;
  BOOST_REQUIRE(sqlite3_open((folder / "commits.sqlite").c_str(), &handle) == SQLITE_OK);
  const char* damage = "UPDATE entries SET trained = '8-4' WHERE sequence = 1";
  BOOST_REQUIRE(sqlite3_exec(handle, damage, nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(handle);
  CommitLogStore store = require(CommitLogStore::open_existing(folder / "commits.sqlite"));
  const auto logs = store.read_all();
  BOOST_REQUIRE(!logs.ok());
  BOOST_TEST(contains(logs.error().message, "entry 1 of P-slave 2 (life 3)"));
}

BOOST_AUTO_TEST_CASE(sets_of_positions_survive_as_text) {
  for (const IntervalSet& set :
       {IntervalSet{}, IntervalSet{{0, 1}}, IntervalSet{{5, 64}, {70, 9'000'000'000'000}}})
    BOOST_TEST(require(parse_intervals(to_text(set))) == set);
  BOOST_TEST(to_text(IntervalSet{{0, 64}, {128, 192}}) == "0-64,128-192");
}

BOOST_AUTO_TEST_CASE(text_that_is_no_set_is_refused) {
  for (const char* text : {"x", "1", "1-", "-4", "4-4", "8-4", "0-4,", ",0-4", "0-4,4-8", "0-4,2-8", "0-4 ",
                           "-1-4", "0-99999999999999999999"})
    BOOST_TEST(!parse_intervals(text).ok(), text);
}

}  // namespace
}  // namespace convoy::record
