#include "master/sim/minimise.h"

#include <algorithm>
#include <iomanip>
#include <limits>
#include <sstream>
#include <utility>
#include <vector>

#include "messages/base/check.h"

namespace convoy::sim {
namespace {

using Change = std::function<bool(Scenario&)>;  // false: there is nothing to change

// Who objects stands before the colon.
std::string checker_of(const std::string& problem) {
  return problem.substr(0, problem.find(':'));
}

bool drop_fault(Scenario& s, std::size_t at) {
  if (at >= s.faults.size()) return false;
  s.faults.erase(s.faults.begin() + static_cast<std::ptrdiff_t>(at));
  for (Fault& f : s.faults) {
    if (f.after_fault == at) f.after_fault.reset();
    if (f.after_fault && *f.after_fault > at) --*f.after_fault;
  }
  return true;
}

// From the last to the first, so that places before stay what they were.
template <typename Of>
void drop_faults_if(Scenario& s, const Of& of) {
  for (std::size_t i = s.faults.size(); i-- > 0;) {
    if (of(s.faults[i])) drop_fault(s, i);
  }
}

bool drop_worker(Scenario& s, std::size_t at) {
  if (at >= s.workers.size() || s.workers.size() == 1) return false;
  s.workers.erase(s.workers.begin() + static_cast<std::ptrdiff_t>(at));
  const auto of_worker = [](const Fault& f) { return !f.on_server && !f.on_master; };
  drop_faults_if(s, [&](const Fault& f) { return of_worker(f) && f.worker == at; });
  for (Fault& f : s.faults) {
    if (of_worker(f) && f.worker > at) --f.worker;
  }
  return true;
}

bool drop_server(Scenario& s, std::size_t at) {
  if (at >= s.servers + s.more_servers.size()) return false;
  if (at < s.servers) {
    if (s.servers == 1) return false;
    --s.servers;
  } else {
    s.more_servers.erase(s.more_servers.begin() + static_cast<std::ptrdiff_t>(at - s.servers));
  }
  drop_faults_if(s, [&](const Fault& f) { return f.server == at || f.other_server == at; });
  for (Fault& f : s.faults) {
    if (f.server && *f.server > at) --*f.server;
    if (f.other_server && *f.other_server > at) --*f.other_server;
  }
  return true;
}

template <typename T>
Change set(T Scenario::*member, T value) {
  return [=](Scenario& s) { return std::exchange(s.*member, value) != value; };
}

template <typename T>
Change set(T Network::*member, T value) {
  return [=](Scenario& s) { return std::exchange(s.network.*member, value) != value; };
}

template <typename T>
Change halve(T Scenario::*member) {
  return [=](Scenario& s) { return std::exchange(s.*member, std::max<T>(1, s.*member / 2)) > 1; };
}

// Largest first.
std::vector<Change> changes_of(const Scenario& s) {
  std::vector<Change> changes;
  for (std::size_t i = s.faults.size(); i-- > 0;)
    changes.emplace_back([i](Scenario& t) { return drop_fault(t, i); });
  for (std::size_t i = s.workers.size(); i-- > 0;)
    changes.emplace_back([i](Scenario& t) { return drop_worker(t, i); });
  for (std::size_t i = s.servers + s.more_servers.size(); i-- > 0;)
    changes.emplace_back([i](Scenario& t) { return drop_server(t, i); });
  changes.push_back(set(&Network::loss, 0.0));
  changes.push_back(set(&Network::duplicate, 0.0));
  changes.push_back(set(&Network::reorder, 0.0));
  changes.push_back(set(&Network::jitter, Duration{}));
  changes.push_back(set(&Scenario::jitter, 0.0));
  changes.push_back(set(&Scenario::in_parts, false));
  changes.push_back(set(&Scenario::uneven_chunks, false));
  changes.push_back(set(&Scenario::equal_partition, true));
  changes.push_back(set(&Scenario::evaluate_every, std::int64_t{0}));
  changes.push_back(set(&Scenario::test_count, std::int64_t{0}));
  changes.push_back(halve(&Scenario::end_position));
  changes.push_back(halve(&Scenario::sample_count));
  changes.push_back(halve(&Scenario::chunks));
  for (std::size_t i = 0; i < s.workers.size(); ++i) {
    changes.emplace_back([i](Scenario& t) {
      if (i >= t.workers.size()) return false;  // dropped since
      WorkerSpec& w = t.workers[i];
      return std::exchange(w.after_samples, 0) != 0 || std::exchange(w.starts, Duration{}) != Duration{};
    });
  }
  return changes;
}

class Writer {
 public:
  template <typename T>
  void set(const std::string& name, const T& value) {
    out_ << "  " << name << " = " << value << ";\n";
  }
  void set(const std::string& name, bool value) {
    out_ << "  " << name << " = " << std::boolalpha << value << ";\n";
  }
  void set(const std::string& name, Duration value) {
    out_ << "  " << name << " = Duration(" << value.count() << ");\n";
  }
  template <typename T>
  void differs(const std::string& name, const T& value, const T& usual) {
    if (value != usual) set(name, value);
  }
  void line(const std::string& text) { out_ << "  " << text << "\n"; }
  std::string text() const { return out_.str(); }
  Writer() { out_ << std::setprecision(std::numeric_limits<double>::max_digits10); }

