#include "tests/transcripts/stage.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "messages/base/sampling.h"

namespace convoy::transcripts {
namespace {

std::vector<std::string> split(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// "key=value" -> value, for one of the words; `otherwise` when there is none.
std::string option(const std::vector<std::string>& words, const std::string& key,
                   const std::string& otherwise) {
  for (const std::string& word : words) {
    if (word.rfind(key + "=", 0) == 0) return word.substr(key.size() + 1);
  }
  return otherwise;
}

std::int64_t number(const std::vector<std::string>& words, const std::string& key, std::int64_t otherwise) {
  return std::atoll(option(words, key, std::to_string(otherwise)).c_str());
}

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

Duration duration(const std::string& text) {
  return from_seconds(std::atof(text.c_str()));
}

}  // namespace

std::string Stage::command(const std::string& line) {
  const std::vector<std::string> words = split(line);
  if (words.empty()) return "error: no command\n";
  const std::string& verb = words[0];
  const std::string first = words.size() > 1 ? words[1] : "";
  const std::string second = words.size() > 2 ? words[2] : "";
  if (verb == "run") return run(words);
  if (verb == "quietly") {
    const std::string out = command(line.substr(line.find("quietly") + 8));
    return out.rfind("error:", 0) == 0 ? out : "";
  }
  if (verb == "deliver") return deliver(first, second, false);
  if (verb == "repeat") return deliver(first, second, true);
  if (verb == "drop") return drop(first, second);
  if (verb == "settle") return settle();
  if (verb == "pending") return pending();
  if (verb == "send") return write_message(words);
  if (verb == "pass") {
    now_ = now_ + duration(first);
    return "";
  }
  if (verb == "start") {
    std::string out;
    for (std::size_t i = 1; i < words.size(); ++i) out += start(words[i]);
    return out;
  }
  Node* node = find(first);
  if (node == nullptr) return "error: unknown command or node: " + line + "\n";
  if (verb == "finish") return finish(first);
  if (verb == "tick") return step(*node, Tick{});
  if (verb == "leave") return step(*node, LeaveRequested{});
  if (verb == "allow") return step(*node, KeysChanged{{words.begin() + 2, words.end()}});
  if (verb == "crash") {
    // Its sockets close, so everybody hears; what it sent before is on its way.
    const PeerId peer = node->peer;
    nodes_.erase(first);
    names_[peer] = first + "(dead)";
    std::string out;
    for (auto& [name, other] : nodes_) out += step(other, PeerLost{peer});
    return out;
  }
  return "error: unknown command: " + line + "\n";
}

std::string Stage::run(const std::vector<std::string>& words) {
  SyncOptions& sync = options_.sync;
  const std::string mode = option(words, "mode", "dsp");
  sync.mode = mode == "bsp"       ? SyncMode::kBsp
              : mode == "dynamic" ? SyncMode::kDynamic
              : mode == "asp"     ? SyncMode::kAsp
                                  : SyncMode::kDsp;
  sync.bound = sync.mode == SyncMode::kAsp ? kNoBound : number(words, "bound", 0);
  sync.bound_low = number(words, "low", sync.bound);
  sync.pull_ahead = has(words, "pull-ahead");
  sync.batch = number(words, "batch", 4);
  sync.failure_timeout = 5s;
  options_.run = RunId(1);
  options_.run_text = "run";
  sync.sample_count = number(words, "samples", 16);
  sync.end_position = number(words, "end", sync.sample_count);
  options_.test_count = number(words, "test", 0);
  options_.evaluate_every = number(words, "evaluate_every", 0);
  options_.chunk_bytes.assign(static_cast<std::size_t>(number(words, "chunks", 2)), 4);
  options_.equal_partition = true;
  options_.min_w_slaves = static_cast<std::size_t>(number(words, "w_slaves", 2));
  options_.backups = has(words, "backups");
  options_.min_p_slaves = static_cast<std::size_t>(number(words, "p_slaves", 1));
  return "";
}

std::string Stage::start(const std::string& name) {
  if (name.empty() || nodes_.contains(name)) return "error: cannot start " + name + "\n";
  const PeerId peer = name[0] == 'm' ? kMasterPeerId : PeerId(next_peer_++);
  names_[peer] = name;
  // A later life of a node has its name with a tick; the Master knows it by the same name.
  const std::string node_name = name.substr(0, name.find('\''));
  const auto role = [&]() -> Role {
    if (name[0] == 'm') {
      // A later life has what an earlier one wrote down.
      if (name.size() > 1) ++options_.term;
      if (journal_) options_.restart = MasterRestart{*journal_, logged_};
      return Master(options_);
    }
    if (name[0] == 'p') {
      ParameterServerOptions options;
      options.self = peer;
      options.name = node_name;
      options.host = "host";
      options.address = node_name + ":1";
      return ParameterServer(options);
    }
    WorkerOptions options;
    options.self = peer;
    options.name = node_name;
    options.host = "host";
    options.device = "cpu";
    return Worker(options);
  };
  Node& node = nodes_.emplace(name, Node{peer, role(), {}, {}, {}, false, false}).first->second;
  return step(node, Started{});
}

bool Stage::on_link(const Transit& t, const std::string& link, const std::string& message) const {
  if (!message.empty() && message != name_of(t.envelope.message)) return false;
  if (link.empty()) return true;
  const std::size_t arrow = link.find("->");
  if (arrow == std::string::npos) return false;
  const std::string from = link.substr(0, arrow);
  const std::string to = link.substr(arrow + 2);
  const auto is = [&](PeerId peer, const std::string& name) {
    return name.empty() || name == "*" || names_.at(peer) == name;
  };
  return is(t.from, from) && is(t.to, to);
}

std::string Stage::deliver(const std::string& link, const std::string& message, bool repeat) {
  std::deque<Transit> chosen;
  std::deque<Transit> rest;
  for (Transit& t : transit_) {
    const bool goes = on_link(t, link, message);
    if (!goes || repeat) rest.push_back(t);
    if (goes) chosen.push_back(std::move(t));
  }
  transit_ = std::move(rest);
  if (chosen.empty()) return "error: nothing to deliver\n";
  std::string out;
  for (const Transit& t : chosen) {
    const auto node =
        std::find_if(nodes_.begin(), nodes_.end(), [&](const auto& n) { return n.second.peer == t.to; });
    if (node == nodes_.end()) continue;
    const std::string effects = step(node->second, t.envelope);
    out += named("> " + names_.at(t.from) + " to " + node->first + " in ");
    std::ostringstream view;
    view << t.envelope.view;
    out += view.str() + ": " + named(describe(t.envelope.message)) + "\n" + effects;
  }
  return out;
}

std::string Stage::drop(const std::string& link, const std::string& message) {
  const std::size_t before = transit_.size();
  std::erase_if(transit_, [&](const Transit& t) { return on_link(t, link, message); });
  return transit_.size() == before ? "error: nothing to drop\n" : "";
}

// Everything that needs no decision: messages, the journal, warming up. Computing waits for `finish`.
std::string Stage::settle() {
  std::string out;
  for (bool moved = true; moved;) {
    moved = false;
    while (!transit_.empty()) {
      const Transit t = transit_.front();
      out += deliver(names_.at(t.from) + "->" + names_.at(t.to), name_of(t.envelope.message), false);
      moved = true;
    }
    for (auto& [name, node] : nodes_) {
      if (!node.warming && node.journaling.empty()) continue;
      out += finish(name);
      moved = true;
      break;
    }
  }
  return out;
}

std::string Stage::finish(const std::string& name) {
  Node& node = *find(name);
  if (node.warming) {
    node.warming = false;
    return step(node, WarmedUp{100});
  }
  if (node.saving) {
    node.saving = false;
    return step(node, Saved{});
  }
  if (!node.journaling.empty()) {
    const View view = node.journaling.front();
    node.journaling.pop_front();
    return step(node, Journaled{view});
  }
  if (!node.computing.empty()) {
    const Compute c = node.computing.front();
    node.computing.pop_front();
    Gradients g;
    g.clock = c.clock;
    g.lease = c.lease.id;
    g.trained = c.lease.positions;
    g.digest = positions_digest(g.trained, options_.sync.sample_count, 0);
    g.chunks = c.parameters;
    return step(node, g);
  }
  if (!node.evaluating.empty()) {
    const Evaluate task = node.evaluating.front().task;
    node.evaluating.pop_front();
    Evaluated e;
    e.snapshot = task.snapshot;
    e.task = task.task;
    e.correct = e.count = task.last - task.first;
    return step(node, e);
  }
  return "error: " + name + " has nothing to finish\n";
}

// A message that the sender's role would not send now: `send w0 p0 push clock=7 lease=1 from=0 to=4 chunk=0`.
std::string Stage::write_message(const std::vector<std::string>& words) {
  const Node* from = words.size() > 3 ? find(words[1]) : nullptr;
  const Node* to = from == nullptr ? nullptr : find(words[2]);
  if (to == nullptr) return "error: send FROM TO MESSAGE key=value ...\n";
  const std::string& kind = words[3];
  Envelope envelope;
  envelope.from = from->peer;
  if (const auto* worker = std::get_if<Worker>(&from->role)) envelope.view = worker->record().view;
  if (const auto* server = std::get_if<ParameterServer>(&from->role)) envelope.view = server->record().view;
  envelope.view.attempt = static_cast<std::uint32_t>(number(words, "attempt", envelope.view.attempt));
  envelope.incarnation = Incarnation(static_cast<std::uint32_t>(number(words, "incarnation", 1)));
  const ShardId shard(static_cast<std::uint32_t>(number(words, "shard", 0)));
  const Clock clock(number(words, "clock", 0));
  const Clock committed(number(words, "committed", 0));
  if (kind == "push") {
    Push push;
    push.shard = shard;
    push.clock = clock;
    push.lease = LeaseId(static_cast<std::uint64_t>(number(words, "lease", 0)));
    push.trained = IntervalSet{{number(words, "from", 0), number(words, "to", 0)}};
    push.chunks = {{ChunkId(static_cast<std::uint32_t>(number(words, "chunk", 0))), Frame{}}};
    envelope.message = push;
  } else if (kind == "pull") {
    envelope.message = Pull{shard, clock, Clock(number(words, "after", 0)), committed};
  } else if (kind == "commit") {
    envelope.message = Commit{shard, committed};
  } else if (kind == "prepare") {
    envelope.message = Prepare{View{1, static_cast<std::uint32_t>(number(words, "next", 0))}, envelope.view};
  } else if (kind == "lease-request") {
    envelope.message = LeaseRequest{clock, committed, has(words, "idle")};
  } else {
    return "error: no such message: " + kind + "\n";
  }
  transit_.push_back({from->peer, to->peer, std::move(envelope)});
  return "";
}

std::string Stage::step(Node& node, const Event& event) {
  const std::string name = names_.at(node.peer);
  Effects effects;
  std::visit([&](auto& role) { role.step(now_, event, effects); }, node.role);
  std::string out;
  for (Effect& effect : effects) {
    if (std::holds_alternative<WakeAt>(effect)) continue;
    out += name + ": " + named(describe(effect)) + "\n";
    if (auto* send = std::get_if<Send>(&effect)) {
      transit_.push_back({node.peer, send->to, std::move(send->envelope)});
    } else if (auto* chunks = std::get_if<SendChunks>(&effect)) {
      std::vector<ChunkData> data;
      for (ChunkId c : chunks->chunks) data.push_back({c, Frame{}});
      if (auto* reply = std::get_if<PullReply>(&chunks->envelope.message)) reply->chunks = data;
      if (auto* states = std::get_if<ChunkStates>(&chunks->envelope.message)) states->chunks = data;
      if (auto* reply = std::get_if<SnapshotReply>(&chunks->envelope.message)) reply->chunks = data;
      transit_.push_back({node.peer, chunks->to, std::move(chunks->envelope)});
    } else if (const auto* compute = std::get_if<Compute>(&effect)) {
      node.computing.push_back(*compute);
    } else if (const auto* slice = std::get_if<EvaluateSlice>(&effect)) {
      node.evaluating.push_back(*slice);
    } else if (const auto* journal = std::get_if<Journal>(&effect)) {
      node.journaling.push_back(journal->record.view);
      journal_ = *journal;
    } else if (std::holds_alternative<WarmUp>(effect)) {
      node.warming = true;
    } else if (std::holds_alternative<SaveModel>(effect)) {
      node.saving = true;
    } else if (const auto* trace = std::get_if<Trace>(&effect)) {
      if (const auto* log = std::get_if<TraceLog>(trace))
        logged_[{log->server, log->incarnation}] += log->entries.size();
    }
  }
  return out;
}

std::string Stage::pending() const {
  std::string out;
  for (const Transit& t : transit_)
    out += names_.at(t.from) + "->" + names_.at(t.to) + " " + named(describe(t.envelope.message)) + "\n";
  return out.empty() ? "nothing\n" : out;
}

Stage::Node* Stage::find(const std::string& name) {
  const auto at = nodes_.find(name);
  return at == nodes_.end() ? nullptr : &at->second;
}

// Peers by name, leases of the first term by their place in it.
std::string Stage::named(std::string text) const {
  const auto replace = [&](const std::string& prefix, const auto& written) {
    for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at + 1)) {
      std::size_t end = at + prefix.size();
      while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
      if (end == at + prefix.size()) continue;
      const std::string with = written(std::strtoull(text.c_str() + at + prefix.size(), nullptr, 10));
      text.replace(at, end - at, with);
    }
  };
  replace("peer ", [&](std::uint64_t peer) {
    const auto name = names_.find(PeerId(peer));
    return name == names_.end() ? "peer " + std::to_string(peer) : name->second;
  });
  replace("lease ", [](std::uint64_t lease) { return "lease " + std::to_string(lease & 0xffffffff); });
  return text;
}

}  // namespace convoy::transcripts
