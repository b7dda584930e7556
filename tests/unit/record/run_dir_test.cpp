// The folder of a run: who may use it, what is refused and in which words.
#include "node/record/run_dir.h"

#include "config/run_file.h"
#include "tests/unit/record/support.h"

namespace convoy::record {
namespace {

namespace fs = std::filesystem;

std::string refusal(const std::string& dir, RunStart start, ErrorCode code) {
  auto run = RunDir::open(dir, start);
  BOOST_REQUIRE(!run.ok());
  BOOST_TEST((run.error().code == code));
  return run.error().message;
}

BOOST_AUTO_TEST_CASE(a_new_folder_is_made_with_its_parents) {
  const TemporaryFolder folder;
  const RunDir run = require(RunDir::open(folder / "runs/lenet", RunStart::kNew));
  BOOST_TEST(fs::is_directory(folder / "runs/lenet"));
  BOOST_TEST((state_of(run.paths()) == RunState::kNone));
}

BOOST_AUTO_TEST_CASE(an_interrupted_run_is_refused_with_what_to_type) {
  const TemporaryFolder folder;
  write_file(folder / "lenet/journal.sqlite", "");
  const std::string text = refusal(folder / "lenet", RunStart::kNew, ErrorCode::kUsage);
  BOOST_TEST(contains(text, folder / "lenet"));
  BOOST_TEST(contains(text, "interrupted"));
  BOOST_TEST(contains(text, "--resume"));
  BOOST_TEST(contains(text, "--overwrite"));
  BOOST_TEST(contains(text, "--set run.name=lenet-2"));
}

BOOST_AUTO_TEST_CASE(a_finished_run_is_refused_and_cannot_be_resumed) {
  const TemporaryFolder folder;
  write_file(folder / "lenet/summary.json", R"({"finished": true})");
  write_file(folder / "lenet-2/keep", "");
  const std::string text = refusal(folder / "lenet/", RunStart::kNew, ErrorCode::kUsage);
  BOOST_TEST(contains(text, "finished run"));
  BOOST_TEST(!contains(text, "--resume"));
  BOOST_TEST(contains(text, "run.name=lenet-3"));  // the first name that is free
  BOOST_TEST(contains(refusal(folder / "lenet", RunStart::kResume, ErrorCode::kUsage), "finished"));
}

BOOST_AUTO_TEST_CASE(a_run_that_failed_counts_as_interrupted) {
  const TemporaryFolder folder;
  write_file(folder / "lenet/summary.json", R"({"finished": false})");
  BOOST_TEST((state_of(RunPaths{folder / "lenet"}) == RunState::kInterrupted));
  write_file(folder / "lenet/summary.json", "{ cut sho");
  BOOST_TEST((state_of(RunPaths{folder / "lenet"}) == RunState::kInterrupted));
  require(RunDir::open(folder / "lenet", RunStart::kResume));
}

BOOST_AUTO_TEST_CASE(nothing_to_resume_is_said_and_leaves_no_folder) {
  const TemporaryFolder folder;
  BOOST_TEST(contains(refusal(folder / "lenet", RunStart::kResume, ErrorCode::kUsage), "leave --resume out"));
  BOOST_TEST(!fs::exists(folder / "lenet"));
}

BOOST_AUTO_TEST_CASE(overwrite_removes_what_convoy_wrote_and_nothing_else) {
  const TemporaryFolder folder;
  const std::string dir = folder / "lenet";
  const std::vector<std::string> ours = {"summary.json",
                                         "metrics.jsonl",
                                         "log.txt",
                                         "address",
                                         "journal.sqlite",
                                         "journal.sqlite-wal",
                                         "journal.sqlite-shm",
                                         "commits.sqlite",
                                         "commits.sqlite-wal",
                                         "options.toml",
                                         "summary.json.tmp",
                                         "checkpoints/120/model.safetensors",
                                         "checkpoints/120/manifest.json",
                                         "checkpoints/.tmp-7/model.safetensors",
                                         "checkpoints/80/manifest.json"};
  const std::vector<std::string> theirs = {"notes.md", "run.toml", "checkpoints/80/plot.png",
                                           "checkpoints/best/x"};
  for (const auto& list : {ours, theirs}) {
    for (const std::string& file : list) write_file(dir + "/" + file, "x");
  }
  RunDir run = require(RunDir::open(dir, RunStart::kOverwrite));
  for (const std::string& file : ours) BOOST_TEST(fs::exists(dir + "/" + file), file);
  require(run.clear());
  for (const std::string& file : ours) BOOST_TEST(!fs::exists(dir + "/" + file), file);
  for (const std::string& file : theirs) BOOST_TEST(fs::exists(dir + "/" + file), file);
  BOOST_TEST(!fs::exists(dir + "/checkpoints/120"));
}

BOOST_AUTO_TEST_CASE(an_overwritten_folder_is_as_new) {
  const TemporaryFolder folder;
  write_file(folder / "lenet/summary.json", "{}");
  write_file(folder / "lenet/checkpoints/3/model.safetensors", "x");
  RunDir run = require(RunDir::open(folder / "lenet", RunStart::kOverwrite));
  require(run.clear());
  BOOST_TEST((state_of(run.paths()) == RunState::kNone));
}

BOOST_AUTO_TEST_CASE(two_masters_never_share_a_folder) {
  const TemporaryFolder folder;
  {
    const RunDir first = require(RunDir::open(folder / "lenet", RunStart::kNew));
    for (const RunStart start : {RunStart::kNew, RunStart::kOverwrite, RunStart::kResume}) {
      const std::string text = refusal(folder / "lenet", start, ErrorCode::kRefused);
      BOOST_TEST(contains(text, "in use"));
      BOOST_TEST(contains(text, "process " + std::to_string(getpid())));
    }
  }
  require(RunDir::open(folder / "lenet", RunStart::kNew));
}

BOOST_AUTO_TEST_CASE(the_lock_moves_with_its_owner) {
  const TemporaryFolder folder;
  RunDir first = require(RunDir::open(folder / "a", RunStart::kNew));
  RunDir second = std::move(first);
  refusal(folder / "a", RunStart::kNew, ErrorCode::kRefused);
  BOOST_TEST(second.paths().dir == folder / "a");
}

BOOST_AUTO_TEST_CASE(a_folder_that_cannot_be_made_is_an_error_with_its_path) {
  const TemporaryFolder folder;
  write_file(folder / "file", "");
  const std::string text = refusal(folder / "file/lenet", RunStart::kNew, ErrorCode::kIo);
  BOOST_TEST(contains(text, folder / "file/lenet"));
  BOOST_TEST(contains(text, "Not a directory"));
}

BOOST_AUTO_TEST_CASE(options_come_back_as_they_were) {
  const TemporaryFolder folder;
  RunDir run = require(RunDir::open(folder / "lenet", RunStart::kNew));
  config::RunOptions options;
  options.name = "lenet";
  options.model.name = "lenet";
  options.data.name = "mnist";
  options.data.dir = "data/mnist";
  options.seed = 42;
  options.dir = run.paths().dir;
  require(run.write_options(config::serialise(options)));
  BOOST_TEST((require(read_options(run.paths())) == options));
}

BOOST_AUTO_TEST_CASE(a_folder_of_something_else_is_no_run) {
  const TemporaryFolder folder;
  const auto options = read_options(RunPaths{folder.path()});
  BOOST_REQUIRE(!options.ok());
  BOOST_TEST((options.error().code == ErrorCode::kUsage));
  BOOST_TEST(contains(options.error().message, folder.path()));
}

}  // namespace
}  // namespace convoy::record
