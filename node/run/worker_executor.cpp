#include "node/run/worker_executor.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "kernels/reference/optimiser.h"

namespace convoy {
namespace {

constexpr std::size_t kCachedPlans = 6;
constexpr int kEvaluationBatch = 250;
constexpr int kMeasuredSteps = 5;

Duration wall_now() {
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch());
}

// CPU time of the calling thread, which takes part in every parallel region: the busiest compute thread.
Duration cpu_now() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

}  // namespace

Result<double> WorkerExecutor::warm_up(const WarmUp& command) {
  Result<RunSetup> setup = parse_setup(command.run_text);
  if (!setup) return setup.error();
  setup_ = std::move(*setup);
  const config::RunOptions& run = setup_->options;
  Result<std::shared_ptr<const data::Dataset>> dataset =
      data::load_dataset(data_dir_.empty() ? run.data : data::in_data_dir(run.data, data_dir_));
  if (!dataset) return dataset.error();
  dataset_ = *dataset;
  if (Result<void> fits = data::check_fits(*dataset_, setup_->graph); !fits) return fits.error();
  if (dataset_->train().size() != command.sync.sample_count) {
    return Error{ErrorCode::kCorrupt, "The data set here has " + std::to_string(dataset_->train().size()) +
                                          " training samples, that of the Master " +
                                          std::to_string(command.sync.sample_count) +
                                          ": every node needs the same files."};
  }
  Result<std::unique_ptr<Backend>> backend = make_backend(device_, setup_->scalar, false);
  if (!backend) return backend.error();
  plans_.clear();
  backend_ = std::move(*backend);
  if (Result<void> read = read_choices(); !read) return read.error();
  gradients_ = std::make_unique<BufferPool>(static_cast<std::size_t>(setup_->graph.parameter_count()) *
                                            static_cast<std::size_t>(bytes_of(setup_->scalar)));
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return 0.0;
    tickets_.clear();
    loader_ = std::make_unique<data::Loader>(dataset_, run.seed);
  }

  // A few real steps at the whole batch, the first one only to touch the memory.
  const int batch = static_cast<int>(std::min<std::int64_t>(command.sync.batch, command.sync.sample_count));
  Result<Plan*> plan = plan_for(batch, true);
  if (!plan) return plan.error();
  std::vector<std::byte> values(static_cast<std::size_t>(setup_->graph.parameter_count()) *
                                static_cast<std::size_t>(bytes_of(setup_->scalar)));
  if (setup_->scalar == Scalar::kF32) {
    initialise(setup_->graph, run.seed, 0, elements<float>(Bytes(values)));
  } else {
    initialise(setup_->graph, run.seed, 0, elements<double>(Bytes(values)));
  }
  (*plan)->load_parameters(0, values).wait();
  data::SampleBatch samples;
  data::fill_batch(*dataset_, IntervalSet{{0, batch}}, run.seed, samples);
  const std::shared_ptr<AlignedBuffer> gradients = gradients_->take();
  Duration best = Duration::max();
  for (int step = 0; step <= kMeasuredSteps; ++step) {
    const Duration began = wall_now();
    const Duration cpu = cpu_now();
    (*plan)->begin({samples.images, samples.labels});
    (*plan)->forward_all();
    (*plan)->backward_all(gradients->bytes());
    (void)(*plan)->result();
    if (step == 0) continue;  // it compiles and fetches, which is nobody's speed
    wait_out_slowdown(began, cpu);
    best = std::min(best, wall_now() - began);
  }
  return batch / seconds(best);
}

Result<void> WorkerExecutor::read_choices() {
  const std::string& path = setup_->options.kernels.replay;
  choices_ = {};
  if (path.empty()) return {};
  std::ifstream in(path);
  if (!in) {
    return Error{ErrorCode::kIo, "The kernel choices in " + path + " cannot be read (kernels.replay)."};
  }
  std::stringstream text;
  text << in.rdbuf();
  Result<KernelChoices> choices = KernelChoices::parse(text.str());
  if (!choices) return Error{choices.error().code, path + ": " + choices.error().message};
  choices_ = std::move(*choices);
  return {};
}

