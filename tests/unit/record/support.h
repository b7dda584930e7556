// Files as text, and a run in small for tests of node/record.
#pragma once

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "master/master.h"
#include "messages/base/result.h"
#include "messages/base/sampling.h"
#include "messages/messages.h"
#include "node/record/metrics.h"
#include "tests/support/folder.h"

namespace convoy::record {

using Json = nlohmann::ordered_json;

using test::TemporaryFolder;

inline void write_file(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  BOOST_REQUIRE(file.good());
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  BOOST_REQUIRE_MESSAGE(file.good(), path);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::vector<Json> read_lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<Json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(Json::parse(line));
  return lines;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

template <class T>
T require(Result<T> result) {
  BOOST_REQUIRE_MESSAGE(result.ok(), (result.ok() ? std::string() : result.error().message));
  return std::move(*result);
}
inline void require(const Result<void>& result) {
  BOOST_REQUIRE_MESSAGE(result.ok(), (result.ok() ? std::string() : result.error().message));
}

inline Time at(double s) {
  return Time{from_seconds(s)};
}

inline constexpr std::uint64_t kSeed = 7;

// What a P-slave logs for positions [begin, end) of a data set of `n` samples.
inline CommitLogEntry entry(std::uint32_t member, std::int64_t clock, std::int64_t begin, std::int64_t end,
                            std::int64_t n, double loss_sum = 0) {
  CommitLogEntry e;
  e.member = {MemberId(member), Incarnation(1)};
  e.clock = Clock(clock);
  e.trained = IntervalSet{{begin, end}};
  e.digest = positions_digest(e.trained, n, kSeed);
  e.loss_sum = loss_sum;
  return e;
}

inline ViewRecord view_record(std::uint32_t attempt, std::int64_t floor,
                              const std::vector<std::uint32_t>& members) {
  ViewRecord record;
  record.view = View{1, attempt};
  record.floor = Clock(floor);
  for (const std::uint32_t id : members)
    record.members.push_back({{MemberId(id), Incarnation(1)}, PeerId(100 + id), Clock(floor)});
  record.servers.push_back({ServerId(0), Incarnation(1), PeerId(200), "127.0.0.1:4000", ""});
  record.servers.push_back({ServerId(1), Incarnation(1), PeerId(201), "127.0.0.1:4001", ""});
  record.shards.push_back({ServerId(0), {}, {ChunkId(0), ChunkId(1)}});
  record.shards.push_back({ServerId(1), {}, {ChunkId(2)}});
  return record;
}

inline MasterStatus::Member status_member(std::uint32_t id, std::int64_t clock, double busy_s,
                                          double waiting_s) {
  MasterStatus::Member m;
  m.key = {MemberId(id), Incarnation(1)};
  m.name = "w-slave-" + std::to_string(id);
  m.host = "alpha";
  m.device = "cpu";
  m.in_view = true;
  m.clock = Clock(clock);
  m.batch = 32;
  m.busy = from_seconds(busy_s);
  m.waiting = from_seconds(waiting_s);
  return m;
}

// Two members in the middle of a run of 1.25 epochs of 60,000 samples.
inline MasterStatus running_status() {
  MasterStatus s;
  s.view = View{1, 2};
  s.c_min = Clock(700);
  s.samples = 44'800;
  s.end = 75'000;
  s.sample_count = 60'000;
  s.started = true;
  s.members = {status_member(0, 702, 9, 1), status_member(1, 700, 10, 0)};
  s.servers.push_back({ServerId(0), "p-slave-0", "alpha", "127.0.0.1:41001", true, {}});
  s.servers.push_back({ServerId(1), "p-slave-1", "alpha", "127.0.0.1:41002", true, {}});
  return s;
}

inline RunMetrics running_metrics() {
  RunMetrics m;
  m.c_min = Clock(701);
  m.samples = 45'000;
  m.started = true;
  m.elapsed_s = 8.4;
  m.samples_per_s = 5312.4;
  m.remaining_s = 5.65;
  m.loss = 0.08123;
  m.last_evaluation = RunMetrics::Evaluation{0.5, 0.9843, 0.05, false};
  m.best_accuracy = 0.9843;
  m.members[MemberId(0)] = {Clock(705), 4, 0.31, 3300};
  m.members[MemberId(1)] = {Clock(701), 0, 0.02, 2012};
  return m;
}

inline RunTitle run_title() {
  RunTitle t;
  t.name = "lenet-mnist";
  t.model = "lenet";
  t.data = "mnist";
  t.mode = "dsp";
  t.bound = 4;
  t.batch = 64;
  t.address = "192.0.2.1:7777";
  return t;
}

}  // namespace convoy::record
