#include "node/record/commit_log.h"

#include "node/record/database.h"
#include "node/record/interval_text.h"

namespace convoy::record {
namespace {

constexpr std::int32_t kCommitsKind = 0x43'56'43'31;  // "CVC1"

constexpr const char* kSchema = R"(
  CREATE TABLE entries (
    server INTEGER NOT NULL,       -- P-slave whose log this is
    sequence INTEGER NOT NULL,     -- place in that log
    member INTEGER NOT NULL,
    incarnation INTEGER NOT NULL,
    clock INTEGER NOT NULL,
    trained TEXT NOT NULL,         -- positions, "0-64,128-192", ends exclusive
    digest INTEGER NOT NULL,
    loss_sum REAL,
    correct INTEGER NOT NULL,
    staleness INTEGER NOT NULL,
    delay INTEGER NOT NULL,
    PRIMARY KEY (server, sequence)) WITHOUT ROWID;
)";

}  // namespace

CommitLogStore::CommitLogStore(std::unique_ptr<Database> database) : database_(std::move(database)) {}
CommitLogStore::~CommitLogStore() = default;
CommitLogStore::CommitLogStore(CommitLogStore&&) noexcept = default;
CommitLogStore& CommitLogStore::operator=(CommitLogStore&&) noexcept = default;

Result<CommitLogStore> CommitLogStore::open(const std::string& path) {
  auto database = Database::open(path, Database::Durability::kProcess, kCommitsKind, kSchema);
  if (!database) return database.error();
  return CommitLogStore(std::move(*database));
}

Result<CommitLogStore> CommitLogStore::open_existing(const std::string& path) {
  auto database = Database::open_existing(path, kCommitsKind);
  if (!database) return database.error();
  return CommitLogStore(std::move(*database));
}

Result<void> CommitLogStore::append(ServerId server, std::span<const CommitLogEntry> entries) {
  if (entries.empty()) return {};
  Database::Transaction transaction(*database_);
  if (auto begun = transaction.begin(); !begun) return begun;
  auto count = database_->prepare("SELECT coalesce(max(sequence) + 1, 0) FROM entries WHERE server = ?1",
                                  "read the log of trained positions");
  if (!count) return count.error();
  count->bind(1, std::int64_t{server.value});
  auto row = count->step();
  if (!row) return row.error();
  std::int64_t sequence = count->integer(0);
  auto insert =
      database_->prepare("INSERT INTO entries VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
                         "write the log of trained positions");
  if (!insert) return insert.error();
  for (const CommitLogEntry& e : entries) {
    insert->bind(1, std::int64_t{server.value}).bind(2, sequence++);
    insert->bind(3, std::int64_t{e.member.id.value}).bind(4, std::int64_t{e.member.incarnation.value});
    insert->bind(5, e.clock.value).bind(6, std::string_view(to_text(e.trained)));
    insert->bind(7, static_cast<std::int64_t>(e.digest)).bind(8, e.loss_sum).bind(9, e.correct);
    insert->bind(10, e.staleness).bind(11, e.delay);
    if (auto done = insert->run(); !done) return done;
  }
  return transaction.commit();
}

Result<CommitLogs> CommitLogStore::read_all() {
  auto select = database_->prepare(
      "SELECT server, sequence, member, incarnation, clock, trained, digest, loss_sum, correct, staleness, "
      "delay "
      "FROM entries ORDER BY server, sequence",
      "read the log of trained positions");
  if (!select) return select.error();
  CommitLogs logs;
  for (;;) {
    auto row = select->step();
    if (!row) return row.error();
    if (!*row) return logs;
    const auto where = [&] {
      return "entry " + std::to_string(select->integer(1)) + " of P-slave " +
             std::to_string(select->integer(0));
    };
    auto trained = parse_intervals(select->text(5));
    if (!trained) return database_->corrupt(where() + ": " + trained.error().message);
    CommitLogEntry e;
    e.member = {MemberId(static_cast<std::uint32_t>(select->integer(2))),
                Incarnation(static_cast<std::uint32_t>(select->integer(3)))};
    e.clock = Clock(select->integer(4));
    e.trained = std::move(*trained);
    e.digest = static_cast<std::uint64_t>(select->integer(6));
    e.loss_sum = select->real(7);
    e.correct = select->integer(8);
    e.staleness = select->integer(9);
    e.delay = select->integer(10);
    logs[ServerId(static_cast<std::uint32_t>(select->integer(0)))].push_back(std::move(e));
  }
}

Result<CommitHistograms> CommitLogStore::histograms() {
  CommitHistograms histograms;
  const auto fill = [&](const std::string& column, std::vector<std::int64_t>& bins) -> Result<void> {
    auto select = database_->prepare("SELECT v, count(*) FROM (SELECT max(" + column +
                                         ") AS v FROM entries GROUP BY member, incarnation, clock) "
                                         "WHERE v >= 0 GROUP BY v ORDER BY v",
                                     "read the log of trained positions");
    if (!select) return select.error();
    // What a P-slave says is not believed to the point of allocating by it.
    constexpr std::int64_t kBins = 1 << 16;
    for (;;) {
      auto row = select->step();
      if (!row) return row.error();
      if (!*row) return {};
      const std::int64_t bin = std::min(select->integer(0), kBins - 1);
      if (bin >= static_cast<std::int64_t>(bins.size())) bins.resize(static_cast<std::size_t>(bin) + 1);
      bins[static_cast<std::size_t>(bin)] += select->integer(1);
    }
  };
  if (auto filled = fill("staleness", histograms.staleness); !filled) return filled.error();
  if (auto filled = fill("delay", histograms.delay); !filled) return filled.error();
  return histograms;
}

}  // namespace convoy::record
