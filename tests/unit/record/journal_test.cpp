// The Master's journal: what must be known again after a restart.
#include "node/record/journal.h"

#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/record/support.h"

namespace convoy::record {
namespace {

BOOST_AUTO_TEST_CASE(terms_rise_over_restarts_and_the_run_stays_itself) {
  const TemporaryFolder folder;
  RunId run;
  {
    Journal journal = require(Journal::open(folder / "journal.sqlite"));
    run = journal.run();
    BOOST_TEST(require(journal.begin_term()) == 1u);
    BOOST_TEST(require(journal.begin_term()) == 2u);
  }
  Journal again = require(Journal::open(folder / "journal.sqlite"));
  BOOST_TEST(again.run() == run);
  BOOST_TEST(require(again.begin_term()) == 3u);
}

BOOST_AUTO_TEST_CASE(every_run_has_an_id_of_its_own) {
  const TemporaryFolder folder;
  const RunId a = require(Journal::open(folder / "a")).run();
  const RunId b = require(Journal::open(folder / "b")).run();
  BOOST_TEST(a != b);
  BOOST_TEST(a.value != 0u);
}

BOOST_AUTO_TEST_CASE(the_last_active_view_comes_back_with_its_ledger) {
  const TemporaryFolder folder;
  const ViewRecord second = view_record(7, 30, {0, 1, 5});
  const IntervalSet ledger{{0, 640}, {704, 768}};
  {
    Journal journal = require(Journal::open(folder / "journal.sqlite"));
    BOOST_TEST(!require(journal.last_active()).has_value());
    require(journal.record_active({view_record(2, 0, {0}), {}, {}}));
    require(journal.record_active({second, ledger, {}}));
  }
  Journal journal = require(Journal::open(folder / "journal.sqlite"));
  const auto last = require(journal.last_active());
  BOOST_REQUIRE(last.has_value());
  BOOST_TEST((last->record == second));
  BOOST_TEST(last->ledger == ledger);
  BOOST_TEST(require(journal.active_count()) == 2);
}

BOOST_AUTO_TEST_CASE(every_view_comes_back_in_order_to_a_reader) {
  const TemporaryFolder folder;
  ViewRecord third = view_record(1, 40, {0});
  third.view.term = 2;
  {
    Journal journal = require(Journal::open(folder / "journal.sqlite"));
    require(journal.record_active({view_record(2, 0, {0}), {}, {}}));
    require(journal.record_active({view_record(12, 30, {0, 1}), IntervalSet{{0, 640}}, {}}));
    require(journal.record_active({third, IntervalSet{{0, 700}}, {}}));
  }
  Journal journal = require(Journal::open_existing(folder / "journal.sqlite"));
  const std::vector<Journal::Active> views = require(journal.all_active());
  BOOST_REQUIRE(views.size() == 3u);
  BOOST_TEST((views[0].record.view == View{1, 2}));
  BOOST_TEST((views[1].record == view_record(12, 30, {0, 1})));
  BOOST_TEST((views[1].ledger == IntervalSet{{0, 640}}));
  BOOST_TEST((views[2].record == third));
  BOOST_TEST(!Journal::open_existing(folder / "none.sqlite").ok());
  BOOST_TEST(!std::filesystem::exists(folder / "none.sqlite"));
}

BOOST_AUTO_TEST_CASE(the_nodes_of_a_view_come_back) {
  const TemporaryFolder folder;
  Journal journal = require(Journal::open(folder / "journal.sqlite"));
  KnownNode worker{PeerId(0xffff'ffff'ffff'fff0ull),
                   RoleKind::kWorker,
                   "m\u00fcller \"1\"",
                   "alpha",
                   "cpu",
                   "",
                   "",
                   3,
                   Incarnation(65537),
                   1234.5};
  KnownNode server{PeerId(7), RoleKind::kServer, "p", "beta", "", "[::1]:4000", "key", 0, Incarnation(2), 0};
  require(journal.record_active({view_record(2, 0, {0}), {}, {worker, server}}));
  BOOST_TEST((require(journal.last_active())->nodes == std::vector<KnownNode>{worker, server}));
}

BOOST_AUTO_TEST_CASE(a_later_term_counts_more_than_more_attempts) {
  const TemporaryFolder folder;
  Journal journal = require(Journal::open(folder / "journal.sqlite"));
  require(journal.record_active({view_record(9, 0, {0}), {}, {}}));
  ViewRecord next = view_record(1, 3, {0, 1});
  next.view.term = 2;
  require(journal.record_active({next, IntervalSet{{0, 3}}, {}}));
  BOOST_TEST((require(journal.last_active())->record == next));
}

BOOST_AUTO_TEST_CASE(what_was_recorded_survives_a_process_that_ends_at_once) {
  const TemporaryFolder folder;
  const pid_t child = fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    auto journal = Journal::open(folder / "journal.sqlite");
    const bool done = journal.ok() && journal->begin_term().ok() &&
                      journal->record_active({view_record(4, 12, {0, 1}), IntervalSet{{0, 99}}, {}}).ok();
    _exit(done ? 0 : 1);  // nothing is closed or flushed
  }
  int status = 0;
  BOOST_REQUIRE(waitpid(child, &status, 0) == child);
  BOOST_REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  Journal journal = require(Journal::open(folder / "journal.sqlite"));
  BOOST_TEST(require(journal.begin_term()) == 2u);
  BOOST_TEST(require(journal.last_active())->ledger == (IntervalSet{{0, 99}}));
}

BOOST_AUTO_TEST_CASE(a_file_that_is_no_database_is_named_with_what_sqlite_says) {
  const TemporaryFolder folder;
  write_file(folder / "journal.sqlite", std::string(4096, 'x'));
  const auto journal = Journal::open(folder / "journal.sqlite");
  BOOST_REQUIRE(!journal.ok());
  BOOST_TEST((journal.error().code == ErrorCode::kCorrupt));
  BOOST_TEST(contains(journal.error().message, folder / "journal.sqlite"));
  BOOST_TEST(contains(journal.error().message, "not a database"));
}

BOOST_AUTO_TEST_CASE(another_programs_database_is_left_alone) {
  const TemporaryFolder folder;
  sqlite3* handle = nullptr;
  BOOST_REQUIRE(sqlite3_open((folder / "journal.sqlite").c_str(), &handle) == SQLITE_OK);
  BOOST_REQUIRE(sqlite3_exec(handle, "CREATE TABLE cats (name)", nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(handle);
  const std::string before = read_file(folder / "journal.sqlite");
  const auto journal = Journal::open(folder / "journal.sqlite");
  BOOST_REQUIRE(!journal.ok());
  BOOST_TEST(contains(journal.error().message, "not one that Convoy wrote"));
  BOOST_TEST((read_file(folder / "journal.sqlite") == before));
}

BOOST_AUTO_TEST_CASE(a_place_that_cannot_be_written_is_an_error_with_its_path) {
  const TemporaryFolder folder;
  const auto journal = Journal::open(folder / "no/such/folder.sqlite");
  BOOST_REQUIRE(!journal.ok());
  BOOST_TEST((journal.error().code == ErrorCode::kIo));
  BOOST_TEST(contains(journal.error().message, folder / "no/such/folder.sqlite"));
}

// Behind the back of a journal.
void damage(const std::string& path, const std::string& sql) {
  sqlite3* handle = nullptr;
  BOOST_REQUIRE(sqlite3_open(path.c_str(), &handle) == SQLITE_OK);
  BOOST_REQUIRE(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(handle);
}

BOOST_AUTO_TEST_CASE(a_damaged_record_is_an_error_and_no_view) {
  const TemporaryFolder folder;
  Journal journal = require(Journal::open(folder / "journal.sqlite"));
  require(journal.record_active({view_record(2, 0, {0}), {}, {}}));
  damage(folder / "journal.sqlite", "UPDATE views SET record = x'00ff'");
  const auto last = journal.last_active();
  BOOST_REQUIRE(!last.ok());
  BOOST_TEST((last.error().code == ErrorCode::kCorrupt));
  const auto all = journal.all_active();
  BOOST_REQUIRE(!all.ok());
  BOOST_TEST(contains(all.error().message, "the record of v1.2 cannot be read"));
}

BOOST_AUTO_TEST_CASE(the_record_of_another_view_is_an_error) {
  for (const char* change : {"attempt = 3", "term = 2", "term = 4294967297"}) {
    const TemporaryFolder folder;
    Journal journal = require(Journal::open(folder / "journal.sqlite"));
    require(journal.record_active({view_record(2, 0, {0}), {}, {}}));
    damage(folder / "journal.sqlite", std::string("UPDATE views SET ") + change);
    const auto last = journal.last_active();
    BOOST_REQUIRE_MESSAGE(!last.ok(), change);
    BOOST_TEST((last.error().code == ErrorCode::kCorrupt));
    BOOST_TEST(contains(last.error().message, "is that of v1.2"));
  }
}

BOOST_AUTO_TEST_CASE(a_term_never_comes_twice_whatever_became_of_the_list_of_terms) {
  const TemporaryFolder folder;
  Journal journal = require(Journal::open(folder / "journal.sqlite"));
  for (std::uint32_t term = 1; term <= 3; ++term) BOOST_TEST(require(journal.begin_term()) == term);
  ViewRecord view = view_record(1, 0, {0});
  view.view.term = 3;
  require(journal.record_active({view, {}, {}}));
  damage(folder / "journal.sqlite", "DELETE FROM terms");
  BOOST_TEST(require(journal.begin_term()) == 4u);
  // Cut to 32 bits, these would begin again at 0 and 1.
  for (const char* last : {"4294967295", "4294967296"}) {
    damage(folder / "journal.sqlite",
           std::string("DELETE FROM terms; INSERT INTO terms VALUES (") + last + ")");
    const auto term = journal.begin_term();
    BOOST_REQUIRE_MESSAGE(!term.ok(), last);
    BOOST_TEST((term.error().code == ErrorCode::kCorrupt));
  }
  damage(folder / "journal.sqlite",
         "DELETE FROM terms; CREATE TRIGGER t BEFORE INSERT ON terms BEGIN SELECT RAISE(IGNORE); END");
  BOOST_TEST(!journal.begin_term().ok());
}

}  // namespace
}  // namespace convoy::record
