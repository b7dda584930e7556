#include "master/sim/scenario.h"

#include <algorithm>
#include <sstream>

#include "messages/base/sampling.h"

namespace convoy::sim {
namespace {

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
    case FaultKind::kAlone:
      return "alone";
  }
  return "?";
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
  if (f.strikes == Strikes::kSender) out << ", or the sender";
  if (f.strikes == Strikes::kReceiver) out << ", or the receiver";
  if (f.strikes == Strikes::kOwner) out << " as owner of that shard";
  if (!f.after_message.empty())
    out << " " << seconds(f.at) << " after " << f.after_message << " " << f.message_count;
  else if (f.after_events != 0)
    out << " after event " << f.after_events;
  else
    out << " at " << seconds(f.at);
  if (f.after_samples != 0) out << " after sample " << f.after_samples;
  if (f.after_fault) out << " since fault " << *f.after_fault;
  out << " for " << seconds(f.lasts);
  if (f.kind == FaultKind::kSlow) out << " factor " << f.factor;
  if (f.kind != FaultKind::kPartition) return out.str();
  out << (f.inbound ? (f.outbound ? " both ways" : " inbound") : " outbound") << " with ";
  const auto& with = f.on_server ? f.other_server : f.server;
  if (f.on_master)
    out << "everybody";
  else if (with)
    out << "p" << *with;
  else
    out << "the Master";
  return out.str();
}

}  // namespace convoy::sim
