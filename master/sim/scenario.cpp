#include "master/sim/scenario.h"

#include <algorithm>
#include <cmath>
#include <sstream>

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

const char* name_of(SyncMode mode) {
  switch (mode) {
    case SyncMode::kBsp:
      return "bsp";
    case SyncMode::kDsp:
      return "dsp";
    case SyncMode::kDynamic:
      return "dynamic";
    case SyncMode::kAsp:
      return "asp";
  }
  return "?";
}

const char* name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::kCrash:
      return "crash";
    case FaultKind::kFreeze:
      return "freeze";
    case FaultKind::kSlow:
      return "slow";
    case FaultKind::kLeave:
      return "leave";
    case FaultKind::kPartition:
      return "partition";
  }
  return "?";
}

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
    f.after_samples = draw.chance(0.15) ? s.end_position : draw.log_int(1, s.end_position);
    f.at = from_seconds(draw.chance(0.3) ? 0 : draw.log_uniform(1e-6, clock_s * 2));
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
  const char* messages[] = {"Prepare", "Report", "Cut",       "FetchChunks",  "ChunkStates",
                            "Done",    "Go",     "Replicate", "ReplicateAck", "Evaluate"};
  f.after_samples = 0;
  f.after_message = messages[draw.index(10)];
  f.message_count = static_cast<std::uint64_t>(draw.log_int(1, 40));
  f.strikes_sender = draw.chance(0.5);
  f.at = from_seconds(draw.chance(0.5) ? 0 : draw.log_uniform(1e-6, 1e-2));
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
    f.on_server = f.or_another = true;
    f.server = draw.index(servers);
    if (f.kind == FaultKind::kPartition) {
      if (draw.chance(0.5)) f.other_server = draw.index(servers);
      f.inbound = draw.chance(0.6);
      f.outbound = !f.inbound || draw.chance(0.5);
    }
    if (draw.chance(0.5)) strike_at_a_message(draw, f);
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

// The Master dies and comes back, or freezes.
void add_master_faults(Draws& draw, Scenario& s, double clock_s, double span_s) {
  const std::int64_t faults = draw.log_int(1, 3);
  const double timeout = seconds(s.sync.failure_timeout);
  for (std::int64_t i = 0; i < faults; ++i) {
    Fault f = random_fault(draw, s, clock_s, span_s);
    f.kind = draw.chance(0.7) ? FaultKind::kCrash : FaultKind::kFreeze;
    f.on_master = true;
    f.server.reset();
    if (draw.chance(0.5)) strike_at_a_message(draw, f);
    f.lasts = from_seconds(draw.log_uniform(timeout / 50, timeout * 2));
    s.faults.push_back(f);
  }
}

}  // namespace

std::int64_t Scenario::chunk_bytes(std::size_t chunk) const {
  constexpr std::int64_t kEven = 32;
  if (!uneven_chunks) return kEven;
  return 1 + static_cast<std::int64_t>(random_word(seed, 0x63686bu, chunk) % (8 * kEven));
}

Duration Scenario::quiet_from() const {
  Duration end{};
  for (const Fault& f : faults) {
    if (f.at_a_time()) end = std::max(end, f.at + f.lasts);
  }
  for (const ServerSpec& p : more_servers) {
    if (p.after_samples == 0) end = std::max(end, p.starts);
  }
  for (const WorkerSpec& w : workers) {
    if (w.after_samples == 0) end = std::max(end, w.starts + w.warm_up);
  }
  return end;
}

Scenario random_scenario(std::uint64_t seed, const Limits& limits) {
  Draws draw(seed);
  Scenario s;
  s.seed = seed;
  const auto workers = static_cast<std::size_t>(draw.log_int(1, static_cast<std::int64_t>(limits.workers)));
  const bool servers_change = draw.chance(0.6);
  s.servers = servers_change
                  ? 1 + draw.index(limits.servers)
                  : static_cast<std::size_t>(draw.log_int(1, static_cast<std::int64_t>(limits.servers)));
  s.sync = random_sync(draw, workers);
  s.sample_count = draw.log_int(1, 400);
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
  const double clock_s = draw.log_uniform(0.0005, 0.2);
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
  s.min_w_slaves = draw.chance(0.5) ? 1 : std::max<std::size_t>(1, workers / 2);

  s.network.latency = from_seconds(draw.log_uniform(20e-6, 5e-3));
  s.network.jitter = draw.chance(0.5) ? from_seconds(draw.log_uniform(10e-6, 5e-3)) : Duration{};
  if (draw.chance(0.4)) s.network.loss = draw.log_uniform(0.001, 0.1);
  if (draw.chance(0.4)) s.network.duplicate = draw.log_uniform(0.001, 0.2);
  if (draw.chance(0.4)) s.network.reorder = draw.log_uniform(0.001, 0.2);

  const std::size_t faults = draw.chance(0.25) ? 0 : static_cast<std::size_t>(draw.log_int(1, 8));
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
  s.backups = draw.chance(0.8);
  if (servers_change) add_server_changes(draw, s, clock_s, span_s);
  if (draw.chance(0.4)) add_master_faults(draw, s, clock_s, span_s);
  s.in_parts = draw.chance(0.3);
  s.deadline = s.quiet_from() + from_seconds(3600 + 200 * span_s);
  return s;
}

std::string describe(const Scenario& s) {
  std::ostringstream out;
  out << "seed " << s.seed << ": " << name_of(s.sync.mode) << " bound ";
  if (s.sync.bound == kNoBound)
    out << "none";
  else
    out << s.sync.bound;
  out << (s.sync.pull_ahead ? " pull-ahead" : "") << ", " << s.workers.size() << " W-slaves, " << s.servers
      << " P-slaves, " << s.sample_count << " samples to position " << s.end_position << ", batch "
      << s.sync.batch << ", loss " << s.network.loss << " duplicate " << s.network.duplicate << " reorder "
      << s.network.reorder << ", time-out " << seconds(s.sync.failure_timeout) << " s";
  for (std::size_t i = 0; i < s.workers.size(); ++i) {
    const WorkerSpec& w = s.workers[i];
    if (w.after_samples != 0) out << "; w" << i << " joins after sample " << w.after_samples;
  }
  for (const ServerSpec& p : s.more_servers) {
    out << "; another P-slave ";
    if (p.after_samples != 0)
      out << "after sample " << p.after_samples;
    else
      out << "at " << seconds(p.starts);
  }
  if (s.backups) out << "; backups";
  for (const Fault& f : s.faults) out << "; " << describe(f);
  return out.str();
}

std::string describe(const Fault& f) {
  std::ostringstream out;
  out << name_of(f.kind);
  if (f.on_master)
    out << " the Master";
  else
    out << (f.on_server ? " p" : " w") << (f.on_server ? *f.server : f.worker);
  if (!f.after_message.empty())
    out << ", or the " << (f.strikes_sender ? "sender" : "receiver") << ", " << seconds(f.at) << " after "
        << f.after_message << " " << f.message_count;
  else if (f.after_events != 0)
    out << " after event " << f.after_events;
  else
    out << " at " << seconds(f.at);
  if (f.after_samples != 0) out << " after sample " << f.after_samples;
  out << " for " << seconds(f.lasts);
  if (f.kind == FaultKind::kSlow) out << " factor " << f.factor;
  if (f.kind != FaultKind::kPartition) return out.str();
  out << (f.inbound ? (f.outbound ? " both ways" : " inbound") : " outbound") << " with ";
  const auto& with = f.on_server ? f.other_server : f.server;
  if (with)
    out << "p" << *with;
  else
    out << "the Master";
  return out.str();
}

}  // namespace convoy::sim
