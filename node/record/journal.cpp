#include "node/record/journal.h"

#include <random>

#include "messages/base/check.h"
#include "messages/codec/codec.h"
#include "node/record/database.h"
#include "node/record/interval_text.h"

namespace convoy::record {
namespace {

constexpr std::int32_t kJournalKind = 0x43'56'4a'31;  // "CVJ1"

constexpr const char* kSchema = R"(
  CREATE TABLE run (id INTEGER NOT NULL);
  CREATE TABLE terms (term INTEGER PRIMARY KEY);
  CREATE TABLE views (term INTEGER NOT NULL, attempt INTEGER NOT NULL, record BLOB NOT NULL, ledger TEXT NOT NULL,
                      PRIMARY KEY (term, attempt)) WITHOUT ROWID;
)";

std::uint64_t draw_run_id() {
  std::random_device device;
  std::uint64_t id = 0;
  while (id == 0) id = (std::uint64_t{device()} << 32) | device();
  return id;
}

}  // namespace

Journal::Journal(std::unique_ptr<Database> database, RunId run) : database_(std::move(database)), run_(run) {}
Journal::~Journal() = default;
Journal::Journal(Journal&&) noexcept = default;
Journal& Journal::operator=(Journal&&) noexcept = default;

Result<Journal> Journal::open(const std::string& path) {
  auto database = Database::open(path, Database::Durability::kPowerCut, kJournalKind, kSchema);
  if (!database) return database.error();
  Database& db = **database;
  auto insert =
      db.prepare("INSERT INTO run SELECT ?1 WHERE NOT EXISTS (SELECT * FROM run)", "keep the run's id");
  if (!insert) return insert.error();
  insert->bind(1, static_cast<std::int64_t>(draw_run_id()));
  if (auto done = insert->run(); !done) return done.error();
  auto select = db.prepare("SELECT id FROM run", "read the run's id");
  if (!select) return select.error();
  auto row = select->step();
  if (!row) return row.error();
  if (!*row) return db.corrupt("holds no run id");
  const RunId run(static_cast<std::uint64_t>(select->integer(0)));
  return Journal(std::move(*database), run);
}

Result<std::uint32_t> Journal::begin_term() {
  auto insert = database_->prepare(
      "INSERT INTO terms SELECT coalesce(max(term), 0) + 1 FROM terms RETURNING term", "journal a new term");
  if (!insert) return insert.error();
  auto row = insert->step();
  if (!row) return row.error();
  CONVOY_CHECK(*row);
  const std::int64_t term = insert->integer(0);
  // The row is durable with the end of the statement, not before.
  auto end = insert->step();
  if (!end) return end.error();
  return static_cast<std::uint32_t>(term);
}

Result<void> Journal::record_active(const ViewRecord& record, const IntervalSet& ledger) {
  auto last = last_active();
  if (!last) return last.error();
  CONVOY_CHECK(!*last || record.view > (*last)->record.view, record.view, " after ", (*last)->record.view);
  auto insert = database_->prepare("INSERT INTO views VALUES (?1, ?2, ?3, ?4)", "journal a view");
  if (!insert) return insert.error();
  const Frame bytes = encode_record(record);
  insert->bind(1, std::int64_t{record.view.term}).bind(2, std::int64_t{record.view.attempt});
  insert->bind(3, bytes.bytes()).bind(4, std::string_view(to_text(ledger)));
  return insert->run();
}

Result<std::optional<Journal::Active>> Journal::last_active() {
  auto select = database_->prepare(
      "SELECT record, ledger FROM views ORDER BY term DESC, attempt DESC LIMIT 1", "read the last view");
  if (!select) return select.error();
  auto row = select->step();
  if (!row) return row.error();
  if (!*row) return std::optional<Active>();
  auto record = decode_record(select->blob(0));
  if (!record) return database_->corrupt("the last view cannot be read: " + record.error().message);
  auto ledger = parse_intervals(select->text(1));
  if (!ledger) return database_->corrupt("the last ledger cannot be read: " + ledger.error().message);
  return std::optional<Active>(Active{std::move(*record), std::move(*ledger)});
}

Result<std::int64_t> Journal::active_count() {
  auto select = database_->prepare("SELECT count(*) FROM views", "count the views");
  if (!select) return select.error();
  auto row = select->step();
  if (!row) return row.error();
  return select->integer(0);
}

}  // namespace convoy::record