 private:
  std::ostringstream out_;
};

const char* code_of(SyncMode mode) {
  constexpr const char* kNames[] = {"kBsp", "kDsp", "kDynamic", "kAsp"};
  return kNames[static_cast<std::size_t>(mode)];
}

const char* code_of(FaultKind kind) {
  constexpr const char* kNames[] = {"kCrash", "kFreeze", "kSlow", "kLeave", "kPartition", "kAlone"};
  return kNames[static_cast<std::size_t>(kind)];
}

const char* code_of(Strikes strikes) {
  constexpr const char* kNames[] = {"kNamed", "kSender", "kReceiver", "kOwner"};
  return kNames[static_cast<std::size_t>(strikes)];
}

void write_sync(Writer& to, const SyncOptions& sync) {
  to.set("s.sync.mode", std::string("SyncMode::") + code_of(sync.mode));
  if (sync.bound == kNoBound) {
    to.line("s.sync.bound = s.sync.bound_low = kNoBound;");
  } else {
    to.set("s.sync.bound", sync.bound);
    to.set("s.sync.bound_low", sync.bound_low);
  }
  to.set("s.sync.pull_ahead", sync.pull_ahead);
  to.set("s.sync.pull_ahead_alone", sync.pull_ahead_alone);
  to.set("s.sync.batch", sync.batch);
  to.set("s.sync.failure_timeout", sync.failure_timeout);
}

void write_fault(Writer& to, const Fault& f) {
  const Fault usual;
  to.line("Fault& f = s.faults.emplace_back();");
  to.set("f.kind", std::string("FaultKind::") + code_of(f.kind));
  to.differs("f.on_server", f.on_server, usual.on_server);
  to.differs("f.on_master", f.on_master, usual.on_master);
  to.differs("f.worker", f.worker, usual.worker);
  if (f.server) to.set("f.server", *f.server);
  if (f.other_server) to.set("f.other_server", *f.other_server);
  to.differs("f.at", f.at, usual.at);
  to.differs("f.after_samples", f.after_samples, usual.after_samples);
  to.differs("f.after_events", f.after_events, usual.after_events);
  if (!f.after_message.empty()) to.set("f.after_message", "\"" + f.after_message + "\"");
  to.differs("f.message_count", f.message_count, usual.message_count);
  if (f.after_fault) to.set("f.after_fault", *f.after_fault);
  if (f.strikes != usual.strikes) to.set("f.strikes", std::string("Strikes::") + code_of(f.strikes));
  to.differs("f.or_another", f.or_another, usual.or_another);
  to.differs("f.lasts", f.lasts, usual.lasts);
  to.differs("f.factor", f.factor, usual.factor);
  to.differs("f.inbound", f.inbound, usual.inbound);
  to.differs("f.outbound", f.outbound, usual.outbound);
}

}  // namespace

Minimised minimise(const Scenario& scenario, const Judge& judge) {
  Minimised best{scenario, judge(scenario), 1};
  CONVOY_CHECK(!best.problem.empty(), "nothing is wrong with ", scenario.seed);
  const std::string checker = checker_of(best.problem);
  for (bool shorter = true; shorter;) {
    shorter = false;
    // A change that was made leaves later ones what they were, or without anything to change.
    for (const Change& change : changes_of(best.scenario)) {
      Scenario candidate = best.scenario;
      if (!change(candidate)) continue;
      ++best.runs;
      const std::string problem = judge(candidate);
      if (problem.empty() || checker_of(problem) != checker) continue;
      best.scenario = std::move(candidate);
      best.problem = problem;
      shorter = true;
    }
  }
  return best;
}

std::string as_code(const Scenario& s) {
  const Scenario usual;
  Writer to;
  to.line("Scenario s;");
  to.set("s.seed", s.seed);
  write_sync(to, s.sync);
  to.differs("s.sample_count", s.sample_count, usual.sample_count);
  to.differs("s.end_position", s.end_position, usual.end_position);
  to.differs("s.test_count", s.test_count, usual.test_count);
  to.differs("s.evaluate_every", s.evaluate_every, usual.evaluate_every);
  to.differs("s.chunks", s.chunks, usual.chunks);
  to.differs("s.uneven_chunks", s.uneven_chunks, usual.uneven_chunks);
  to.differs("s.equal_partition", s.equal_partition, usual.equal_partition);
  to.differs("s.lease_ahead", s.lease_ahead, usual.lease_ahead);
  to.differs("s.servers", s.servers, usual.servers);
  to.differs("s.backups", s.backups, usual.backups);
  to.differs("s.min_w_slaves", s.min_w_slaves, usual.min_w_slaves);
  to.differs("s.jitter", s.jitter, usual.jitter);
  to.differs("s.in_parts", s.in_parts, usual.in_parts);
  to.differs("s.deadline", s.deadline, usual.deadline);
  to.set("s.network.latency", s.network.latency);
  to.differs("s.network.jitter", s.network.jitter, usual.network.jitter);
  to.differs("s.network.loss", s.network.loss, usual.network.loss);
  to.differs("s.network.duplicate", s.network.duplicate, usual.network.duplicate);
  to.differs("s.network.reorder", s.network.reorder, usual.network.reorder);
  for (const ServerSpec& p : s.more_servers) {
    std::ostringstream text;
    text << "s.more_servers.push_back({Duration(" << p.starts.count() << "), " << p.after_samples << "});";
    to.line(text.str());
  }
  for (const WorkerSpec& w : s.workers) {
    std::ostringstream text;
    text << std::setprecision(std::numeric_limits<double>::max_digits10) << "s.workers.push_back({"
         << w.samples_per_s << ", Duration(" << w.starts.count() << "), " << w.after_samples << ", Duration("
         << w.warm_up.count() << ")});";
    to.line(text.str());
  }
  for (const Fault& f : s.faults) {
    to.line("{");
    write_fault(to, f);
    to.line("}");
  }
  return to.text();
}

}  // namespace convoy::sim
