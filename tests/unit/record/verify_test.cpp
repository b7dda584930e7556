// convoy verify: finds what is wrong with a log, and nothing in a right one.
#include "node/record/verify.h"

#include "config/run_file.h"
#include "tests/unit/record/support.h"

namespace convoy::record {
namespace {

constexpr std::int64_t kN = 10;
constexpr std::int64_t kEnd = 25;  // two and a half epochs

// Two members take turns at 4 positions a clock; entries cross the ends of epochs.
std::vector<CommitLogEntry> right_log() {
  std::vector<CommitLogEntry> log;
  for (std::int64_t i = 0; i * 4 < kEnd; ++i) {
    log.push_back(entry(static_cast<std::uint32_t>(i % 2), i / 2, i * 4, std::min(i * 4 + 4, kEnd), kN));
  }
  return log;
}

CommitLogs right_logs() {
  return {{ServerId(0), right_log()}, {ServerId(1), right_log()}};
}

VerifyReport verify(const CommitLogs& logs) {
  return verify_logs(logs, kN, kEnd, kSeed);
}

bool has_problem(const VerifyReport& report, const std::string& part) {
  for (const std::string& p : report.problems) {
    if (contains(p, part)) return true;
  }
  return false;
}

BOOST_AUTO_TEST_CASE(a_right_run_is_ok_in_every_epoch) {
  const VerifyReport report = verify(right_logs());
  BOOST_TEST(report.ok);
  BOOST_TEST(report.problems.empty());
  BOOST_REQUIRE(report.epochs.size() == 3u);
  const std::int64_t sizes[] = {10, 10, 5};
  for (std::size_t e = 0; e < 3; ++e) {
    BOOST_TEST(report.epochs[e].samples == sizes[e]);
    BOOST_TEST(report.epochs[e].lost == 0);
    BOOST_TEST(report.epochs[e].duplicated == 0);
    BOOST_TEST(report.epochs[e].digest_ok);
  }
}

BOOST_AUTO_TEST_CASE(the_order_of_commits_may_differ_between_p_slaves) {
  CommitLogs logs = right_logs();
  std::reverse(logs[ServerId(1)].begin(), logs[ServerId(1)].end());
  BOOST_TEST(verify(logs).ok);
}

BOOST_AUTO_TEST_CASE(an_entry_that_every_log_lacks_is_found) {
  CommitLogs logs = right_logs();
  for (auto& [server, log] : logs) log.erase(log.begin() + 2);  // positions 8 to 12
  const VerifyReport report = verify(logs);
  BOOST_TEST(!report.ok);
  BOOST_TEST(report.epochs[0].lost == 2);
  BOOST_TEST(report.epochs[0].samples == 8);
  BOOST_TEST(report.epochs[1].lost == 2);
  BOOST_TEST(report.epochs[2].lost == 0);
  BOOST_TEST(has_problem(report, "epoch 0 lacks 2 positions, from 8 on"));
}

BOOST_AUTO_TEST_CASE(an_entry_that_one_log_lacks_is_found_there) {
  CommitLogs logs = right_logs();
  logs[ServerId(1)].erase(logs[ServerId(1)].begin());
  const VerifyReport report = verify(logs);
  BOOST_TEST(!report.ok);
  BOOST_TEST(report.epochs[0].lost == 4);
  BOOST_TEST(report.servers[0].epochs[0].lost == 0);
  BOOST_TEST(report.servers[1].epochs[0].lost == 4);
  BOOST_TEST(has_problem(report, "P-slaves 0 and 1 differ: only the first has clock 0 of member 0"));
}

BOOST_AUTO_TEST_CASE(an_entry_that_stands_twice_is_found) {
  CommitLogs logs = right_logs();
  for (auto& [server, log] : logs) log.push_back(log[4]);  // positions 16 to 20
  const VerifyReport report = verify(logs);
  BOOST_TEST(!report.ok);
  BOOST_TEST(report.epochs[0].duplicated == 0);
  BOOST_TEST(report.epochs[1].duplicated == 4);
  BOOST_TEST(report.epochs[1].lost == 0);
  BOOST_TEST(has_problem(report, "stands twice"));
}

BOOST_AUTO_TEST_CASE(positions_trained_again_under_another_clock_are_found) {
  CommitLogs logs = right_logs();
  for (auto& [server, log] : logs) log.push_back(entry(0, 99, 9, 11, kN));
  const VerifyReport report = verify(logs);
  BOOST_TEST(!report.ok);
  BOOST_TEST(report.epochs[0].duplicated == 1);
  BOOST_TEST(report.epochs[1].duplicated == 1);
  BOOST_TEST(report.epochs[2].duplicated == 0);
}

BOOST_AUTO_TEST_CASE(three_times_counts_as_two_duplicates) {
  CommitLogs logs = {{ServerId(0), right_log()}};
  logs[ServerId(0)].push_back(entry(0, 50, 0, 4, kN));
  logs[ServerId(0)].push_back(entry(0, 51, 0, 4, kN));
  BOOST_TEST(verify(logs).epochs[0].duplicated == 8);
}

BOOST_AUTO_TEST_CASE(other_samples_than_the_positions_say_are_found) {
  CommitLogs logs = right_logs();
  for (auto& [server, log] : logs) log[5].digest += 1;  // positions 20 to 24
  const VerifyReport report = verify(logs);
  BOOST_TEST(!report.ok);
  BOOST_TEST(report.epochs[0].digest_ok);
  BOOST_TEST(report.epochs[1].digest_ok);
  BOOST_TEST(!report.epochs[2].digest_ok);
  BOOST_TEST(report.epochs[2].lost == 0);
  BOOST_TEST(has_problem(report, "the digest is wrong"));
}

BOOST_AUTO_TEST_CASE(a_wrong_digest_over_an_epochs_end_marks_both) {
  CommitLogs logs = right_logs();
  logs[ServerId(0)][2].digest = 0;  // positions 8 to 12
  const VerifyReport report = verify(logs);
  BOOST_TEST(!report.epochs[0].digest_ok);
  BOOST_TEST(!report.epochs[1].digest_ok);
  BOOST_TEST(report.epochs[2].digest_ok);
}

BOOST_AUTO_TEST_CASE(the_permutation_of_another_seed_or_data_set_is_found) {
  BOOST_TEST(!verify_logs(right_logs(), kN, kEnd, kSeed + 1).ok);
  BOOST_TEST(!verify_logs(right_logs(), kN + 1, kEnd, kSeed).ok);
}

BOOST_AUTO_TEST_CASE(logs_that_tell_different_stories_are_found) {
  CommitLogs logs = right_logs();
  // The same positions in the end, but trained by other updates: each log alone looks right.
  auto& log = logs[ServerId(1)];
  std::swap(log[0].trained, log[1].trained);
  std::swap(log[0].digest, log[1].digest);
  BOOST_TEST(verify({{ServerId(1), log}}).ok);
  const VerifyReport report = verify(logs);
  BOOST_TEST(!report.ok);
  BOOST_TEST(has_problem(report, "P-slaves 0 and 1 differ in clock 0 of member 0"));
}

BOOST_AUTO_TEST_CASE(positions_beyond_the_end_are_found) {
  CommitLogs logs = right_logs();
  for (auto& [server, log] : logs) log.push_back(entry(0, 77, 25, 27, kN));
  const VerifyReport report = verify(logs);
  BOOST_TEST(!report.ok);
  BOOST_TEST(has_problem(report, "beyond the end"));
}

BOOST_AUTO_TEST_CASE(no_log_at_all_is_not_ok) {
  const VerifyReport report = verify({});
  BOOST_TEST(!report.ok);
  BOOST_REQUIRE(report.epochs.size() == 3u);
  BOOST_TEST(report.epochs[0].lost == 10);
}

BOOST_AUTO_TEST_CASE(many_problems_of_a_kind_are_counted) {
  CommitLogs logs = {{ServerId(0), right_log()}};
  for (CommitLogEntry& e : logs[ServerId(0)]) e.digest ^= 1;
  const VerifyReport report = verify(logs);
  BOOST_TEST(report.problems.size() == 4u);
  BOOST_TEST(has_problem(report, "and 4 more: wrong digest"));
}

BOOST_AUTO_TEST_CASE(json_and_text_say_the_same) {
  CommitLogs logs = right_logs();
  Json json = Json::parse(verify_json(verify(logs)));
  BOOST_TEST(json["ok"] == true);
  BOOST_TEST(json["epochs"].size() == 3u);
  BOOST_TEST(json["epochs"][2]["samples"] == 5);
  BOOST_TEST(json["epochs"][2]["digest_ok"] == true);
  BOOST_TEST(contains(verify_text(verify(logs)), "the logs of 2 P-slaves agree"));
  logs[ServerId(0)].pop_back();
  json = Json::parse(verify_json(verify(logs)));
  BOOST_TEST(json["ok"] == false);
  BOOST_TEST(json["epochs"][2]["lost"] == 1);
  BOOST_TEST(contains(verify_text(verify(logs)), "NOT ok"));
}

// A run of 1.5 epochs over 7 images, as files.
struct Files {
  Files() {
    const auto words = [](const std::vector<std::uint32_t>& header, std::size_t items) {
      std::string bytes;
      for (const std::uint32_t w : header) {
        for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>((w >> shift) & 0xff);
      }
      return bytes + std::string(items, '\1');
    };
    write_file(folder / "data/train-images-idx3-ubyte", words({0x803, 7, 2, 3}, 42));
    write_file(folder / "data/train-labels-idx1-ubyte", words({0x801, 7}, 7));
    write_file(folder / "data/t10k-images-idx3-ubyte", words({0x803, 2, 2, 3}, 12));
    write_file(folder / "data/t10k-labels-idx1-ubyte", words({0x801, 2}, 2));
    RunDir run = require(RunDir::open(paths.dir, RunStart::kNew));
    config::RunOptions options;
    options.name = "seven";
    options.seed = kSeed;
    options.model.name = "lenet";
    options.data.dir = folder / "data";
    options.train.epochs = 1.5;
    require(run.write_options(config::serialise(options)));
    CommitLogStore store = require(CommitLogStore::open(paths.commits()));
    const std::vector<CommitLogEntry> log = {entry(0, 0, 0, 6, 7), entry(0, 1, 6, 11, 7)};
    require(store.append(ServerId(0), log));
    write_file(paths.summary(), R"({"finished": true})");
  }
  TemporaryFolder folder;
  RunPaths paths{folder / "runs/seven"};
};

BOOST_AUTO_TEST_CASE(a_run_is_verified_from_its_folder) {
  const Files files;
  const VerifyReport report = require(verify_run(files.paths));
  BOOST_TEST(report.ok);
  BOOST_TEST(report.sample_count == 7);
  BOOST_TEST(report.end_position == 11);  // round(1.5 x 7)
  BOOST_TEST(report.epochs.size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_run_that_did_not_finish_is_not_ok_and_says_why) {
  const Files files;
  write_file(files.paths.summary(), R"({"finished": false})");
  BOOST_TEST(require(verify_run(files.paths)).ok);  // it has everything, whatever it died of
  std::filesystem::remove(files.paths.commits());
  CommitLogStore store = require(CommitLogStore::open(files.paths.commits()));
  const std::vector<CommitLogEntry> log = {entry(0, 0, 0, 6, 7)};
  require(store.append(ServerId(0), log));
  const VerifyReport report = require(verify_run(files.paths));
  BOOST_TEST(!report.ok);
  BOOST_TEST(contains(report.problems.front(), "did not finish"));
}

BOOST_AUTO_TEST_CASE(a_data_set_that_is_not_there_is_an_error) {
  const Files files;
  std::filesystem::remove_all(files.folder / "data");
  BOOST_TEST(!verify_run(files.paths).ok());
}

}  // namespace
}  // namespace convoy::record
