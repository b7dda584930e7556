// The measurement behind `convoy bench link`: two processes, a transport between them, and a plain ZeroMQ
// program beside it in the same run, taken in turns so that a noisy machine spoils both alike.
//
// run_link_bench() is the half that measures, and starts the other half as a process; link_bench_child() is
// that process's main. Each owns what it uses; call them from one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/base/result.h"

namespace convoy {

struct LinkBenchOptions {
  // Program and arguments that end up in link_bench_child(); two arguments are added to them.
  std::vector<std::string> child_command;
  std::vector<std::size_t> sizes{64, 256 << 10, 4 << 20, 40 << 20};
  int repeats = 5;  // medians are taken over these
};

struct LinkFigures {
  std::size_t bytes = 0;     // of a message, without its header frame
  double push_ms = 0;        // sent, added to what is there, acknowledged
  double pull_ms = 0;        // asked for and there
  double roundtrip_us = 0;   // there and back
  double one_way_gbps = 0;   // gigabits a second, through a transport
  double raw_zmq_gbps = 0;   // the same by a plain ZeroMQ program
  double one_way_ratio = 0;  // median of the ratios of neighbouring runs
};

Result<std::vector<LinkFigures>> run_link_bench(const LinkBenchOptions& options);

// `arguments` are the two that were added. Returns the exit status.
int link_bench_child(const std::vector<std::string>& arguments);

}  // namespace convoy