Result<void> WorkerExecutor::write_choices() const {
  const std::string& path = setup_->options.kernels.record;
  if (path.empty()) return {};
  // Several W-slaves write the same file: each adds what it knows, and publishes by rename.
  KernelChoices all = choices_;
  if (std::ifstream in(path); in) {
    std::stringstream text;
    text << in.rdbuf();
    if (Result<KernelChoices> before = KernelChoices::parse(text.str())) all.merge(*before);
  }
  const std::string temporary = path + "." + std::to_string(getpid());
  std::ofstream out(temporary);
  out << all.to_text();
  out.close();
  if (!out || std::rename(temporary.c_str(), path.c_str()) != 0) {
    return Error{ErrorCode::kIo, "The kernel choices cannot be written to " + path + " (kernels.record)."};
  }
  return {};
}

Result<Plan*> WorkerExecutor::plan_for(int batch, bool training) {
  const auto key = std::pair(batch, training);
  if (const auto at = plans_.find(key); at != plans_.end()) {
    at->second.used = ++uses_;
    return at->second.plan.get();
  }
  if (plans_.size() >= kCachedPlans) {
    plans_.erase(std::min_element(plans_.begin(), plans_.end(), [](const auto& a, const auto& b) {
      return a.second.used < b.second.used;
    }));
  }
  const std::size_t known = choices_.entries().size();
  CompileOptions options{.layers = setup_->graph.all_layers(), .batch = batch, .training = training};
  Result<std::unique_ptr<Plan>> plan = backend_->compile(setup_->graph, options, choices_);
  if (!plan) return plan.error();
  if (choices_.entries().size() != known) {
    if (Result<void> written = write_choices(); !written) return written.error();
  }
  CachedPlan& cached = plans_[key];
  cached.plan = std::move(*plan);
  cached.used = ++uses_;
  return cached.plan.get();
}

ConstBytes WorkerExecutor::stepped_ahead(const ChunkData& chunk, double rate) {
  const auto size = static_cast<std::size_t>(bytes_of(setup_->scalar));
  const Chunk& place = setup_->chunks[chunk.chunk];
  const ConstBytes gradient = std::as_const(*last_gradient_)
                                  .bytes()
                                  .subspan(static_cast<std::size_t>(place.offset) * size, chunk.bytes.size());
  const double factor = -rate / static_cast<double>(last_samples_);
  corrected_.resize(chunk.bytes.size());
  if (setup_->scalar == Scalar::kF32) {
    add_scaled(factor, elements<float>(gradient), elements<float>(chunk.bytes.bytes()),
               elements<float>(Bytes(corrected_)));
  } else {
    add_scaled(factor, elements<double>(gradient), elements<double>(chunk.bytes.bytes()),
               elements<double>(Bytes(corrected_)));
  }
  return corrected_;
}

Result<void> WorkerExecutor::load(Plan& plan, const std::vector<ChunkData>& parameters,
                                  const std::vector<double>& ahead_rates) {
  if (parameters.size() != static_cast<std::size_t>(setup_->chunks.size())) {
    return Error{ErrorCode::kCorrupt, "The parameters came with chunks missing."};
  }
  for (const ChunkData& c : parameters) {
    const double rate = c.chunk.value < ahead_rates.size() ? ahead_rates[c.chunk.value] : 0;
    plan.load_parameters(setup_->chunks[c.chunk].offset,
                         rate > 0 && last_gradient_ ? stepped_ahead(c, rate) : c.bytes.bytes());
  }
  return {};
}

void WorkerExecutor::prefetch(const Lease& lease) {
  const std::lock_guard lock(mutex_);
  if (!loader_ || stopped_) return;
  tickets_.emplace_back(lease.id, loader_->request(lease.positions));
}

