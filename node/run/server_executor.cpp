#include "node/run/server_executor.h"

#include <algorithm>
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

// A chunk's buffers, of undefined content.
ServerExecutor::State& ServerExecutor::make(ChunkId id) {
  const std::size_t bytes =
      static_cast<std::size_t>(setup_.chunks[id].count) * static_cast<std::size_t>(bytes_of(setup_.scalar));
  chunks_.erase(id);
  State& state = chunks_.try_emplace(id, bytes).first->second;
  if (setup_.options.train.momentum > 0) state.velocity.resize(bytes);
  if (setup_.options.eval.average > 0) state.average = std::make_unique<CowBuffer>(bytes);
  return state;
}

void ServerExecutor::initialise(const InitialiseChunks& command) {
  for (ChunkId id : command.chunks) {
    const Chunk& chunk = setup_.chunks[id];
    State& state = make(id);
    const Bytes into = state.parameters.write();
    if (setup_.scalar == Scalar::kF32) {
      convoy::initialise(setup_.graph, setup_.options.seed, chunk.offset, elements<float>(into));
    } else {
      convoy::initialise(setup_.graph, setup_.options.seed, chunk.offset, elements<double>(into));
    }
    std::fill(state.velocity.begin(), state.velocity.end(), std::byte{0});
    if (state.average) std::memcpy(state.average->write().data(), into.data(), into.size());
  }
}

Frame ServerExecutor::pack(const State& state) {
  std::vector<std::byte> bytes;
  const auto append = [&](ConstBytes part) { bytes.insert(bytes.end(), part.begin(), part.end()); };
  bytes.reserve(state.parameters.read().size() * 3);
  append(state.parameters.read());
  append(state.velocity);
  if (state.average) append(state.average->read());
  return Frame::of(std::move(bytes));
}

void ServerExecutor::install(const InstallChunks& command) {
  for (const ChunkData& c : command.chunks) {
    State& state = make(c.chunk);
    const std::byte* from = c.bytes.data();
    const auto take = [&](Bytes into) {
      std::memcpy(into.data(), from, into.size());
      from += into.size();
    };
    take(state.parameters.write());
    take(state.velocity);
    if (state.average) take(state.average->write());
  }
}

void ServerExecutor::keep(const KeepChunks& command) {
  std::erase_if(chunks_, [&](const auto& c) {
    return !std::binary_search(command.chunks.begin(), command.chunks.end(), c.first);
  });
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

void ServerExecutor::take_snapshot(const TakeSnapshot& command) {
  snapshot_.clear();
  for (ChunkId id : command.chunks) {
    const State& state = chunks_.at(id);
    snapshot_[id] = state.average ? state.average->picture() : state.parameters.picture();
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
  const bool whole = std::holds_alternative<ChunkStates>(command.envelope.message);
  std::vector<ChunkData> data;
  data.reserve(command.chunks.size());
  for (ChunkId id : command.chunks) {
    if (command.snapshot) {
      data.push_back({id, snapshot_.at(id)});
      continue;
    }
    State& state = chunks_.at(id);
    data.push_back({id, whole   ? pack(state)
                        : ahead ? look_ahead(state, command.expected_delay)
                                : state.parameters.picture()});
  }
  if (auto* reply = std::get_if<PullReply>(&command.envelope.message)) {
    reply->encoding = encoding_of(setup_.scalar);
    if (last_step_) reply->ahead_rate = last_step_->learning_rate * command.expected_delay;
    reply->chunks = std::move(data);
  } else if (auto* picture = std::get_if<SnapshotReply>(&command.envelope.message)) {
    picture->encoding = encoding_of(setup_.scalar);
    picture->chunks = std::move(data);
  } else if (auto* states = std::get_if<ChunkStates>(&command.envelope.message)) {
    states->encoding = encoding_of(setup_.scalar);
    states->chunks = std::move(data);
  }
}

}  // namespace convoy
