// Prints the figures of `convoy bench link` without the rest of convoy. With two arguments: the other half.
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "node/transport/link_bench.h"
#include "node/transport/transport.h"

int main(int argc, char** argv) {
  convoy::keep_memory_for_messages();
  if (argc == 3) return convoy::link_bench_child({argv[1], argv[2]});
  convoy::LinkBenchOptions options;
  options.child_command = {"/proc/self/exe"};
  const auto all = convoy::run_link_bench(options);
  if (!all) {
    std::fprintf(stderr, "%s\n", all.error().message.c_str());
    return 1;
  }
  std::printf("%10s %10s %10s %13s %13s %13s %7s\n", "bytes", "push_ms", "pull_ms", "roundtrip_us",
              "one_way_gbps", "raw_zmq_gbps", "ratio");
  for (const convoy::LinkFigures& f : *all)
    std::printf("%10zu %10.3f %10.3f %13.1f %13.2f %13.2f %7.2f\n", f.bytes, f.push_ms, f.pull_ms,
                f.roundtrip_us, f.one_way_gbps, f.raw_zmq_gbps, f.one_way_ratio);
  return 0;
}
