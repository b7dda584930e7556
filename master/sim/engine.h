// The simulator's engine: pops (time, sequence, node) from a heap and steps the very roles that run for real,
// with a simulated network, executor and faults. One thread, no wall clock, reproducible: the same scenario
// gives the same event hash.
//
// A Watcher sees every effect and every step; the invariant checkers are Watchers.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <variant>
#include <vector>

#include "actors/parameter_server.h"
#include "actors/worker.h"
#include "master/master.h"
#include "master/sim/integer_executor.h"
#include "master/sim/scenario.h"

namespace convoy::sim {

class Engine;

class Watcher {
 public:
  virtual ~Watcher() = default;
  // Stands before what it found.
  virtual const char* name() const { return "watcher"; }
  virtual void on_begin(const Engine&) {}
  // Before the role sees it.
  virtual void on_event(Time, PeerId, const Event&) {}
  virtual void on_effect(Time, PeerId, const Effect&) {}
  virtual void after_step(Time, PeerId) {}
  // `victim`: none when the fault strikes nobody.
  virtual void on_fault(Time, const Fault&, std::optional<PeerId> /*victim*/) {}
  virtual void at_end(Time) {}
  // The first thing that was wrong, after the name of who saw it; empty while all is well.
  const std::string& violation() const { return violation_; }

 protected:
  void violate(const std::string& text) {
    if (violation_.empty()) violation_ = std::string(name()) + ": " + text;
  }

 private:
  std::string violation_;
};

struct Outcome {
  bool finished = false;  // the Master ended the run as trained
  std::string problem;    // first violation, failure or missed deadline; empty when all is well
  Time ended;
  std::uint64_t events = 0;
  std::uint64_t hash = 0;  // of every event in order
  std::uint64_t view_changes = 0;
  double allowance_used = 0;  // by the progress checker, when it watched
};

class Engine {
 public:
  explicit Engine(const Scenario& scenario);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Watchers must outlive the engine's run.
  void watch(Watcher& watcher) { watchers_.push_back(&watcher); }
  Outcome run();

  const Scenario& scenario() const { return scenario_; }
  const Master& master() const;
  // Alive P-slaves and W-slaves; nullptr when `peer` is none.
  const ParameterServer* server(PeerId peer) const;
  const Worker* worker(PeerId peer) const;
  // What the P-slave's chunks amount to now.
  const std::map<ChunkId, ChunkValue>& chunks(PeerId server) const;
  bool frozen(PeerId peer, Time now) const;
  bool master_down() const { return master_down_; }
  // The W-slave's life that goes on; none while it is down.
  std::optional<PeerId> peer_of(std::size_t worker) const { return worker_peers_[worker]; }
  // All faults and joins that have struck so far are over by then.
  Time quiet_from() const { return quiet_from_; }

 private:
  struct Node;
  struct StartNode {
    std::size_t worker;  // index in the scenario
  };
  struct StartServer {
    std::size_t server;
  };
  struct StartMaster {};
  struct FaultDue {
    std::size_t index;
    std::optional<PeerId> victim;  // else the one that the fault names
  };
  struct WakeUp {
    std::uint64_t token;
  };
  struct Thaw {};
  using Payload = std::variant<Event, StartNode, StartServer, StartMaster, FaultDue, WakeUp, Thaw>;
  struct Item {
    Time at;
    std::uint64_t sequence;
    PeerId to;
    std::shared_ptr<const Payload> payload;
    friend bool operator<(const Item& a, const Item& b) {
      return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;  // earliest on top
    }
  };

  void push(Time at, PeerId to, Payload payload);
  Node* find(PeerId peer);
  const Node* find(PeerId peer) const;
  Node& add_worker(std::size_t index);
  Node& add_server(std::size_t index);
  MasterOptions master_options() const;
  void restart_master();
  std::optional<PeerId> victim_of(const Fault& fault, std::optional<PeerId> chosen) const;
  bool may_be_missed(const Fault& fault) const;
  bool can_be_lost(PeerId server) const;
  void deliver(PeerId to, const std::shared_ptr<const Payload>& payload);
  void wake_or_step(Node& node, const Payload& payload);
  void step(Node& node, const Event& event);
  void carry_out(Node& node, Effect& effect);
  void transmit(const Node& from, PeerId to, Envelope envelope);
  void transmit_whole(const Node& from, PeerId to, Envelope envelope);
  void start_fault(std::size_t index, std::optional<PeerId> chosen);
  void start_partition(const Fault& fault, PeerId victim);
  void start_after_event();
  void start_after_message(PeerId to, const Envelope& envelope);
  void start_after_samples(std::int64_t before, std::int64_t now_applied);
  void crash(PeerId peer);
  void compute(Node& node, const Compute& effect);
  void apply(Node& node, const Apply& effect);
  void send_chunks(Node& node, SendChunks& effect);
  bool cut_off(PeerId from, PeerId to) const;
  bool lost_to_others(PeerId from, PeerId to, const Message& message) const;
  // Frozen, or cut off from the Master, or only just back: it may be taken for dead.
  bool in_doubt(const Node& node) const;
  double unit();
  Scenario scenario_;
  std::vector<Watcher*> watchers_;
  std::priority_queue<Item> queue_;
  std::map<PeerId, std::unique_ptr<Node>> nodes_;
  std::vector<std::optional<PeerId>> server_peers_;  // by index, the one alive
  std::vector<std::optional<PeerId>> worker_peers_;  // by scenario index, the one alive
  std::map<std::pair<PeerId, PeerId>, Time> link_free_;
  std::map<std::pair<PeerId, PeerId>, Time> fifo_;  // last arrival a link: order is kept unless reordered
  // Of a node in all of its lives.
  struct Partition {
    bool of_server;
    std::size_t index;
    PeerId other;
    bool inbound, outbound;
    Time until;
  };
  std::optional<PeerId> near_end(const Partition& partition) const;
  std::vector<Partition> partitions_;
  struct MasterCut {  // from everybody
    bool inbound, outbound;
    Time until;
  };
  std::vector<MasterCut> master_cuts_;
  std::vector<std::pair<PeerId, Time>> alone_;  // until then
  // Messages that each fault has still to see before it strikes; none while it waits for another fault.
  std::vector<std::optional<std::uint64_t>> awaited_messages_;
  Time now_{};
  std::uint64_t sequence_ = 0;
  std::uint64_t draws_ = 0;
  std::uint64_t lives_ = 0;
  std::uint64_t server_lives_ = 0;
  // The Master's disk.
  std::uint32_t term_ = 1;
  std::optional<Journal> journal_;
  std::map<ServerKey, std::uint64_t> log_written_;
  bool master_down_ = false;
  Time quiet_from_{};
  std::int64_t most_applied_ = 0;  // samples, at the P-slave that is furthest
  Outcome outcome_;
  bool over_ = false;
};

}  // namespace convoy::sim
