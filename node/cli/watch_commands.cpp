// status, eval and verify.
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "config/node_file.h"
#include "kernels/graph/backend.h"
#include "node/cli/commands.h"
#include "node/data/dataset.h"
#include "node/process/addresses.h"
#include "node/process/link.h"
#include "node/process/security.h"
#include "node/process/watch_file.h"
#include "node/record/model_store.h"
#include "node/record/status_json.h"
#include "node/record/verify.h"
#include "node/run/run_setup.h"

namespace convoy::cli {
namespace {

constexpr Duration kStatusPatience = std::chrono::seconds(5);
constexpr int kEvaluationBatch = 250;

// Waits for one StatusReply.
class StatusAsker final : public LinkSink {
 public:
  void received(Envelope envelope) override {
    const std::lock_guard lock(mutex_);
    if (auto* reply = std::get_if<StatusReply>(&envelope.message)) json_ = std::move(reply->json);
    if (auto* refuse = std::get_if<Refuse>(&envelope.message)) trouble_ = refuse->text;
    changed_.notify_all();
  }
  void peer_lost(PeerId) override {}
  void peer_back(PeerId) override {}
  void trouble(const Trouble& trouble) override {
    const std::lock_guard lock(mutex_);
    trouble_ = trouble.text;
    needs_keys_ = trouble.kind == TroubleKind::kHandshake || trouble.kind == TroubleKind::kKeyRefused;
    changed_.notify_all();
  }
  void refused(const std::string& text) override {
    const std::lock_guard lock(mutex_);
    trouble_ = text;
    changed_.notify_all();
  }

  Result<std::string> wait(const std::string& address) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kStatusPatience, [&] { return json_.has_value() || !trouble_.empty(); });
    if (json_) return *json_;
    return Error{ErrorCode::kIo,
                 trouble_.empty()
                     ? "The Master at " + address + " does not answer."
                     : trouble_ + (needs_keys_ ? " `convoy status NODE.toml` uses that file." : "")};
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::string> json_;
  std::string trouble_;
  bool needs_keys_ = false;
};

// How to reach the Master of the newest run below runs/ that has one, as it wrote it.
std::optional<WatchAddress> newest_address() {
  std::optional<WatchAddress> address;
  std::filesystem::file_time_type newest{};
  std::error_code ignored;
  for (const auto& run : std::filesystem::directory_iterator("runs", ignored)) {
    const std::filesystem::path path = run.path() / "address";
    const auto written = std::filesystem::last_write_time(path, ignored);
    if (ignored || (address && written <= newest)) continue;
    if (auto found = read_watch_file(path.string())) {
      address = std::move(found);
      newest = written;
    }
  }
  return address;
}

int status(const std::string& where, bool json) {
  std::string address = where;
  NodeSecurity security;
  if (where.ends_with(".toml")) {
    Result<config::NodeOptions> node = config::read_node_file(where);
    if (!node) return report(node.error());
    address = config::to_string(node->master);
    Result<NodeSecurity> found = node_security(*node);
    if (!found) return report(found.error());
    security = std::move(*found);
  } else if (where.empty()) {
    const std::optional<WatchAddress> found = newest_address();
    if (!found) {
      return report(
          {ErrorCode::kUsage,
           "No run below runs/ has a Master that this user may ask now; give its address, or a node file."});
    }
    address = found->address;
    security = {found->keys, found->master_key};
  }
  StatusAsker asker;
  TransportOptions transport;
  const PeerId self = random_peer_id();
  transport.self = self;
  transport.keys = security.keys;
  Result<std::unique_ptr<Link>> link = Link::start(std::move(transport), RunId(0), asker);
  if (!link) return report(link.error());
  if (Result<void> ok = (*link)->connect(kMasterPeerId, address, security.master_key); !ok)
    return report(ok.error());
  (*link)->send(kMasterPeerId, Envelope{{}, self, {}, StatusRequest{}});
  Result<std::string> reply = asker.wait(address);
  (*link)->close();
  if (!reply) return report(reply.error());
  if (json) {
    std::printf("%s\n", reply->c_str());
    return 0;
  }
  Result<std::string> text = record::status_text(*reply);
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
                      "host:port, or a node file; default: the newest run below runs/");
  command->add_flag("--json", flags->json, "as JSON");
  command->callback([flags, &action] { action = [flags] { return status(flags->where, flags->json); }; });
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
