#include "node/record/run_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "config/run_file.h"
#include "node/record/files.h"

namespace convoy::record {
namespace fs = std::filesystem;
namespace {

// Everything that Convoy writes into the folder itself. The lock stays: it may be held.
std::vector<std::string> own_files(const RunPaths& paths) {
  std::vector<std::string> files;
  for (const std::string& file :
       {paths.summary(), paths.metrics(), paths.faults(), paths.log(), paths.options(), paths.address()}) {
    files.push_back(file);
    files.push_back(file + ".tmp");
  }
  for (const std::string& file : {paths.commits(), paths.journal()}) {
    files.push_back(file);
    files.push_back(file + "-wal");
    files.push_back(file + "-shm");
  }
  return files;
}

bool exists(const std::string& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

bool is_checkpoint_name(const std::string& name) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return name.rfind(".tmp-", 0) == 0 || (!name.empty() && std::all_of(name.begin(), name.end(), is_digit));
}

Result<void> remove_file(const std::string& path) {
  std::error_code error;
  fs::remove(path, error);
  if (error) return system_error(path, "remove", error.value());
  return {};
}

Result<void> remove_checkpoints(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return {};
  std::vector<fs::path> found;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (is_checkpoint_name(at->path().filename().string())) found.push_back(at->path());
  }
  if (error) return system_error(folder, "list", error.value());
  for (const fs::path& checkpoint : found) {
    for (const char* name : {"model.safetensors", "manifest.json"}) {
      if (auto removed = remove_file((checkpoint / name).string()); !removed) return removed;
    }
    fs::remove(checkpoint, error);  // stays when somebody else put something in
  }
  fs::remove(folder, error);
  return {};
}

Result<void> remove_run(const RunPaths& paths) {
  if (auto removed = remove_checkpoints(paths.checkpoints()); !removed) return removed;
  for (const std::string& file : own_files(paths)) {
    if (auto removed = remove_file(file); !removed) return removed;
  }
  return {};
}

// "runs/lenet" -> "lenet-2", or the next number that is free.
std::string free_name(const std::string& dir) {
  fs::path path = fs::path(dir).lexically_normal();
  if (path.filename().empty()) path = path.parent_path();
  for (int i = 2;; ++i) {
    std::string name = path.filename().string() + "-" + std::to_string(i);
    if (!exists((path.parent_path() / name).string())) return name;
  }
}

Result<void> check_start(const RunPaths& paths, RunStart start) {
  const RunState state = state_of(paths);
  if (start == RunStart::kOverwrite) return {};
  if (start == RunStart::kResume) {
    if (state == RunState::kInterrupted) return {};
    return Error{ErrorCode::kUsage, state == RunState::kNone
                                        ? paths.dir + " holds no run to resume: leave --resume out"
                                        : paths.dir + " holds a finished run, there is nothing to resume"};
  }
  const std::string keep =
      "to keep it, give this run another name, such as --set run.name=" + free_name(paths.dir) +
      "; to replace it, add --overwrite";
  if (state == RunState::kFinished)
    return Error{ErrorCode::kUsage, paths.dir + " holds a finished run: " + keep};
  if (state == RunState::kInterrupted) {
    return Error{ErrorCode::kUsage,
                 paths.dir + " holds a run that was interrupted: to go on with it, add --resume; " + keep};
  }
  return {};
}

Result<int> take_lock(const RunPaths& paths) {
  const int fd = ::open(paths.lock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return system_error(paths.lock(), "open", errno);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    ::close(fd);
    if (error != EWOULDBLOCK) return system_error(paths.lock(), "lock", error);
    auto text = read_text(paths.lock());
    const std::string holder =
        text && !text->empty() ? " (process " + text->substr(0, text->find('\n')) + ")" : "";
    return Error{
        ErrorCode::kRefused,
        paths.dir + " is in use by another Master" + holder +
            ": wait for its end, or give this run another name with --set run.name=" + free_name(paths.dir)};
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  // Only a help for people: the lock holds without it.
  if (::ftruncate(fd, 0) == 0 && ::write(fd, pid.data(), pid.size()) < 0) {
    // not worth failing for
  }
  return fd;
}

}  // namespace

RunState state_of(const RunPaths& paths) {
  if (auto text = read_text(paths.summary())) {
    const auto summary = nlohmann::json::parse(*text, nullptr, false);
    const bool finished = summary.is_object() && summary.contains("finished") && summary["finished"] == true;
    return finished ? RunState::kFinished : RunState::kInterrupted;
  }
  const std::vector<std::string> files = own_files(paths);
  const bool any = std::any_of(files.begin(), files.end(), exists) || exists(paths.checkpoints());
  return any ? RunState::kInterrupted : RunState::kNone;
}

Result<RunDir> RunDir::open(const std::string& dir, RunStart start) {
  RunPaths paths{dir};
  if (!exists(dir)) {
    if (auto allowed = check_start(paths, start); !allowed) return allowed.error();
    std::error_code error;
    fs::create_directories(dir, error);
    if (error) return system_error(dir, "create the folder", error.value());
  }
  // The lock first: a run that goes on is no interrupted one.
  auto lock = take_lock(paths);
  if (!lock) return lock.error();
  RunDir run(std::move(paths), *lock);
  if (auto allowed = check_start(run.paths(), start); !allowed) return allowed.error();
  run.overwrite_ = start == RunStart::kOverwrite;
  return run;
}

Result<void> RunDir::clear() {
  return overwrite_ ? remove_run(paths_) : Result<void>();
}

RunDir::RunDir(RunPaths paths, int lock_fd) : paths_(std::move(paths)), lock_fd_(lock_fd) {}

RunDir::~RunDir() {
  if (lock_fd_ >= 0) ::close(lock_fd_);
}

RunDir::RunDir(RunDir&& other) noexcept
    : paths_(std::move(other.paths_)),
      lock_fd_(std::exchange(other.lock_fd_, -1)),
      overwrite_(other.overwrite_) {}

RunDir& RunDir::operator=(RunDir&& other) noexcept {
  std::swap(paths_, other.paths_);
  std::swap(lock_fd_, other.lock_fd_);
  std::swap(overwrite_, other.overwrite_);
  return *this;
}

Result<void> RunDir::write_options(const std::string& run_text) {
  return replace_file(paths_.options(), "# What this run was started with. Written by Convoy.\n" + run_text);
}

Result<std::string> read_options_text(const RunPaths& paths) {
  if (!exists(paths.options())) {
    return Error{ErrorCode::kUsage,
                 paths.dir + ": is no folder of a run (it holds no options.toml): give runs/<name>"};
  }
  return read_text(paths.options());
}

Result<config::RunOptions> read_options(const RunPaths& paths) {
  auto text = read_options_text(paths);
  if (!text) return text.error();
  auto file = config::parse_run_file(*text, paths.options());
  if (!file) return file.error();
  return std::move(file->options);
}

}  // namespace convoy::record
