// bench step.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "kernels/bench/bench_step.h"
#include "kernels/graph/zoo.h"
#include "node/cli/commands.h"
#include "node/run/run_setup.h"

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
}

}  // namespace convoy::cli
