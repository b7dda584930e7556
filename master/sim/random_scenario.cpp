// Scenarios drawn from a seed. See scenario.h.
#include <algorithm>
#include <array>
#include <cmath>

#include "master/sim/scenario.h"
#include "messages/base/sampling.h"

namespace convoy::sim {
namespace {

// A stream of counter-based draws: the same seed gives the same scenario on every machine and library.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}

  double unit() { return to_unit(random_word(seed_, 0x64726177u, count_++)); }
  bool chance(double p) { return unit() < p; }
  double uniform(double low, double high) { return low + (high - low) * unit(); }
  double log_uniform(double low, double high) { return low * std::exp(unit() * std::log(high / low)); }
  std::int64_t log_int(std::int64_t low, std::int64_t high) {
    const double x = log_uniform(static_cast<double>(low), static_cast<double>(high) + 0.999);
    return std::clamp(static_cast<std::int64_t>(x), low, high);
  }
  std::size_t index(std::size_t count) {
    return std::min(count - 1, static_cast<std::size_t>(unit() * static_cast<double>(count)));
  }

 private:
  std::uint64_t seed_;
  std::uint64_t count_ = 0;
};

SyncOptions random_sync(Draws& draw, std::size_t workers) {
  SyncOptions sync;
  sync.mode = static_cast<SyncMode>(draw.index(4));
  sync.bound = draw.chance(0.2) ? 0 : draw.log_int(1, 8);
  if (sync.mode == SyncMode::kBsp) sync.bound = 0;
  if (sync.mode == SyncMode::kAsp) sync.bound = kNoBound;
  sync.bound_low = sync.bound;
  if (sync.mode == SyncMode::kDynamic) sync.bound_low = sync.bound / 2;
  sync.pull_ahead = sync.bound >= 1 && draw.chance(0.7);
  sync.pull_ahead_alone = draw.chance(0.3);
  sync.batch = draw.log_int(1, 4 * static_cast<std::int64_t>(workers));
  sync.failure_timeout = from_seconds(draw.log_uniform(0.5, 5));
  return sync;
}

// Most faults strike at a moment of the training itself, which short runs would otherwise hardly hit.
Fault random_fault(Draws& draw, const Scenario& s, double clock_s, double span_s) {
  Fault f;
  f.kind = static_cast<FaultKind>(draw.index(5));
  f.worker = draw.index(s.workers.size());
  if (draw.chance(0.25)) {
    f.at = from_seconds(draw.uniform(0, span_s * 1.5));
  } else {
    const bool in_the_end = draw.chance(0.35);
    f.after_samples = in_the_end ? s.end_position : draw.log_int(1, s.end_position);
    f.at = from_seconds(draw.chance(0.3) ? 0
                        : in_the_end     ? draw.log_uniform(1e-3, 1)
                                         : draw.log_uniform(1e-6, clock_s * 2));
  }
  const double timeout = seconds(s.sync.failure_timeout);
  f.lasts = from_seconds(draw.log_uniform(timeout / 50, timeout * 4));
  if ((f.kind == FaultKind::kCrash || f.kind == FaultKind::kLeave) && draw.chance(0.3)) f.lasts = {};
  if (f.kind == FaultKind::kSlow) f.factor = draw.log_uniform(2, 16);
  if (f.kind == FaultKind::kPartition) {
    if (draw.chance(0.5)) f.server = draw.index(s.servers);
    f.inbound = draw.chance(0.6);
    f.outbound = !f.inbound || draw.chance(0.5);
  }
  return f;
}

// In the middle of a view change, of a clock on its way to the backup, of an evaluation: moments that are too
// short to be met by chance.
void strike_at_a_message(Draws& draw, Fault& f) {
  constexpr std::array kMessages{"Prepare",     "Report",       "Cut",      "FetchChunks",
                                 "ChunkStates", "Done",         "Go",       "Join",
                                 "Replicate",   "ReplicateAck", "Evaluate", "SnapshotPull"};
  f.after_samples = 0;
  f.after_message = kMessages[draw.index(kMessages.size())];
  f.message_count = static_cast<std::uint64_t>(draw.log_int(1, 40));
  f.strikes = draw.chance(0.5) ? Strikes::kSender : Strikes::kReceiver;
  f.at = from_seconds(draw.chance(0.5) ? 0 : draw.log_uniform(1e-6, 1e-2));
}

// While it waits for the end of its owner's stream, or for chunks.
void strike_in_a_cut(Draws& draw, Fault& f) {
  const bool fetching = draw.chance(0.5);
  f.after_samples = 0;
  f.after_message = fetching ? "FetchChunks" : "Cut";
  f.message_count = static_cast<std::uint64_t>(draw.log_int(1, fetching ? 6 : 20));
  f.strikes = fetching ? Strikes::kSender : Strikes::kReceiver;
  f.at = {};
}

// Before it is part of the run.
void strike_while_joining(Draws& draw, const Scenario& s, Fault& f) {
  const std::size_t which = draw.index(s.more_servers.size());
  f.server = s.servers + which;
  f.strikes = Strikes::kNamed;
  f.or_another = false;
  f.after_samples = s.more_servers[which].after_samples;
  const double at = draw.log_uniform(1e-5, 1e-2);
  f.at = s.more_servers[which].starts + from_seconds(at);
}

// Some of the faults strike at the same moment.
void strike_at_once(Draws& draw, std::vector<Fault>& faults) {
  const Fault first = faults[draw.index(faults.size())];
  for (Fault& f : faults) {
    if (f.after_fault || draw.chance(0.5)) continue;
    f.at = first.at;
    f.after_samples = first.after_samples;
    f.after_message = first.after_message;
    f.message_count = first.message_count;
    if (f.on_server && f.strikes != Strikes::kOwner) f.strikes = Strikes::kNamed;
  }
}

// P-slaves that come, leave, die, freeze and are cut off.
void add_server_changes(Draws& draw, Scenario& s, double clock_s, double span_s) {
  const std::int64_t joins = draw.chance(0.5) ? draw.log_int(1, 3) : 0;
  for (std::int64_t i = 0; i < joins; ++i) {
    ServerSpec spec;
    if (draw.chance(0.3))
      spec.starts = from_seconds(draw.uniform(0, span_s));
    else
      spec.after_samples = draw.log_int(1, s.end_position);
    s.more_servers.push_back(spec);
  }
  const FaultKind kinds[] = {FaultKind::kCrash, FaultKind::kFreeze, FaultKind::kLeave, FaultKind::kPartition};
  const std::size_t servers = s.servers + s.more_servers.size();
  const std::int64_t faults = draw.chance(0.2) ? 0 : draw.log_int(1, 6);
  for (std::int64_t i = 0; i < faults; ++i) {
    Fault f = random_fault(draw, s, clock_s, span_s);
    f.kind = kinds[draw.index(4)];
    if (!s.backups && draw.chance(0.7)) f.kind = FaultKind::kLeave;  // nothing else can befall them
    f.on_server = f.or_another = true;
    if (draw.chance(0.3)) f.strikes = Strikes::kOwner;
    f.server = draw.index(servers);
    if (f.kind == FaultKind::kPartition) {
      if (draw.chance(0.5)) f.other_server = draw.index(servers);
      f.inbound = draw.chance(0.6);
      f.outbound = !f.inbound || draw.chance(0.5);
    }
    if (joins > 0 && draw.chance(0.15))
      strike_while_joining(draw, s, f);
    else if (draw.chance(0.35))
      strike_in_a_cut(draw, f);
    else if (draw.chance(0.5))
      strike_at_a_message(draw, f);
    const bool may_be_for_ever = f.kind == FaultKind::kCrash || f.kind == FaultKind::kLeave;
    if (may_be_for_ever ? draw.chance(0.7) : f.lasts == Duration{})
      f.lasts = from_seconds(
          draw.log_uniform(seconds(s.sync.failure_timeout) / 50, seconds(s.sync.failure_timeout) * 4));
    // The start waits for all of its P-slaves.
    if (f.lasts == Duration{} && (*f.server < s.servers || !f.after_message.empty()))
      f.lasts = s.sync.failure_timeout;
    s.faults.push_back(f);
  }
}

// An owner is lost while it alone knows of commits, or is cut off from the Master, which has it replaced
// while it goes on. A P-slave comes or goes; then something strikes in the view change that follows.
void lose_an_owner(Draws& draw, Scenario& s, double latency_s) {
  constexpr std::array kInAClock{"Push", "PushAck", "Commit", "Pull", "Pull"};
  constexpr std::array kInAChange{"Report", "Cut", "Cut", "ChunkStates", "Done", "CommitLog"};
  const double timeout = seconds(s.sync.failure_timeout);
  Fault strike;
  strike.on_server = true;
  strike.server = draw.index(4);
  strike.strikes = Strikes::kOwner;
  // After what came before in this chain.
  const auto then = [&](Fault fault, const auto& messages, std::int64_t most) {
    fault.after_message = messages[draw.index(messages.size())];
    fault.message_count = static_cast<std::uint64_t>(draw.log_int(1, most));
    fault.after_fault = s.faults.size() - 1;
    s.faults.push_back(std::move(fault));
  };

  Fault alone = strike;
  const bool goes_on = draw.chance(0.25);
  alone.kind = goes_on ? FaultKind::kPartition : FaultKind::kAlone;
  alone.inbound = draw.chance(0.5);
  alone.after_samples = 1 + static_cast<std::int64_t>(draw.uniform(0, static_cast<double>(s.end_position)));
  alone.lasts =
      from_seconds(goes_on ? timeout * draw.uniform(1, 2) : draw.log_uniform(10 * latency_s, timeout));
  s.faults.push_back(alone);
  if (draw.chance(0.4)) {
    ServerSpec joiner;
    joiner.after_samples = alone.after_samples;
    s.more_servers.push_back(joiner);
  }
  if (!goes_on && draw.chance(0.7)) {
    Fault change;
    change.on_server = draw.chance(0.65);
    change.kind = change.on_server ? FaultKind::kLeave : FaultKind::kCrash;
    change.server = draw.index(s.servers);
    if (draw.chance(0.5)) change.strikes = Strikes::kOwner;
    change.worker = draw.index(s.workers.size());
    change.lasts = from_seconds(draw.log_uniform(timeout / 50, timeout));
    then(change, kInAClock, 6);
  }
  if (goes_on && draw.chance(0.6)) {
    // Another hears nothing of the view change; meanwhile the owner is back, empty.
    Fault deaf;
    deaf.kind = FaultKind::kPartition;
    deaf.on_server = true;
    deaf.server = draw.index(s.servers);
    deaf.outbound = false;
    deaf.lasts = from_seconds(timeout * draw.uniform(1, 3));
    then(deaf, kInAClock, 6);
  }
  Fault loss = strike;
  loss.kind = draw.chance(0.8)   ? FaultKind::kCrash
              : draw.chance(0.5) ? FaultKind::kFreeze
                                 : FaultKind::kPartition;
  loss.at = from_seconds(draw.chance(0.5) ? 0 : draw.log_uniform(latency_s / 10, latency_s * 10));
  loss.lasts = from_seconds(timeout * draw.log_uniform(0.1, 4));
  then(loss, kInAChange, 5);
}

// The Master dies and comes back, or freezes.
void add_master_faults(Draws& draw, Scenario& s, double clock_s, double span_s) {
  const std::int64_t faults = draw.log_int(1, 3);
  const double timeout = seconds(s.sync.failure_timeout);
  for (std::int64_t i = 0; i < faults; ++i) {
    Fault f = random_fault(draw, s, clock_s, span_s);
    const double kind = draw.uniform(0, 1);
    f.kind = kind < 0.5 ? FaultKind::kCrash : kind < 0.8 ? FaultKind::kFreeze : FaultKind::kPartition;
    f.on_master = true;
    f.server.reset();
    f.inbound = f.kind != FaultKind::kPartition || draw.chance(0.7);
    f.outbound = !f.inbound || f.kind != FaultKind::kPartition || draw.chance(0.6);
    if (draw.chance(0.5)) strike_at_a_message(draw, f);
    if (draw.chance(0.15)) {  // while it writes its journal
      f.after_samples = 0;
      f.after_message = "Done";
      f.message_count = static_cast<std::uint64_t>(draw.log_int(1, 40));
      f.at = from_seconds(draw.uniform(0, 1e-3));
    }
    f.lasts = from_seconds(draw.log_uniform(timeout / 50, timeout * 2));
    s.faults.push_back(f);
  }
}

}  // namespace

