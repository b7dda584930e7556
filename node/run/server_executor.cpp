#include "node/run/server_executor.h"

#include <cstring>

#include "messages/base/check.h"

namespace convoy {
namespace {

// A received frame as elements. Frames from the network are aligned to 8 bytes by the transport.
template <class T>
std::span<const T> values(const Frame& frame) {
  return elements<T>(frame.bytes());
}

}  // namespace

ServerExecutor::ServerExecutor(RunSetup setup, const SyncOptions& sync)
    : setup_(std::move(setup)), sync_(sync), schedule_(schedule_of(setup_.options)) {}

void ServerExecutor::initialise(const InitialiseChunks& command) {
  const config::TrainOptions& train = setup_.options.train;
  const auto size = static_cast<std::size_t>(bytes_of(setup_.scalar));
  chunks_.clear();
  for (ChunkId id : command.chunks) {
    const Chunk& chunk = setup_.chunks[id];
    const std::size_t bytes = static_cast<std::size_t>(chunk.count) * size;
    State& state = chunks_.try_emplace(id, bytes).first->second;
    const Bytes into = state.parameters.write();
    if (setup_.scalar == Scalar::kF32) {
      convoy::initialise(setup_.graph, setup_.options.seed, chunk.offset, elements<float>(into));
    } else {
      convoy::initialise(setup_.graph, setup_.options.seed, chunk.offset, elements<double>(into));
    }
    if (train.momentum > 0) state.velocity.assign(bytes, std::byte{0});
    if (setup_.options.eval.average > 0) {
      state.average = std::make_unique<CowBuffer>(bytes);
      std::memcpy(state.average->write().data(), state.parameters.read().data(), bytes);
    }
  }
}

void ServerExecutor::apply(const Apply& command) {
  if (setup_.scalar == Scalar::kF32) {
    apply_as<float>(command);
  } else {
    apply_as<double>(command);
  }
}

template <class T>
void ServerExecutor::apply_as(const Apply& command) {
  const config::TrainOptions& train = setup_.options.train;
  SgdStep step;
  step.learning_rate = learning_rate(schedule_, command.samples_before, sync_.end_position);
  step.momentum = train.momentum;
  step.weight_decay = train.weight_decay;
  step.nesterov = train.nesterov;
  step.average_decay = setup_.options.eval.average;
  step.samples = command.samples;
  step.weight = command.weight;
  last_step_ = step;
  const std::size_t count = command.contributions.front().chunks.size();
  std::vector<std::span<const T>> parts(command.contributions.size());
  for (std::size_t k = 0; k < count; ++k) {
    const ChunkId id = command.contributions.front().chunks[k].chunk;
    State& state = chunks_.at(id);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const ChunkData& data = command.contributions[i].chunks[k];
      CONVOY_CHECK(data.chunk == id, "contributions list other chunks");
      parts[i] = values<T>(data.bytes);
    }
    std::span<const T> gradient = parts.front();
    if (parts.size() > 1) {
      sum_.resize(gradient.size_bytes());
      sum_in_order(elements<T>(Bytes(sum_)), parts);
      gradient = elements<T>(ConstBytes(sum_));
    }
    const std::span<T> w = elements<T>(state.parameters.write());
    const std::span<T> average = state.average ? elements<T>(state.average->write()) : std::span<T>();
    sgd_step(step, gradient, w, elements<T>(Bytes(state.velocity)), average);
  }
}

void ServerExecutor::take_snapshot(const TakeSnapshot&) {
  for (auto& [id, state] : chunks_) {
    state.snapshot = state.average ? state.average->picture() : state.parameters.picture();
  }
}

Frame ServerExecutor::look_ahead(State& state, double delay) {
  const std::shared_ptr<AlignedBuffer> buffer = state.ahead.take();
  if (setup_.scalar == Scalar::kF32) {
    convoy::look_ahead(*last_step_, delay, elements<float>(state.parameters.read()),
                       elements<float>(ConstBytes(state.velocity)), elements<float>(buffer->bytes()));
  } else {
    convoy::look_ahead(*last_step_, delay, elements<double>(state.parameters.read()),
                       elements<double>(ConstBytes(state.velocity)), elements<double>(buffer->bytes()));
  }
  return Frame(buffer, buffer->bytes());
}

void ServerExecutor::fill(SendChunks& command) {
  const bool ahead =
      !command.snapshot && command.expected_delay > 0 && last_step_ && last_step_->momentum > 0;
  std::vector<ChunkData> data;
  data.reserve(command.chunks.size());
  for (ChunkId id : command.chunks) {
    State& state = chunks_.at(id);
    data.push_back({id, command.snapshot ? state.snapshot
                        : ahead          ? look_ahead(state, command.expected_delay)
                                         : state.parameters.picture()});
  }
  if (auto* reply = std::get_if<PullReply>(&command.envelope.message)) {
    reply->encoding = encoding_of(setup_.scalar);
    if (last_step_) reply->ahead_rate = last_step_->learning_rate * command.expected_delay;
    reply->chunks = std::move(data);
  } else if (auto* picture = std::get_if<SnapshotReply>(&command.envelope.message)) {
    picture->encoding = encoding_of(setup_.scalar);
    picture->chunks = std::move(data);
  }
}

}  // namespace convoy
