// convoy verify on a run's folder.
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "config/run_file.h"
#include "tests/unit/record/evidence.h"

namespace convoy::record {
namespace {

// The folder of a run of two and a half epochs over ten images.
struct Files {
  Files() {
    const auto words = [](const std::vector<std::uint32_t>& header, std::size_t items) {
      std::string bytes;
      for (const std::uint32_t w : header) {
        for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>((w >> shift) & 0xff);
      }
      return bytes + std::string(items, '\1');
    };
    write_file(folder / "data/train-images-idx3-ubyte", words({0x803, kImages, 2, 3}, 6 * kImages));
    write_file(folder / "data/train-labels-idx1-ubyte", words({0x801, kImages}, kImages));
    write_file(folder / "data/t10k-images-idx3-ubyte", words({0x803, 2, 2, 3}, 12));
    write_file(folder / "data/t10k-labels-idx1-ubyte", words({0x801, 2}, 2));
    RunDir run = require(RunDir::open(paths.dir, RunStart::kNew));
    config::RunOptions options;
    options.name = "ten";
    options.seed = kSeed;
    options.model.name = "lenet";
    options.data.dir = folder / "data";
    options.train.epochs = 2.5;
    require(run.write_options(config::serialise(options)));
  }

  bool open() {
    auto journal_file = Journal::open(paths.journal());
    auto commits_file = CommitLogStore::open(paths.commits());
    if (!journal_file || !commits_file) return false;
    journal.emplace(std::move(*journal_file));
    commits.emplace(std::move(*commits_file));
    return true;
  }

  // The Master's writes, in the order in which a run makes them. REQUIRES: open(), and that `run` lives on.
  std::vector<std::function<bool()>> writes(const Evidence& run) {
    std::vector<std::function<bool()>> steps;
    std::map<ServerKey, std::size_t> told;
    for (std::size_t v = 0; v < run.views.size(); ++v) {
      const Journal::Active& active = run.views[v];
      // What this view's cut commits is told before; those that have gone by then do not tell.
      for (const auto& [server, log] : run.logs) {
        std::vector<CommitLogEntry> fresh;
        for (std::size_t& at = told[server]; at < log.size() && active.ledger.includes(log[at].trained); ++at)
          fresh.push_back(log[at]);
        if (!fresh.empty())
          steps.emplace_back([this, by = server, fresh] { return commits->append(by, fresh).ok(); });
      }
      const auto note = [&](ServerEnd how) {
        for (const auto& [server, end] : run.ends) {
          const auto is_this = [&, key = server](const ServerRecord& s) {
            return s.id == key.id && s.incarnation == key.incarnation;
          };
          const auto& before = run.views[v == 0 ? 0 : v - 1].record.servers;
          if (end != how || std::none_of(before.begin(), before.end(), is_this) ||
              std::any_of(active.record.servers.begin(), active.record.servers.end(), is_this))
            continue;
          steps.emplace_back([this, key = server, how] { return commits->record_end(key, how).ok(); });
        }
      };
      note(ServerEnd::kLost);
      steps.emplace_back([this, &active] { return journal->record_active(active).ok(); });
      note(ServerEnd::kLeft);
    }
    return steps;
  }

  void write(const Evidence& run) {
    BOOST_REQUIRE(open());
    for (const auto& step : writes(run)) BOOST_REQUIRE(step());
    finish(run.finished);
  }
  void finish(bool finished) const {
    write_file(paths.summary(), finished ? R"({"finished": true})" : R"({"finished": false})");
  }

  TemporaryFolder folder;
  RunPaths paths{folder / "runs/ten"};
  std::optional<Journal> journal;
  std::optional<CommitLogStore> commits;
};

BOOST_AUTO_TEST_CASE(a_run_is_verified_from_its_folder) {
  Files files;
  files.write(elastic_run());
  const VerifyReport report = require(verify_run(files.paths));
  BOOST_TEST(report.ok);
  BOOST_TEST(report.problems.empty());
  BOOST_TEST(report.sample_count == kImages);
  BOOST_TEST(report.end_position == kEnd);  // round(2.5 x 10)
  BOOST_TEST(report.epochs.size() == 3u);
  BOOST_TEST(verify_json(report) == verify_json(verify(elastic_run())));
}

BOOST_AUTO_TEST_CASE(damage_in_the_folder_is_found_like_damage_in_memory) {
  Files files;
  Evidence run = elastic_run();
  run.logs[life(0)].pop_back();
  files.write(run);
  const VerifyReport report = require(verify_run(files.paths));
  BOOST_TEST(
      finds(report, "P-slave 0 (life 1), from v1.1 until it left, with v1.5: its log lacks 4 positions"));
}

BOOST_AUTO_TEST_CASE(a_run_that_did_not_finish_is_not_ok_and_says_why) {
  Files files;
  Evidence run = steady_run();
  run.views.pop_back();
  run.finished = false;
  files.write(run);
  files.commits->append(life(0), updates(0, 3)).ok();
  const VerifyReport report = require(verify_run(files.paths));
  BOOST_TEST(!report.ok);
  BOOST_TEST(contains(report.problems.front(), "did not finish"));
}

BOOST_AUTO_TEST_CASE(a_run_that_has_everything_is_ok_whatever_it_died_of) {
  Files files;
  files.write(elastic_run());
  files.finish(false);
  BOOST_TEST(require(verify_run(files.paths)).ok);
}

// kill -9 after each of its writes: what is there fits together, it only stops somewhere.
BOOST_AUTO_TEST_CASE(a_master_may_be_killed_at_any_moment) {
  const Evidence run = elastic_run();
  bool was_ok = true;
  std::size_t last = 1;
  for (std::size_t count = 0; count <= last; ++count) {
    Files files;
    const std::vector<std::function<bool()>> steps = files.writes(run);
    last = steps.size();
    const pid_t child = fork();
    BOOST_REQUIRE(child >= 0);
    if (child == 0) {
      bool done = files.open();
      for (std::size_t i = 0; done && i < count; ++i) done = steps[i]();
      _exit(done ? 0 : 1);  // nothing is closed or flushed
    }
    int status = 0;
    BOOST_REQUIRE(waitpid(child, &status, 0) == child);
    BOOST_REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    const VerifyReport report = require(verify_run(files.paths));
    for (const std::string& problem : report.problems) {
      const bool only_unfinished = contains(problem, "did not finish") || contains(problem, "epoch ") ||
                                   contains(problem, "no P-slave's log") || contains(problem, "no view");
      BOOST_TEST(only_unfinished, "after " << count << " writes: " << problem);
    }
    was_ok = report.ok;
    if (count == 0) BOOST_TEST(!was_ok);
  }
  BOOST_TEST(was_ok);  // after all of them
}

BOOST_AUTO_TEST_CASE(a_journal_that_is_gone_is_an_error_with_its_path) {
  Files files;
  files.write(elastic_run());
  files.journal.reset();
  std::filesystem::remove(files.paths.journal());
  const auto report = verify_run(files.paths);
  BOOST_REQUIRE(!report.ok());
  BOOST_TEST(contains(report.error().message, files.paths.journal()));
}

BOOST_AUTO_TEST_CASE(a_data_set_that_is_not_there_is_an_error) {
  Files files;
  files.write(elastic_run());
  std::filesystem::remove_all(files.folder / "data");
  BOOST_TEST(!verify_run(files.paths).ok());
}

}  // namespace
}  // namespace convoy::record