Scenario random_scenario(std::uint64_t seed, const Limits& limits) {
  Draws draw(seed);
  Scenario s;
  s.seed = seed;
  const bool full_size = draw.chance(0.01);
  const bool owner_lost = !full_size && limits.servers > 1 && draw.chance(0.25);
  const auto most = [](std::size_t n) { return static_cast<std::int64_t>(n); };
  auto workers = static_cast<std::size_t>(
      draw.log_int(1, most(owner_lost ? std::min<std::size_t>(8, limits.workers) : limits.workers)));
  const bool servers_change = draw.chance(0.6);
  // Little happens to a single P-slave.
  const std::int64_t least = owner_lost || (servers_change && limits.servers > 1 && draw.chance(0.8)) ? 2 : 1;
  s.servers = static_cast<std::size_t>(draw.log_int(least, most(limits.servers)));
  if (full_size) {
    workers = limits.workers;
    s.servers = limits.servers;
  }
  s.sync = random_sync(draw, workers);
  if (owner_lost) s.sync.failure_timeout = 500ms;
  s.sample_count = draw.log_int(1, 350);
  s.end_position = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(static_cast<double>(s.sample_count) * draw.uniform(0.3, 3)));
  s.test_count = draw.chance(0.7) ? draw.log_int(1, 400) : 0;
  s.evaluate_every = draw.chance(0.5) ? draw.log_int(1, s.sample_count) : 0;
  s.chunks = static_cast<std::size_t>(draw.log_int(1, 12));
  s.uneven_chunks = draw.chance(0.5);
  s.equal_partition = draw.chance(0.5);
  s.lease_ahead = from_seconds(draw.log_uniform(0.05, 10));
  s.jitter = draw.chance(0.7) ? draw.uniform(0, 0.5) : 0;

  // Speeds such that a clock takes long compared to the network, or not.
  const double latency_s = draw.log_uniform(20e-6, 5e-3);
  const double clock_s = owner_lost ? latency_s * draw.log_uniform(1.5, 15) : draw.log_uniform(0.0005, 0.2);
  if (owner_lost) {
    // With one shard nobody else hears of a commit.
    if (draw.chance(0.5)) s.chunks = 1;
    // Long enough for somebody to be missed.
    const double clocks = 5 + std::min(300.0, 3 * seconds(s.sync.failure_timeout) / clock_s);
    s.end_position = s.sync.batch * static_cast<std::int64_t>(clocks);
  }
  const double mean_speed = static_cast<double>(s.sync.batch) / static_cast<double>(workers) / clock_s;
  const double span_s = static_cast<double>(s.end_position) / static_cast<double>(s.sync.batch) * clock_s;
  for (std::size_t i = 0; i < workers; ++i) {
    WorkerSpec w;
    w.samples_per_s = mean_speed * draw.log_uniform(0.25, 4);
    if (i > 0 && draw.chance(0.3)) {
      if (draw.chance(0.3))
        w.starts = from_seconds(draw.uniform(0, span_s));
      else
        w.after_samples = draw.chance(0.2) ? s.end_position : draw.log_int(1, s.end_position);
    }
    w.warm_up = from_seconds(draw.log_uniform(0.001, 0.5));
    s.workers.push_back(w);
  }

  s.network.latency = from_seconds(latency_s);
  s.network.jitter = draw.chance(0.5) ? from_seconds(draw.log_uniform(10e-6, 5e-3)) : Duration{};
  if (owner_lost) s.network.jitter = from_seconds(latency_s * draw.log_uniform(0.1, 2));
  if (draw.chance(0.4)) s.network.loss = draw.log_uniform(0.001, 0.1);
  if (draw.chance(0.4)) s.network.duplicate = draw.log_uniform(0.001, 0.2);
  if (draw.chance(0.4)) s.network.reorder = draw.log_uniform(0.001, 0.2);

  const std::size_t faults =
      draw.chance(owner_lost ? 0.7 : 0.25) ? 0 : static_cast<std::size_t>(draw.log_int(1, 8));
  for (std::size_t i = 0; i < faults; ++i) s.faults.push_back(random_fault(draw, s, clock_s, span_s));
  // Somebody comes back: a run whose last W-slave is gone for good ends nowhere. One that joins with progress
  // does not count: there may be none left to make it.
  bool survivor = false;
  for (std::size_t i = 0; i < workers; ++i) {
    const bool gone = std::any_of(s.faults.begin(), s.faults.end(), [&](const Fault& f) {
      return !f.on_server && !f.on_master && f.worker == i &&
             (f.kind == FaultKind::kCrash || f.kind == FaultKind::kLeave) && f.lasts == Duration{};
    });
    survivor = survivor || (!gone && s.workers[i].after_samples == 0);
  }
  if (!survivor) {
    for (Fault& f : s.faults) {
      if (!f.on_server && !f.on_master && f.worker == 0 && f.lasts == Duration{})
        f.lasts = s.sync.failure_timeout;
    }
  }
  s.min_w_slaves = 1;
  s.backups = owner_lost || draw.chance(0.8);
  const std::int64_t times = owner_lost ? draw.log_int(1, 4) : 0;
  for (std::int64_t i = 0; i < times; ++i) lose_an_owner(draw, s, latency_s);
  if (servers_change && !owner_lost) add_server_changes(draw, s, clock_s, span_s);
  if (draw.chance(owner_lost ? 0.1 : 0.4)) add_master_faults(draw, s, clock_s, span_s);
  if (!s.faults.empty() && !owner_lost && draw.chance(0.2)) strike_at_once(draw, s.faults);
  s.in_parts = draw.chance(0.3);
  s.deadline = s.quiet_from() + from_seconds(3600 + 200 * span_s);
  return s;
}

}  // namespace convoy::sim