Result<Gradients> WorkerExecutor::compute(const Compute& command) {
  const Duration began = wall_now();
  const Duration cpu = cpu_now();
  data::Loader::Ticket ticket{};
  {
    const std::lock_guard lock(mutex_);
    while (!tickets_.empty() && tickets_.front().first != command.lease.id) tickets_.pop_front();
    if (tickets_.empty()) {
      ticket = loader_->request(command.lease.positions);
    } else {
      ticket = tickets_.front().second;
      tickets_.pop_front();
    }
  }
  std::optional<data::SampleBatch> batch = loader_->take(ticket);
  if (!batch) return Error{ErrorCode::kIo, "The data loader was stopped."};
  Result<Plan*> plan = plan_for(static_cast<int>(batch->size()), true);
  if (!plan) return plan.error();
  if (Result<void> loaded = load(**plan, command.parameters, command.ahead_rates); !loaded)
    return loaded.error();

  const std::shared_ptr<AlignedBuffer> buffer = gradients_->take();
  (*plan)->begin({batch->images, batch->labels});
  (*plan)->forward_all();
  (*plan)->backward_all(buffer->bytes());
  const StepResult step = (*plan)->result();
  last_gradient_ = buffer;
  last_samples_ = step.samples;

  Gradients out;
  out.clock = command.clock;
  out.lease = command.lease.id;
  out.trained = command.lease.positions;
  out.digest = batch->digest;
  out.loss_sum = step.loss_sum;
  out.correct = step.correct;
  out.encoding = encoding_of(setup_->scalar);
  const auto size = static_cast<std::size_t>(bytes_of(setup_->scalar));
  out.chunks.reserve(static_cast<std::size_t>(setup_->chunks.size()));
  for (const Chunk& c : setup_->chunks.chunks) {
    const ConstBytes bytes =
        ConstBytes(buffer->bytes())
            .subspan(static_cast<std::size_t>(c.offset) * size, static_cast<std::size_t>(c.count) * size);
    out.chunks.push_back({c.id, Frame(buffer, bytes)});
  }
  loader_->recycle(std::move(*batch));
  wait_out_slowdown(began, cpu);
  out.busy = wall_now() - began;
  return out;
}

Result<Evaluated> WorkerExecutor::evaluate(const EvaluateSlice& command) {
  const Evaluate& task = command.task;
  if (task.last > dataset_->test().size()) {
    return Error{ErrorCode::kCorrupt, "The test set here has " + std::to_string(dataset_->test().size()) +
                                          " samples, the Master asks for " + std::to_string(task.last) + "."};
  }
  const int batch = static_cast<int>(std::min<std::int64_t>(kEvaluationBatch, task.last - task.first));
  Result<Plan*> plan = plan_for(batch, false);
  if (!plan) return plan.error();
  if (Result<void> loaded = load(**plan, command.parameters, {}); !loaded) return loaded.error();
  Evaluated out{task.snapshot, task.task, 0, 0, 0};
  data::SampleBatch samples;
  for (std::int64_t first = task.first; first < task.last; first += batch) {
    const Duration began = wall_now();
    const Duration cpu = cpu_now();
    data::fill_test_batch(*dataset_, first, std::min<std::int64_t>(first + batch, task.last), samples);
    const StepResult step = (*plan)->evaluate({samples.images, samples.labels});
    out.correct += step.correct;
    out.loss_sum += step.loss_sum;
    out.count += step.samples;
    wait_out_slowdown(began, cpu);
  }
  return out;
}

void WorkerExecutor::wait_out_slowdown(Duration started_wall, Duration started_cpu) {
  std::unique_lock lock(mutex_);
  const double factor = device_.slowdown * (started_wall < extra_until_ ? extra_slowdown_ : 1);
  if (factor <= 1) return;
  const Duration cpu = cpu_now() - started_cpu;
  const Duration end = started_wall + from_seconds(seconds(cpu) * factor);
  const auto deadline = std::chrono::steady_clock::time_point(end);
  stop_signal_.wait_until(lock, deadline, [&] { return stopped_; });
}

void WorkerExecutor::slow_down(double factor, Duration lasts) {
  const std::lock_guard lock(mutex_);
  extra_slowdown_ = factor;
  extra_until_ = lasts > Duration{} ? wall_now() + lasts : Duration::max();
}

void WorkerExecutor::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  if (loader_) loader_->stop();
  stop_signal_.notify_all();
}

}  // namespace convoy
