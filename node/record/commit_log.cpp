#include "node/record/commit_log.h"

#include "node/record/database.h"
#include "node/record/interval_text.h"
#include "node/record/text.h"

namespace convoy::record {
namespace {

constexpr std::int32_t kCommitsKind = 0x43'56'43'32;  // "CVC2"

constexpr const char* kSchema = R"(
  CREATE TABLE entries (
    server INTEGER NOT NULL,       -- P-slave whose log this is,
    server_life INTEGER NOT NULL,  -- and in which life
    sequence INTEGER NOT NULL,     -- place in that log
    member INTEGER NOT NULL,
    member_life INTEGER NOT NULL,
    clock INTEGER NOT NULL,
    trained TEXT NOT NULL,         -- positions, "0-64,128-192", ends exclusive
    digest INTEGER NOT NULL,
    loss_sum REAL,
    correct INTEGER NOT NULL,
    staleness INTEGER NOT NULL,
    delay INTEGER NOT NULL,
    PRIMARY KEY (server, server_life, sequence)) WITHOUT ROWID;
  CREATE TABLE ends (
    server INTEGER NOT NULL,
    server_life INTEGER NOT NULL,
    gracefully INTEGER NOT NULL,   -- 1: it left, 0: it was lost
    PRIMARY KEY (server, server_life)) WITHOUT ROWID;
)";

ServerKey server_at(const Statement& row, int column) {
  return {ServerId(static_cast<std::uint32_t>(row.integer(column))),
          Incarnation(static_cast<std::uint32_t>(row.integer(column + 1)))};
}

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

Result<void> CommitLogStore::append(ServerKey server, std::span<const CommitLogEntry> entries) {
  if (entries.empty()) return {};
  Database::Transaction transaction(*database_);
  if (auto begun = transaction.begin(); !begun) return begun;
  auto count = database_->prepare(
      "SELECT coalesce(max(sequence) + 1, 0) FROM entries WHERE server = ?1 AND server_life = ?2",
      "read the log of trained positions");
  if (!count) return count.error();
  count->bind(1, std::int64_t{server.id.value}).bind(2, std::int64_t{server.incarnation.value});
  auto row = count->step();
  if (!row) return row.error();
  std::int64_t sequence = count->integer(0);
  auto insert =
      database_->prepare("INSERT INTO entries VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
                         "write the log of trained positions");
  if (!insert) return insert.error();
  for (const CommitLogEntry& e : entries) {
    insert->bind(1, std::int64_t{server.id.value}).bind(2, std::int64_t{server.incarnation.value});
    insert->bind(3, sequence++);
    insert->bind(4, std::int64_t{e.member.id.value}).bind(5, std::int64_t{e.member.incarnation.value});
    insert->bind(6, e.clock.value).bind(7, std::string_view(to_text(e.trained)));
    insert->bind(8, static_cast<std::int64_t>(e.digest)).bind(9, e.loss_sum).bind(10, e.correct);
    insert->bind(11, e.staleness).bind(12, e.delay);
    if (auto done = insert->run(); !done) return done;
  }
  return transaction.commit();
}

Result<void> CommitLogStore::record_end(ServerKey server, ServerEnd end) {
  auto insert =
      database_->prepare("INSERT OR REPLACE INTO ends VALUES (?1, ?2, ?3)", "write down a P-slave's end");
  if (!insert) return insert.error();
  insert->bind(1, std::int64_t{server.id.value}).bind(2, std::int64_t{server.incarnation.value});
  insert->bind(3, std::int64_t{end == ServerEnd::kLeft ? 1 : 0});
  return insert->run();
}

Result<std::map<ServerKey, std::uint64_t>> CommitLogStore::counts() {
  auto select =
      database_->prepare("SELECT server, server_life, count(*) FROM entries GROUP BY server, server_life",
                         "count the logs of trained positions");
  if (!select) return select.error();
  std::map<ServerKey, std::uint64_t> counts;
  for (;;) {
    auto row = select->step();
    if (!row) return row.error();
    if (!*row) return counts;
    counts[server_at(*select, 0)] = static_cast<std::uint64_t>(select->integer(2));
  }
}

Result<ServerEnds> CommitLogStore::read_ends() {
  auto select =
      database_->prepare("SELECT server, server_life, gracefully FROM ends", "read how P-slaves ended");
  if (!select) return select.error();
  ServerEnds ends;
  for (;;) {
    auto row = select->step();
    if (!row) return row.error();
    if (!*row) return ends;
    ends[server_at(*select, 0)] = select->integer(2) == 1 ? ServerEnd::kLeft : ServerEnd::kLost;
  }
}

Result<CommitLogs> CommitLogStore::read_all() {
  auto select = database_->prepare(
      "SELECT server, server_life, sequence, member, member_life, clock, trained, digest, loss_sum, correct, "
      "staleness, delay FROM entries ORDER BY server, server_life, sequence",
      "read the log of trained positions");
  if (!select) return select.error();
  CommitLogs logs;
  for (;;) {
    auto row = select->step();
    if (!row) return row.error();
    if (!*row) return logs;
    const auto where = [&] {
      return "entry " + std::to_string(select->integer(2)) + " of " + in_words(server_at(*select, 0));
    };
    auto trained = parse_intervals(select->text(6));
    if (!trained) return database_->corrupt(where() + ": " + trained.error().message);
    CommitLogEntry e;
    e.member = {MemberId(static_cast<std::uint32_t>(select->integer(3))),
                Incarnation(static_cast<std::uint32_t>(select->integer(4)))};
    e.clock = Clock(select->integer(5));
    e.trained = std::move(*trained);
    e.digest = static_cast<std::uint64_t>(select->integer(7));
    e.loss_sum = select->real(8);
    e.correct = select->integer(9);
    e.staleness = select->integer(10);
    e.delay = select->integer(11);
    logs[server_at(*select, 0)].push_back(std::move(e));
  }
}

Result<CommitHistograms> CommitLogStore::histograms() {
  CommitHistograms histograms;
  const auto fill = [&](const std::string& column, std::vector<std::int64_t>& bins) -> Result<void> {
    auto select = database_->prepare("SELECT v, count(*) FROM (SELECT max(" + column +
                                         ") AS v FROM entries GROUP BY member, member_life, clock) "
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
