// What a P-slave computes, on one thread: initial values, optimiser steps, pictures of its chunks.
//
// It owns the parameters, the momentum and the weight average of its shard. Pictures are reference-counted:
// while a reply or a snapshot still holds a chunk, the next step writes to a fresh copy.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "actors/role.h"
#include "kernels/reference/optimiser.h"
#include "node/run/run_setup.h"
#include "node/run/shared_buffer.h"

namespace convoy {

class ServerExecutor {
 public:
  ServerExecutor(RunSetup setup, const SyncOptions& sync);

  void initialise(const InitialiseChunks& command);
  // Takes over chunks as another P-slave packed them. REQUIRES: frames that check_tensors() has passed.
  void install(const InstallChunks& command);
  void keep(const KeepChunks& command);
  // One optimiser step for every chunk of the shard. REQUIRES: frames that check_tensors() has passed.
  void apply(const Apply& command);
  void take_snapshot(const TakeSnapshot& command);
  // Puts the chunks, as they are now or in the snapshot, into the command's PullReply or SnapshotReply, or
  // their whole state into its ChunkStates: parameters, momentum, weight average, as far as the run has them.
  // With an expected delay and momentum, a PullReply gets the parameters as momentum alone will have moved
  // them by then.
  void fill(SendChunks& command);

 private:
  struct State {
    explicit State(std::size_t bytes) : parameters(bytes), ahead(bytes) {}
    CowBuffer parameters;
    BufferPool ahead;                    // for replies that look ahead
    std::vector<std::byte> velocity;     // empty without momentum
    std::unique_ptr<CowBuffer> average;  // none without eval.average
  };

  template <class T>
  void apply_as(const Apply& command);
  State& make(ChunkId id);
  static Frame pack(const State& state);
  Frame look_ahead(State& state, double delay);

  RunSetup setup_;
  SyncOptions sync_;
  Schedule schedule_;
  std::map<ChunkId, State> chunks_;
  std::map<ChunkId, Frame> snapshot_;  // outlives the chunks: they may move on while it is evaluated
  std::optional<SgdStep> last_step_;
  std::vector<std::byte> sum_;  // of a bsp clock's contributions, one chunk at a time
};

}  // namespace convoy
