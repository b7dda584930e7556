// What a run leaves for `convoy verify`, in small: logs, views and ends that fit together, to be damaged by
// tests.
#pragma once

#include <utility>
#include <vector>

#include "node/record/verify.h"
#include "tests/unit/record/support.h"

namespace convoy::record {

inline constexpr std::int64_t kImages = 10;
inline constexpr std::int64_t kEnd = 25;  // two and a half epochs

inline ServerKey life(std::uint32_t id, std::uint32_t incarnation = 1) {
  return {ServerId(id), Incarnation(incarnation)};
}

// View 1.`attempt` of these P-slaves, a shard each, with the ledger [0, `committed`).
inline Journal::Active view(std::uint32_t attempt, const std::vector<ServerKey>& servers,
                            std::int64_t committed, std::uint32_t member_life = 1) {
  Journal::Active active;
  active.record.view = View{1, attempt};
  for (const ServerKey& s : servers) {
    active.record.servers.push_back({s.id, s.incarnation, PeerId(200 + s.id.value), "127.0.0.1:4000", ""});
    active.record.shards.push_back({s.id, {}, {ChunkId(s.id.value)}});
  }
  const std::int64_t updates = (committed + 3) / 4;
  active.record.members = {{{MemberId(0), Incarnation(member_life)}, PeerId(100), Clock((updates + 1) / 2)},
                           {{MemberId(1), Incarnation(member_life)}, PeerId(101), Clock(updates / 2)}};
  active.ledger.insert(Interval{0, committed});
  return active;
}

// Updates [first, last) of a run in which two members take turns at 4 positions a clock; some cross the end
// of an epoch.
inline std::vector<CommitLogEntry> updates(std::int64_t first, std::int64_t last,
                                           std::uint32_t member_life = 1) {
  std::vector<CommitLogEntry> log;
  for (std::int64_t i = first; i < last; ++i) {
    log.push_back(entry(static_cast<std::uint32_t>(i % 2), i / 2, i * 4, std::min(i * 4 + 4, kEnd), kImages));
    log.back().member.incarnation = Incarnation(member_life);
  }
  return log;
}

// Two P-slaves from the beginning to the end.
inline Evidence steady_run() {
  Evidence run;
  run.views = {view(1, {life(0), life(1)}, 0), view(2, {life(0), life(1)}, kEnd)};
  run.logs = {{life(0), updates(0, 7)}, {life(1), updates(0, 7)}};
  run.finished = true;
  return run;
}

// Updates    0 1 2 3   4 5 6    of views
// P-slave 0  + + + + | +        1 to 4, then it leaves
// P-slave 1  + + + .            1 and 2, then it is lost with the end of its log
//  again               + + +    4 on
// P-slave 2      + + | + + +    2 on
inline Evidence elastic_run() {
  Evidence run;
  run.views = {view(1, {life(0), life(1)}, 0),     view(2, {life(0), life(1), life(2)}, 8),
               view(3, {life(0), life(2)}, 16),    view(4, {life(0), life(1, 2), life(2)}, 16),
               view(5, {life(1, 2), life(2)}, 20), view(6, {life(1, 2), life(2)}, kEnd)};
  run.logs = {{life(0), updates(0, 5)},
              {life(1), updates(0, 3)},
              {life(1, 2), updates(4, 7)},
              {life(2), updates(2, 7)}};
  run.ends = {{life(1), ServerEnd::kLost}, {life(0), ServerEnd::kLeft}};
  run.finished = true;
  return run;
}

// Two P-slaves are lost together when five updates are committed; a checkpoint was made after two. All come
// back in new lives.
inline Evidence rolled_back_run() {
  Evidence run;
  run.views = {view(1, {life(0), life(1)}, 0), view(2, {life(0), life(1)}, 8),
               view(3, {life(0), life(1)}, 12), view(4, {life(0, 2), life(1, 2)}, 8, 2),
               view(5, {life(0, 2), life(1, 2)}, kEnd, 2)};
  run.views[3].record.history = run.views[4].record.history = 1;
  run.logs = {{life(0), updates(0, 5)},
              {life(0, 2), updates(2, 7, 2)},
              {life(1), updates(0, 4)},
              {life(1, 2), updates(2, 7, 2)}};
  run.ends = {{life(0), ServerEnd::kLost}, {life(1), ServerEnd::kLost}};
  run.finished = true;
  return run;
}

inline VerifyReport verify(const Evidence& run) {
  return verify(run, kImages, kEnd, kSeed);
}

// That something is wrong, and that it is said so.
inline bool finds(const VerifyReport& report, const std::string& part) {
  for (const std::string& p : report.problems) {
    if (contains(p, part)) return !report.ok;
  }
  return false;
}

}  // namespace convoy::record
