// `convoy verify`: holds the P-slaves' logs of what was trained against the data set, independently of leases
// and ledger. Every position of the run must stand exactly once in every log, with the digest that the data
// set's permutation gives, and all logs must tell the same.
//
// Pure but for reading files; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/base/result.h"
#include "node/record/commit_log.h"
#include "node/record/run_dir.h"

namespace convoy::record {

struct VerifyReport {
  struct Epoch {
    std::int64_t epoch = 0;
    std::int64_t samples = 0;     // distinct positions in the log
    std::int64_t lost = 0;        // positions that should be there and are not
    std::int64_t duplicated = 0;  // times that a position is there beyond the first
    bool digest_ok = true;        // of every entry that touches the epoch
  };
  struct Server {
    ServerId id;
    std::int64_t entries = 0;
    std::vector<Epoch> epochs;
  };
  std::int64_t sample_count = 0;
  std::int64_t end_position = 0;
  std::vector<Epoch> epochs;  // the worst of all P-slaves
  std::vector<Server> servers;
  std::vector<std::string> problems;  // sentences; the first of each kind, with a count of the rest
  bool ok = false;
};

// Pure part. Positions of the run are [0, end_position).
VerifyReport verify_logs(const CommitLogs& logs, std::int64_t sample_count, std::int64_t end_position,
                         std::uint64_t seed);

// Reads the run's options, its data set (from `data_dir`/<name> when given) and its logs.
Result<VerifyReport> verify_run(const RunPaths& paths, const std::string& data_dir = {});

std::string verify_json(const VerifyReport& report);
std::string verify_text(const VerifyReport& report);

}  // namespace convoy::record
