// Child processes of the launcher: how they are started, and how their ends are told.
//
// Main thread only; other threads may run meanwhile.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "config/common_options.h"
#include "messages/base/result.h"

namespace convoy::cli {

using SteadyMoment = std::chrono::steady_clock::time_point;

struct Child {
  std::string what;
  std::vector<std::string> arguments;
  std::string log;
  int file = -1;  // its node file
  SteadyMoment started;
  int quick_deaths = 0;
  SteadyMoment away_until;  // it dies because it is told to, and comes back no sooner
};

// Runs `convoy ARGUMENTS...` with `keep_fd` open, in a process group of its own: Ctrl-C reaches it through
// us, in order. When we die it gets `last_word`: SIGTERM lets the Master finish its record, SIGKILL ends
// nodes even when they are frozen.
pid_t spawn(const std::vector<std::string>& arguments, int keep_fd, int last_word);

// A file that has no place in the file system, and so leaves no secret there whatever becomes of us.
Result<int> file_in_memory(const std::string& name, const std::string& text);

// "was killed by signal 9 (Killed)", "ended with status 1".
std::string how_it_ended(int status);
void print_last_line(const std::string& log);

// An address as the Master announces it, for nodes of this machine.
config::Address local_address_of(const std::string& line);

}  // namespace convoy::cli
