#include "node/record/journal.h"

#include <limits>
#include <random>

#include "messages/base/check.h"
#include "messages/codec/codec.h"
#include "node/record/database.h"
#include "node/record/interval_text.h"
#include "node/record/json_text.h"
#include "node/record/text.h"

namespace convoy::record {
namespace {

constexpr std::int32_t kJournalKind = 0x43'56'4a'32;  // "CVJ2"

constexpr const char* kSchema = R"(
  CREATE TABLE run (id INTEGER NOT NULL);
  CREATE TABLE terms (term INTEGER PRIMARY KEY);
  CREATE TABLE views (term INTEGER NOT NULL, attempt INTEGER NOT NULL, record BLOB NOT NULL, ledger TEXT NOT NULL,
                      nodes TEXT NOT NULL,  -- JSON: who the record's peers are
                      PRIMARY KEY (term, attempt)) WITHOUT ROWID;
)";

std::uint64_t draw_run_id() {
  std::random_device device;
  std::uint64_t id = 0;
  while (id == 0) id = (std::uint64_t{device()} << 32) | device();
  return id;
}

std::string nodes_text(const std::vector<KnownNode>& nodes) {
  Json json = Json::array();
  for (const KnownNode& n : nodes) {
    json.push_back({{"peer", n.peer.value},
                    {"p_slave", n.role == RoleKind::kServer},
                    {"name", n.name},
                    {"host", n.host},
                    {"device", n.device},
                    {"address", n.address},
                    {"public_key", n.public_key},
                    {"id", n.id},
                    {"incarnation", n.incarnation.value},
                    {"samples_per_s", n.samples_per_s}});
  }
  return dump(json);
}

// None: not what nodes_text() writes.
std::optional<std::vector<KnownNode>> parse_nodes(std::string_view text) {
  std::vector<KnownNode> nodes;
  try {
    for (const Json& json : Json::parse(text)) {
      KnownNode n;
      n.peer = PeerId(json.at("peer").get<std::uint64_t>());
      n.role = json.at("p_slave").get<bool>() ? RoleKind::kServer : RoleKind::kWorker;
      n.name = json.at("name").get<std::string>();
      n.host = json.at("host").get<std::string>();
      n.device = json.at("device").get<std::string>();
      n.address = json.at("address").get<std::string>();
      n.public_key = json.at("public_key").get<std::string>();
      n.id = json.at("id").get<std::uint32_t>();
      n.incarnation = Incarnation(json.at("incarnation").get<std::uint32_t>());
      n.samples_per_s = json.at("samples_per_s").get<double>();
      nodes.push_back(std::move(n));
    }
  } catch (const Json::exception&) {
    return std::nullopt;
  }
  return nodes;
}

// REQUIRES: a row of (term, attempt, record, ledger, nodes).
Result<Journal::Active> read_active(const Database& database, const Statement& row) {
  const std::string view = "v" + std::to_string(row.integer(0)) + "." + std::to_string(row.integer(1));
  auto record = decode_record(row.blob(2));
  if (!record)
    return database.corrupt("the record of " + view + " cannot be read: " + record.error().message);
  if (std::int64_t{record->view.term} != row.integer(0) ||
      std::int64_t{record->view.attempt} != row.integer(1))
    return database.corrupt("the record of " + view + " is that of " + in_words(record->view));
  auto ledger = parse_intervals(row.text(3));
  if (!ledger)
    return database.corrupt("the ledger of " + view + " cannot be read: " + ledger.error().message);
  auto nodes = parse_nodes(row.text(4));
  if (!nodes) return database.corrupt("the nodes of " + view + " cannot be read");
  return Journal::Active{std::move(*record), std::move(*ledger), std::move(*nodes)};
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
  return read_run(std::move(*database));
}

Result<Journal> Journal::open_existing(const std::string& path) {
  auto database = Database::open_existing(path, kJournalKind);
  if (!database) return database.error();
  return read_run(std::move(*database));
}

Result<Journal> Journal::read_run(std::unique_ptr<Database> database) {
  std::int64_t id = 0;
  {
    auto select = database->prepare("SELECT id FROM run", "read the run's id");
    if (!select) return select.error();
    auto row = select->step();
    if (!row) return row.error();
    if (!*row) return database->corrupt("holds no run id");
    id = select->integer(0);
  }
  return Journal(std::move(database), RunId(static_cast<std::uint64_t>(id)));
}

Result<std::uint32_t> Journal::begin_term() {
  // Views count as well, so that a damaged list of terms lets none come twice.
  auto insert = database_->prepare(
      "INSERT INTO terms SELECT coalesce(max(term), 0) + 1 FROM (SELECT term FROM terms UNION ALL "
      "SELECT term FROM views) RETURNING term",
      "journal a new term");
  if (!insert) return insert.error();
  auto row = insert->step();
  if (!row) return row.error();
  if (!*row) return database_->corrupt("keeps no new term");
  const std::int64_t term = insert->integer(0);
  if (term < 1 || term > std::numeric_limits<std::uint32_t>::max())
    return database_->corrupt("its last term, " + std::to_string(term - 1) + ", is none");
  // The row is durable with the end of the statement, not before.
  auto end = insert->step();
  if (!end) return end.error();
  return static_cast<std::uint32_t>(term);
}

Result<void> Journal::record_active(const Active& active) {
  const auto& [record, ledger, nodes] = active;
  auto last = last_active();
  if (!last) return last.error();
  CONVOY_CHECK(!*last || record.view > (*last)->record.view, record.view, " after ", (*last)->record.view);
  auto insert = database_->prepare("INSERT INTO views VALUES (?1, ?2, ?3, ?4, ?5)", "journal a view");
  if (!insert) return insert.error();
  const Frame bytes = encode_record(record);
  insert->bind(1, std::int64_t{record.view.term}).bind(2, std::int64_t{record.view.attempt});
  insert->bind(3, bytes.bytes()).bind(4, std::string_view(to_text(ledger)));
  insert->bind(5, std::string_view(nodes_text(nodes)));
  return insert->run();
}

Result<std::optional<Journal::Active>> Journal::last_active() {
  auto select = database_->prepare(
      "SELECT term, attempt, record, ledger, nodes FROM views ORDER BY term DESC, attempt DESC LIMIT 1",
      "read the last view");
  if (!select) return select.error();
  auto row = select->step();
  if (!row) return row.error();
  if (!*row) return std::optional<Active>();
  auto active = read_active(*database_, *select);
  if (!active) return active.error();
  return std::optional<Active>(std::move(*active));
}

Result<std::vector<Journal::Active>> Journal::all_active() {
  auto select = database_->prepare(
      "SELECT term, attempt, record, ledger, nodes FROM views ORDER BY term, attempt", "read the views");
  if (!select) return select.error();
  std::vector<Active> views;
  for (;;) {
    auto row = select->step();
    if (!row) return row.error();
    if (!*row) return views;
    auto active = read_active(*database_, *select);
    if (!active) return active.error();
    views.push_back(std::move(*active));
  }
}

Result<std::int64_t> Journal::active_count() {
  auto select = database_->prepare("SELECT count(*) FROM views", "count the views");
  if (!select) return select.error();
  auto row = select->step();
  if (!row) return row.error();
  return select->integer(0);
}

}  // namespace convoy::record
