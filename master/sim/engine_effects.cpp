// What roles ask for: the simulated network, executor and disk. See engine.h.
#include <algorithm>
#include <cmath>

#include "master/sim/engine_node.h"
#include "messages/base/sampling.h"

namespace convoy::sim {

namespace {

std::size_t wire_size(const Message& message) {
  const auto bytes_of = [](const std::vector<ChunkData>& chunks) {
    std::size_t bytes = 0;
    for (const ChunkData& c : chunks) bytes += c.bytes.size();
    return bytes;
  };
  std::size_t bytes = 128;
  if (const auto* m = std::get_if<Push>(&message)) bytes += bytes_of(m->chunks);
  if (const auto* m = std::get_if<PullReply>(&message)) bytes += bytes_of(m->chunks);
  if (const auto* m = std::get_if<SnapshotReply>(&message)) bytes += bytes_of(m->chunks);
  if (const auto* m = std::get_if<ChunkStates>(&message)) bytes += bytes_of(m->chunks);
  if (const auto* m = std::get_if<Replicate>(&message)) {
    if (const auto* push = std::get_if<Push>(&m->entry)) bytes += bytes_of(push->chunks);
  }
  return bytes;
}

}  // namespace

void Engine::carry_out(Node& node, Effect& effect) {
  if (auto* e = std::get_if<Send>(&effect)) {
    transmit(node, e->to, std::move(e->envelope));
  } else if (const auto* wake = std::get_if<WakeAt>(&effect)) {
    push(std::max(now_, wake->at), node.peer, WakeUp{++node.wake_token});
  } else if (std::holds_alternative<WarmUp>(effect)) {
    push(now_ + node.warm_up, node.peer, Event(WarmedUp{node.samples_per_s}));
  } else if (const auto* run = std::get_if<Compute>(&effect)) {
    compute(node, *run);
  } else if (const auto* slice = std::get_if<EvaluateSlice>(&effect)) {
    // The picture must be one cut: every chunk knows the same number of positions.
    std::uint64_t least = ~std::uint64_t{0};
    std::uint64_t most = 0;
    for (const ChunkData& c : slice->parameters) {
      if (c.bytes.empty()) continue;
      const std::uint64_t count = from_frame(c.bytes)[0];
      least = std::min(least, count);
      most = std::max(most, count);
    }
    if (least < most) outcome_.problem = "picture: an evaluated picture mixes states";
    const std::int64_t count = slice->task.last - slice->task.first;
    push(now_ + from_seconds(static_cast<double>(count) / node.samples_per_s), node.peer,
         Event(Evaluated{slice->task.snapshot, slice->task.task, count, 0.0, count}));
  } else if (const auto* init = std::get_if<InitialiseChunks>(&effect)) {
    for (ChunkId c : init->chunks) node.chunks[c] = {};
  } else if (const auto* update = std::get_if<Apply>(&effect)) {
    apply(node, *update);
  } else if (auto* reply = std::get_if<SendChunks>(&effect)) {
    send_chunks(node, *reply);
  } else if (const auto* states = std::get_if<InstallChunks>(&effect)) {
    for (const ChunkData& c : states->chunks)
      node.chunks[c.chunk] = scenario_.executor == Executor::kIntegers ? from_frame(c.bytes) : ChunkValue{};
  } else if (const auto* keep = std::get_if<KeepChunks>(&effect)) {
    std::erase_if(node.chunks, [&](const auto& c) {
      return !std::binary_search(keep->chunks.begin(), keep->chunks.end(), c.first);
    });
  } else if (const auto* picture = std::get_if<TakeSnapshot>(&effect)) {
    node.snapshot.clear();
    for (ChunkId c : picture->chunks) node.snapshot[c] = node.chunks.at(c);
  } else if (const auto* journal = std::get_if<Journal>(&effect)) {
    // Durable from here on, or from the moment that the Master hears of it: a crash in between may find
    // either.
    journal_ = *journal;
    push(now_ + 1ms, node.peer, Event(Journaled{journal->record.view}));
    ++outcome_.view_changes;
  } else if (std::holds_alternative<SaveModel>(effect)) {
    push(now_ + 1ms, node.peer, Event(Saved{}));
  } else if (const auto* quit = std::get_if<Quit>(&effect)) {
    if (node.peer == kMasterPeerId) {
      over_ = true;
      outcome_.finished = !quit->failed;
      if (quit->failed) outcome_.problem = "role: the Master gave up: " + quit->text;
    } else {
      // One that was asked to leave need not wait for a Master that does not answer.
      if (quit->failed && !node.leaving && outcome_.problem.empty())
        outcome_.problem = "role: " + node.name + " failed: " + quit->text;
      if (node.returns_after > Duration{}) {
        if (std::holds_alternative<ParameterServer>(node.role))
          push(now_ + node.returns_after, kMasterPeerId, StartServer{node.index});
        else
          push(now_ + node.returns_after, kMasterPeerId, StartNode{node.index});
      }
      crash(node.peer);
    }
  } else if (const auto* trace = std::get_if<Trace>(&effect)) {
    if (const auto* v = std::get_if<TraceViolation>(trace); v != nullptr && outcome_.problem.empty()) {
      outcome_.problem = "role: " + node.name + " traces a violation: " + v->text;
      over_ = true;
    }
    if (const auto* log = std::get_if<TraceLog>(trace))
      log_written_[{log->server, log->incarnation}] += log->entries.size();
  }
}

void Engine::transmit(const Node& from, PeerId to, Envelope envelope) {
  auto* push_message = std::get_if<Push>(&envelope.message);
  if (!scenario_.in_parts || push_message == nullptr || push_message->chunks.size() < 2)
    return transmit_whole(from, to, std::move(envelope));
  // Layer by layer, as a backward pass makes it: the last chunks leave first.
  std::vector<ChunkData> chunks = std::move(push_message->chunks);
  while (!chunks.empty()) {
    push_message->chunks = {std::move(chunks.back())};
    chunks.pop_back();
    transmit_whole(from, to, envelope);
  }
}

void Engine::transmit_whole(const Node& from, PeerId to, Envelope envelope) {
  if (cut_off(from.peer, to) || lost_to_others(from.peer, to, envelope.message)) return;
  const Network& net = scenario_.network;
  // The life signs of P-slaves are spared where losing one may end the run: five lost in a row are no
  // protocol fault.
  const bool spared = std::holds_alternative<ParameterServer>(from.role) &&
                      std::holds_alternative<Heartbeat>(envelope.message);
  if (net.loss > 0 && !spared && unit() < net.loss) return;
  const std::size_t size = wire_size(envelope.message);
  const std::pair link{from.peer, to};
  Time& free = link_free_[link];
  free = std::max(free, now_) + from_seconds(static_cast<double>(size) / net.bandwidth);
  Time arrival = free + net.latency;
  if (net.jitter > Duration{}) arrival = arrival + from_seconds(-std::log(1 - unit()) * seconds(net.jitter));
  if (net.reorder > 0 && unit() < net.reorder) {
    arrival = arrival + from_seconds(unit() * seconds(net.reorder_delay));
  } else {
    Time& last = fifo_[link];
    arrival = last = std::max(last, arrival);
  }
  const bool twice = net.duplicate > 0 && unit() < net.duplicate;
  if (twice) push(arrival + from_seconds(unit() * seconds(net.reorder_delay)), to, Event(envelope));
  push(arrival, to, Event(std::move(envelope)));
}

void Engine::compute(Node& node, const Compute& effect) {
  const double slow = node.slow_until > now_ ? node.slow : 1;
  const double noise = 1 + scenario_.jitter * (2 * unit() - 1);
  const auto samples = static_cast<double>(effect.lease.positions.size());
  const Duration busy = from_seconds(samples / node.samples_per_s * slow * noise);
  node.busy_until = std::max(node.busy_until, now_) + busy;
  Gradients done;
  done.clock = effect.clock;
  done.lease = effect.lease.id;
  done.trained = effect.lease.positions;
  done.digest = positions_digest(effect.lease.positions, scenario_.sample_count, scenario_.seed);
  done.loss_sum = samples;
  done.busy = busy;
  for (const ChunkData& c : effect.parameters) {
    done.chunks.push_back({c.chunk, scenario_.executor == Executor::kIntegers
                                        ? to_frame(value_of(c.chunk, effect.lease.positions))
                                        : Frame{}});
  }
  if (scenario_.in_parts && done.chunks.size() > 1) {
    Gradients first = done;
    first.last = false;
    first.busy = {};
    const auto half = static_cast<std::ptrdiff_t>(done.chunks.size() / 2);
    first.chunks.erase(first.chunks.begin(), first.chunks.begin() + half);
    done.chunks.resize(static_cast<std::size_t>(half));
    push(node.busy_until - busy / 2, node.peer, Event(std::move(first)));
  }
  push(node.busy_until, node.peer, Event(std::move(done)));
}

void Engine::apply(Node& node, const Apply& effect) {
  const std::int64_t applied = effect.samples_before + effect.samples;
  if (applied > most_applied_) {
    start_after_samples(most_applied_, applied);
    most_applied_ = applied;
  }
  if (scenario_.executor != Executor::kIntegers) return;
  for (const Contribution& c : effect.contributions) {
    for (const ChunkData& data : c.chunks) add(node.chunks.at(data.chunk), from_frame(data.bytes));
  }
}

void Engine::send_chunks(Node& node, SendChunks& effect) {
  std::vector<ChunkData> data;
  for (ChunkId c : effect.chunks) {
    const auto& from = effect.snapshot ? node.snapshot : node.chunks;
    data.push_back({c, scenario_.executor == Executor::kIntegers ? to_frame(from.at(c)) : Frame{}});
  }
  if (auto* reply = std::get_if<PullReply>(&effect.envelope.message))
    reply->chunks = std::move(data);
  else if (auto* picture = std::get_if<SnapshotReply>(&effect.envelope.message))
    picture->chunks = std::move(data);
  else if (auto* states = std::get_if<ChunkStates>(&effect.envelope.message))
    states->chunks = std::move(data);
  transmit(node, effect.to, std::move(effect.envelope));
}

}  // namespace convoy::sim
