// status, report, eval and verify.
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "kernels/graph/backend.h"
#include "node/cli/commands.h"
#include "node/cli/master_line.h"
#include "node/data/dataset.h"
#include "node/record/model_store.h"
#include "node/record/report.h"
#include "node/record/status_json.h"
#include "node/record/verify.h"
#include "node/run/run_setup.h"

namespace convoy::cli {
namespace {

constexpr int kEvaluationBatch = 250;

int status(const std::string& where, bool json) {
  Result<MasterPlace> place = find_master(where);
  if (!place) return report(place.error());
  Result<std::unique_ptr<MasterLine>> line = MasterLine::open(*place);
  if (!line) return report(line.error());
  Result<Message> answer = (*line)->ask(StatusRequest{});
  if (!answer) return report(answer.error());
  const auto* found = std::get_if<StatusReply>(&*answer);
  if (found == nullptr)
    return report({ErrorCode::kIo, "The Master at " + place->address + " says something else."});
  const std::string& reply = found->json;
  if (json) {
    std::printf("%s\n", reply.c_str());
    return 0;
  }
  Result<std::string> text = record::status_text(reply);
  if (!text) return report(text.error());
  std::printf("%s", text->c_str());
  return 0;
}

int eval(const std::string& run_dir, const std::string& data_dir, int threads, bool json) {
  const record::RunPaths paths{run_dir};
  Result<config::RunOptions> run = record::read_options(paths);
  if (!run) return report(run.error());
  Result<std::string> folder = record::newest_model(paths.checkpoints());
  if (!folder) return report(folder.error());
  Result<record::StoredModel> model = record::read_model(*folder);
  if (!model) return report(model.error());
  Result<std::shared_ptr<const data::Dataset>> dataset =
      data::load_dataset(data_dir.empty() ? run->data : data::in_data_dir(run->data, data_dir));
  if (!dataset) return report(dataset.error());
  if (Result<void> fits = data::check_fits(**dataset, model->graph); !fits) return report(fits.error());
  config::WSlaveOptions device;
  device.threads = threads;
  if (model->scalar == Scalar::kF64) device.device.kind = config::DeviceKind::kReference64;
  Result<std::unique_ptr<Backend>> backend = make_backend(device, model->scalar, false);
  if (!backend) return report(backend.error());
  KernelChoices choices;
  Result<std::unique_ptr<Plan>> plan = (*backend)->compile(
      model->graph, {.layers = model->graph.all_layers(), .batch = kEvaluationBatch, .training = false},
      choices);
  if (!plan) return report(plan.error());
  (*plan)->load_parameters(0, model->flat).wait();
  std::int64_t correct = 0;
  double loss_sum = 0;
  data::SampleBatch samples;
  const std::int64_t count = (*dataset)->test().size();
  for (std::int64_t first = 0; first < count; first += kEvaluationBatch) {
    data::fill_test_batch(**dataset, first, std::min<std::int64_t>(first + kEvaluationBatch, count), samples);
    const StepResult step = (*plan)->evaluate({samples.images, samples.labels});
    correct += step.correct;
    loss_sum += step.loss_sum;
  }
  const double accuracy = count == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(count);
  const double loss = count == 0 ? 0 : loss_sum / static_cast<double>(count);
  if (json) {
    const nlohmann::ordered_json out{{"model", *folder},
                                     {"clock", model->clock.value},
                                     {"samples", count},
                                     {"test_accuracy", accuracy},
                                     {"test_loss", loss}};
    std::printf("%s\n", out.dump().c_str());
  } else {
    std::printf("%s: accuracy %.4f, loss %.4f on %lld test samples\n", folder->c_str(), accuracy, loss,
                static_cast<long long>(count));
  }
  return 0;
}

int report_of(const std::string& run_dir) {
  const record::RunPaths paths{run_dir};
  std::ifstream in(paths.summary());
  if (!in) {
    return report({ErrorCode::kUsage, paths.summary() + " cannot be read: has the run ended?"});
  }
  std::stringstream summary;
  summary << in.rdbuf();
  Result<std::string> text = record::report_text(summary.str());
  if (!text) return report({ErrorCode::kIo, paths.summary() + ": " + text.error().message});
  std::printf("%s", text->empty() ? "nothing was injected, and nobody was lost\n" : text->c_str());
  return 0;
}

int verify(const std::string& run_dir, const std::string& data_dir, bool json) {
  Result<record::VerifyReport> checked = record::verify_run(record::RunPaths{run_dir}, data_dir);
  if (!checked) return report(checked.error());
  std::printf("%s%s", (json ? record::verify_json(*checked) : record::verify_text(*checked)).c_str(),
              json ? "\n" : "");
  return checked->ok ? 0 : 1;
}

struct WatchFlags {
  std::string where;
  std::string data_dir;
  int threads = 2;
  bool json = false;
};

}  // namespace

void add_status(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("status", "ask a running Master how it goes");
  auto flags = std::make_shared<WatchFlags>();
  command->add_option("ADDRESS", flags->where,
                      "host:port, a node file, or a run's folder; default: the newest run below runs/");
  command->add_flag("--json", flags->json, "as JSON");
  command->callback([flags, &action] { action = [flags] { return status(flags->where, flags->json); }; });
}

void add_report(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("report", "what went wrong in a run, and what it cost");
  auto flags = std::make_shared<WatchFlags>();
  command->add_option("RUN_DIR", flags->where, "the run's folder")->required();
  command->callback([flags, &action] { action = [flags] { return report_of(flags->where); }; });
}

void add_eval(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("eval", "evaluate a run's trained model on its test set");
  auto flags = std::make_shared<WatchFlags>();
  command->add_option("RUN_DIR", flags->where, "the run's folder")->required();
  command->add_option("--data-dir", flags->data_dir, "where data sets lie, if not where the run file says");
  command->add_option("--threads", flags->threads, "compute threads")->check(CLI::PositiveNumber);
  command->add_flag("--json", flags->json, "as JSON");
  command->callback([flags, &action] {
    action = [flags] { return eval(flags->where, flags->data_dir, flags->threads, flags->json); };
  });
}

void add_verify(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("verify", "hold the log of trained samples against the data set");
  auto flags = std::make_shared<WatchFlags>();
  command->add_option("RUN_DIR", flags->where, "the run's folder")->required();
  command->add_option("--data-dir", flags->data_dir, "where data sets lie, if not where the run file says");
  command->add_flag("--json", flags->json, "as JSON");
  command->callback(
      [flags, &action] { action = [flags] { return verify(flags->where, flags->data_dir, flags->json); }; });
}

}  // namespace convoy::cli
