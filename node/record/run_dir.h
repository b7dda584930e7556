// RunDir: the folder runs/<name>, what lies in it, and who may use it.
//
// RunPaths is a value: names of files, for the Master that writes them and for `convoy eval` and `convoy
// verify` that read them. RunDir owns the folder's lock from open() to its destruction, so that two Masters
// never share a folder; it moves, and one thread at a time uses it.
#pragma once

#include <string>

#include "config/run_options.h"
#include "messages/base/result.h"

namespace convoy::record {

struct RunPaths {
  std::string dir;

  std::string options() const { return dir + "/options.toml"; }  // the run's canonical text
  std::string journal() const { return dir + "/journal.sqlite"; }
  std::string commits() const { return dir + "/commits.sqlite"; }
  std::string metrics() const { return dir + "/metrics.jsonl"; }
  std::string faults() const { return dir + "/faults.jsonl"; }  // injected ones, and recoveries
  std::string summary() const { return dir + "/summary.json"; }
  std::string log() const { return dir + "/log.txt"; }
  std::string checkpoints() const { return dir + "/checkpoints"; }
  std::string address() const { return dir + "/address"; }  // where the Master listens, for `convoy status`
  std::string lock() const { return dir + "/.lock"; }
};

// What lies in a folder.
enum class RunState {
  kNone,         // no run: no folder, or one without a file of Convoy's
  kFinished,     // summary.json says so
  kInterrupted,  // begun and not finished: stopped, failed, or killed
};
RunState state_of(const RunPaths& paths);

enum class RunStart {
  kNew,        // refused when the folder holds a run
  kResume,     // refused unless it holds an interrupted one
  kOverwrite,  // an earlier run's files are removed by clear(); whatever else lies there stays
};

class RunDir {
 public:
  // Creates the folder with its parents and takes the lock. Refusals are kUsage and say what to type; kIo for
  // what the file system refuses; kRefused when another process holds the lock.
  static Result<RunDir> open(const std::string& dir, RunStart start);
  ~RunDir();
  RunDir(RunDir&& other) noexcept;
  RunDir& operator=(RunDir&& other) noexcept;
  RunDir(const RunDir&) = delete;
  RunDir& operator=(const RunDir&) = delete;

  const RunPaths& paths() const { return paths_; }
  // Removes the earlier run that is to be overwritten, once nothing else can keep the new one from starting.
  Result<void> clear();
  // Keeps config::serialise(options) for verify, eval and resume.
  Result<void> write_options(const std::string& run_text);

 private:
  RunDir(RunPaths paths, int lock_fd);
  RunPaths paths_;
  int lock_fd_ = -1;
  bool overwrite_ = false;
};

// The options that write_options() kept. kUsage when `dir` is no folder of a run.
Result<std::string> read_options_text(const RunPaths& paths);
Result<config::RunOptions> read_options(const RunPaths& paths);

}  // namespace convoy::record
