// The stage of a transcript: Master, P-slaves and W-slaves whose every message waits until a command
// delivers, drops or repeats it. Nothing happens by itself, time included, so a transcript shows each role's
// whole answer to each thing that happens.
//
// Names: `m` the Master, `p0`, `p1` P-slaves, `w0`, `w1` W-slaves; a life after a crash is `w0'`,
// `m'` (with the journal of `m`).
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "actors/parameter_server.h"
#include "actors/worker.h"
#include "master/master.h"

namespace convoy::transcripts {

class Stage {
 public:
  // Carries out one command line and returns what the roles did, a line an effect. An unknown command or name
  // returns a line that starts with "error:".
  std::string command(const std::string& line);

 private:
  using Role = std::variant<Master, ParameterServer, Worker>;
  struct Node {
    PeerId peer;
    Role role;
    std::deque<Compute> computing;
    std::deque<EvaluateSlice> evaluating;
    std::deque<View> journaling;
    bool warming = false;
    bool saving = false;
  };
  struct Transit {
    PeerId from;
    PeerId to;
    Envelope envelope;
  };

  std::string run(const std::vector<std::string>& words);
  std::string start(const std::string& name);
  std::string deliver(const std::string& link, const std::string& message, bool repeat);
  std::string drop(const std::string& link, const std::string& message);
  std::string settle();
  std::string finish(const std::string& name);
  std::string write_message(const std::vector<std::string>& words);
  std::string step(Node& node, const Event& event);
  std::string pending() const;

  Node* find(const std::string& name);
  bool on_link(const Transit& t, const std::string& link, const std::string& message) const;
  std::string named(std::string text) const;

  MasterOptions options_;
  // On the Master's disk.
  std::optional<Journal> journal_;
  std::map<ServerKey, std::uint64_t> logged_;
  std::map<std::string, Node> nodes_;
  std::map<PeerId, std::string> names_;
  std::deque<Transit> transit_;
  Time now_{};
  std::uint64_t next_peer_ = 10;
};

}  // namespace convoy::transcripts
