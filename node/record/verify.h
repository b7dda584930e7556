// `convoy verify`: holds the P-slaves' logs of what was trained against the data set, and against the
// Master's journal of who served when. Independent of leases, and of what the nodes believed.
//
// P-slaves come and go, so a log covers a part of the run. All logs together must hold every position of the
// run exactly once, with the digest that the data set's permutation gives; all that tell of an update must
// say the same; and each log must hold exactly what was committed while its P-slave served (tenure.h), so
// that an update that was applied on one and not on another is found.
//
// What a roll-back undid does not count: it is trained again.
//
// Pure but for reading files; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/base/result.h"
#include "node/record/evidence.h"
#include "node/record/run_dir.h"
#include "node/record/tenure.h"

namespace convoy::record {

struct VerifyReport {
  struct Epoch {
    std::int64_t epoch = 0;
    std::int64_t samples = 0;     // distinct positions in the logs
    std::int64_t lost = 0;        // positions that should be there and are not
    std::int64_t duplicated = 0;  // times that a position was trained beyond the first
    bool digest_ok = true;        // of every entry that touches the epoch
  };
  // One life of a P-slave.
  struct Server {
    ServerKey key;
    Tenure tenure;
    std::int64_t entries = 0;
    std::int64_t samples = 0;  // distinct positions in its log
    std::int64_t missing = 0;  // positions committed while it served that its log should hold and does not
    std::int64_t foreign = 0;  // positions in its log that were not committed while it served
  };
  std::int64_t sample_count = 0;
  std::int64_t end_position = 0;
  std::vector<Epoch> epochs;
  std::vector<Server> servers;
  std::int64_t voided = 0;            // updates that roll-backs have undone
  std::vector<std::string> problems;  // sentences; the first of each kind, with a count of the rest
  bool ok = false;
};

// Pure part. Positions of the run are [0, end_position).
VerifyReport verify(const Evidence& evidence, std::int64_t sample_count, std::int64_t end_position,
                    std::uint64_t seed);

// Reads the run's options, its data set (from `data_dir`/<name> when given), its journal and its logs.
Result<VerifyReport> verify_run(const RunPaths& paths, const std::string& data_dir = {});

std::string verify_json(const VerifyReport& report);
std::string verify_text(const VerifyReport& report);

}  // namespace convoy::record
