// bench step, bench link.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "kernels/bench/bench_step.h"
#include "kernels/graph/zoo.h"
#include "node/cli/commands.h"
#include "node/run/run_setup.h"
#include "node/transport/link_bench.h"

namespace convoy::cli {
namespace {

struct StepFlags {
  std::string model = "lenet";
  std::string device = "cpu";
  int batch = 64;
  int threads = 1;
  double round_s = 0.5;
  bool json = false;
};

int bench_step_command(const StepFlags& flags) {
  Result<Graph> graph = model_by_name(flags.model);
  if (!graph) return report(graph.error());
  config::WSlaveOptions device;
  device.threads = flags.threads;
  Scalar scalar = Scalar::kF32;
  if (flags.device == "reference") device.device.kind = config::DeviceKind::kReference;
  if (flags.device == "reference64") {
    device.device.kind = config::DeviceKind::kReference64;
    scalar = Scalar::kF64;
  }
  Result<std::unique_ptr<Backend>> backend = make_backend(device, scalar, false);
  if (!backend) return report(backend.error());
  KernelChoices choices;
  StepBenchOptions options;
  options.batch = flags.batch;
  options.round_s = flags.round_s;
  Result<StepBench> result = bench_step(**backend, *graph, options, choices);
  if (!result) return report(result.error());
  if (flags.json) {
    const nlohmann::ordered_json out{{"model", flags.model},
                                     {"device", flags.device},
                                     {"batch", flags.batch},
                                     {"threads", flags.threads},
                                     {"samples_per_s", result->samples_per_s},
                                     {"ms_per_step", result->ms_per_step},
                                     {"gflops", result->gflops},
                                     {"peak_rss_mb", result->peak_rss_mb}};
    std::printf("%s\n", out.dump().c_str());
  } else {
    std::printf("%s on %s, batch %d, %d thread%s: %.0f samples/s, %.3f ms a step, %.1f GF/s, %.0f MB\n",
                flags.model.c_str(), flags.device.c_str(), flags.batch, flags.threads,
                flags.threads == 1 ? "" : "s", result->samples_per_s, result->ms_per_step, result->gflops,
                result->peak_rss_mb);
  }
  return 0;
}

int bench_link_command(int repeats, bool json) {
  LinkBenchOptions options;
  options.child_command = {"/proc/self/exe", "bench", "link-child"};
  options.repeats = repeats;
  Result<std::vector<LinkFigures>> figures = run_link_bench(options);
  if (!figures) return report(figures.error());
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  if (!json) {
    std::printf("%10s %10s %10s %13s %13s %13s %7s\n", "bytes", "push_ms", "pull_ms", "roundtrip_us",
                "one_way_gbps", "raw_zmq_gbps", "ratio");
  }
  for (const LinkFigures& f : *figures) {
    all.push_back({{"bytes", f.bytes},
                   {"push_ms", f.push_ms},
                   {"pull_ms", f.pull_ms},
                   {"roundtrip_us", f.roundtrip_us},
                   {"one_way_gbps", f.one_way_gbps},
                   {"raw_zmq_gbps", f.raw_zmq_gbps},
                   {"one_way_ratio", f.one_way_ratio}});
    if (json) continue;
    std::printf("%10zu %10.3f %10.3f %13.1f %13.2f %13.2f %7.2f\n", f.bytes, f.push_ms, f.pull_ms,
                f.roundtrip_us, f.one_way_gbps, f.raw_zmq_gbps, f.one_way_ratio);
  }
  if (json) std::printf("%s\n", all.dump().c_str());
  return 0;
}

struct LinkFlags {
  int repeats = 5;
  bool json = false;
  std::vector<std::string> child;
};

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  CLI::App* bench = app.add_subcommand("bench", "measure a part of Convoy on this machine");
  bench->require_subcommand(1);
  CLI::App* step = bench->add_subcommand("step", "training steps with nothing in their way");
  auto flags = std::make_shared<StepFlags>();
  step->add_option("--model", flags->model, "zoo name");
  step->add_option("--device", flags->device, "cpu, reference or reference64")
      ->check(CLI::IsMember({"cpu", "reference", "reference64"}));
  step->add_option("--batch", flags->batch, "samples a step")->check(CLI::PositiveNumber);
  step->add_option("--threads", flags->threads, "compute threads")->check(CLI::PositiveNumber);
  step->add_option("--round-s", flags->round_s, "seconds of each of five rounds")->check(CLI::PositiveNumber);
  step->add_flag("--json", flags->json, "as JSON");
  step->callback([flags, &action] { action = [flags] { return bench_step_command(*flags); }; });

  auto link_flags = std::make_shared<LinkFlags>();
  CLI::App* link =
      bench->add_subcommand("link", "two processes and the transport between them, beside plain ZeroMQ");
  link->add_option("--repeats", link_flags->repeats, "medians are over so many")->check(CLI::PositiveNumber);
  link->add_flag("--json", link_flags->json, "as JSON");
  link->callback([link_flags, &action] {
    action = [link_flags] { return bench_link_command(link_flags->repeats, link_flags->json); };
  });
  CLI::App* child = bench->add_subcommand("link-child", "the other process of `bench link`")->group("");
  child->add_option("ARGUMENTS", link_flags->child)->expected(2);
  child->callback(
      [link_flags, &action] { action = [link_flags] { return link_bench_child(link_flags->child); }; });
}

}  // namespace convoy::cli
