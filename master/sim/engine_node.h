// A simulated process: its role and what its shell would keep. The engine's own; nobody else includes it.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <variant>

#include "master/sim/engine.h"

namespace convoy::sim {

struct Engine::Node {
  PeerId peer;
  std::string name;
  std::variant<Master, ParameterServer, Worker> role;
  std::size_t index = 0;  // of the worker in the scenario
  Time frozen_until{};
  std::deque<std::shared_ptr<const Payload>> backlog;  // came while frozen
  std::uint64_t wake_token = 0;
  // W-slave's executor
  double samples_per_s = 0;
  double slow = 1;
  Time slow_until{};
  Duration warm_up{};
  Time busy_until{};
  bool leaving = false;
  Duration returns_after{};  // once it has left
  // P-slave's executor
  std::map<ChunkId, ChunkValue> chunks;
  std::map<ChunkId, ChunkValue> snapshot;
};

}  // namespace convoy::sim
