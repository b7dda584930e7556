#include "node/record/verify.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "messages/base/check.h"
#include "messages/base/sampling.h"
#include "node/data/dataset.h"
#include "node/record/json_text.h"
#include "node/record/text.h"

namespace convoy::record {
namespace {

// Sentences, the first few of a kind in full.
class Problems {
 public:
  explicit Problems(std::vector<std::string>& out) : out_(out) {}
  void add(const std::string& kind, const std::string& sentence) {
    if (++counts_[kind] <= kShown) out_.push_back(sentence);
  }
  void close() {
    for (const auto& [kind, count] : counts_) {
      if (count > kShown) out_.push_back("and " + grouped(count - kShown) + " more: " + kind);
    }
  }

 private:
  static constexpr std::int64_t kShown = 3;
  std::vector<std::string>& out_;
  std::map<std::string, std::int64_t> counts_;
};

std::string name_of(const CommitLogEntry& e) {
  std::ostringstream out;
  out << "clock " << e.clock << " of member " << e.member.id.value << " (life " << e.member.incarnation.value
      << ")";
  return out.str();
}

std::string positions_text(const IntervalSet& set) {
  const Interval& first = set.intervals().front();
  std::string text = grouped(set.size()) + (set.size() == 1 ? " position" : " positions") + ", from " +
                     std::to_string(first.begin) + " on";
  return text;
}

using Key = std::pair<MemberKey, Clock>;

class Verifier {
 public:
  Verifier(std::int64_t sample_count, std::int64_t end_position, std::uint64_t seed)
      : n_(sample_count), end_(end_position), seed_(seed), problems_(report_.problems) {
    report_.sample_count = sample_count;
    report_.end_position = end_position;
  }

  VerifyReport run(const CommitLogs& logs) {
    for (const auto& [server, entries] : logs) report_.servers.push_back(check_log(server, entries));
    if (logs.empty() && end_ > 0) problems_.add("no log", "no P-slave's log is there");
    compare(logs);
    merge();
    problems_.close();
    report_.ok = report_.problems.empty();
    return std::move(report_);
  }

 private:
  std::int64_t epoch_count() const { return (end_ + n_ - 1) / n_; }
  Interval epoch_range(std::int64_t epoch) const { return {epoch * n_, std::min((epoch + 1) * n_, end_)}; }

  VerifyReport::Server check_log(ServerId id, const std::vector<CommitLogEntry>& entries) {
    const std::string whose = "P-slave " + std::to_string(id.value) + ": ";
    VerifyReport::Server server{id, static_cast<std::int64_t>(entries.size()), {}};
    for (std::int64_t e = 0; e < epoch_count(); ++e) server.epochs.push_back({e, 0, 0, 0, true});
    IntervalSet seen;
    for (const CommitLogEntry& entry : entries) {
      if (!entry.trained.empty() && entry.trained.intervals().back().end > end_) {
        problems_.add("positions beyond the end",
                      whose + name_of(entry) + " trained positions beyond the end of the run");
      }
      if (!check_digest(entry)) {
        problems_.add("wrong digest", whose + name_of(entry) +
                                          " trained other samples than those of its positions (" +
                                          positions_text(entry.trained) + "): the digest is wrong");
        mark_digest(server, entry.trained);
      }
      IntervalSet again;
      for (const Interval& i : entry.trained.intervals()) {
        IntervalSet fresh = seen.complement(i);
        IntervalSet whole{i};
        whole.erase(fresh);
        again.insert(whole);
      }
      if (!again.empty()) {
        problems_.add(
            "positions trained twice",
            whose + name_of(entry) + " trained again what was trained before: " + positions_text(again));
        for (VerifyReport::Epoch& e : server.epochs) e.duplicated += overlap(again, epoch_range(e.epoch));
      }
      seen.insert(entry.trained);
    }
    for (VerifyReport::Epoch& e : server.epochs) {
      const Interval range = epoch_range(e.epoch);
      const IntervalSet lost = seen.complement(range);
      e.lost = lost.size();
      e.samples = range.size() - e.lost;
      if (!lost.empty()) {
        problems_.add("positions missing",
                      whose + "epoch " + std::to_string(e.epoch) + " lacks " + positions_text(lost));
      }
    }
    return server;
  }

  // The digests of most entries are the same in every log: each is computed once.
  bool check_digest(const CommitLogEntry& entry) {
    auto& [positions, digest] = digests_[{entry.member, entry.clock}];
    if (positions != entry.trained || positions.empty()) {
      positions = entry.trained;
      digest = positions_digest(entry.trained, n_, seed_);
    }
    return digest == entry.digest;
  }

  void mark_digest(VerifyReport::Server& server, const IntervalSet& trained) const {
    for (VerifyReport::Epoch& e : server.epochs) {
      if (trained.empty() || overlap(trained, epoch_range(e.epoch)) > 0) e.digest_ok = false;
    }
  }

  static std::int64_t overlap(const IntervalSet& set, Interval range) {
    return range.size() - set.complement(range).size();
  }

  void compare(const CommitLogs& logs) {
    if (logs.size() < 2) return;
    const ServerId first = logs.begin()->first;
    const std::map<Key, const CommitLogEntry*> reference = by_key(logs.begin()->second);
    for (auto at = std::next(logs.begin()); at != logs.end(); ++at) {
      const std::string pair =
          "P-slaves " + std::to_string(first.value) + " and " + std::to_string(at->first.value);
      const std::map<Key, const CommitLogEntry*> other = by_key(at->second);
      for (const auto& [key, entry] : reference) {
        const auto found = other.find(key);
        if (found == other.end()) {
          problems_.add("in one log only", pair + " differ: only the first has " + name_of(*entry));
        } else if (found->second->trained != entry->trained || found->second->digest != entry->digest) {
          problems_.add("told differently", pair + " differ in " + name_of(*entry));
        }
      }
      for (const auto& [key, entry] : other) {
        if (!reference.contains(key))
          problems_.add("in one log only", pair + " differ: only the second has " + name_of(*entry));
      }
    }
  }

  std::map<Key, const CommitLogEntry*> by_key(const std::vector<CommitLogEntry>& entries) {
    std::map<Key, const CommitLogEntry*> keyed;
    for (const CommitLogEntry& e : entries) {
      if (!keyed.emplace(Key{e.member, e.clock}, &e).second)
        problems_.add("update applied twice", name_of(e) + " stands twice in a log");
    }
    return keyed;
  }

  void merge() {
    for (std::int64_t e = 0; e < epoch_count(); ++e) {
      const auto index = static_cast<std::size_t>(e);
      VerifyReport::Epoch worst{e, 0, epoch_range(e).size(), 0, false};
      if (!report_.servers.empty()) worst = report_.servers.front().epochs[index];
      for (const VerifyReport::Server& s : report_.servers) {
        const VerifyReport::Epoch& own = s.epochs[index];
        worst.samples = std::min(worst.samples, own.samples);
        worst.lost = std::max(worst.lost, own.lost);
        worst.duplicated = std::max(worst.duplicated, own.duplicated);
        worst.digest_ok = worst.digest_ok && own.digest_ok;
      }
      report_.epochs.push_back(worst);
    }
  }

  const std::int64_t n_;
  const std::int64_t end_;
  const std::uint64_t seed_;
  VerifyReport report_;
  Problems problems_;
  std::map<Key, std::pair<IntervalSet, std::uint64_t>> digests_;
};

Json epochs_json(const std::vector<VerifyReport::Epoch>& epochs) {
  Json json = Json::array();
  for (const VerifyReport::Epoch& e : epochs) {
    json.push_back({{"epoch", e.epoch},
                    {"samples", e.samples},
                    {"lost", e.lost},
                    {"duplicated", e.duplicated},
                    {"digest_ok", e.digest_ok}});
  }
  return json;
}

}  // namespace

VerifyReport verify_logs(const CommitLogs& logs, std::int64_t sample_count, std::int64_t end_position,
                         std::uint64_t seed) {
  CONVOY_CHECK(sample_count > 0 && end_position >= 0, sample_count, " ", end_position);
  return Verifier(sample_count, end_position, seed).run(logs);
}

Result<VerifyReport> verify_run(const RunPaths& paths, const std::string& data_dir) {
  auto options = read_options(paths);
  if (!options) return options.error();
  auto store = CommitLogStore::open_existing(paths.commits());
  if (!store) return store.error();
  auto logs = store->read_all();
  if (!logs) return logs.error();
  auto dataset =
      data::load_dataset(data_dir.empty() ? options->data : data::in_data_dir(options->data, data_dir));
  if (!dataset) return dataset.error();
  const std::int64_t n = (*dataset)->train().size();
  const auto end = static_cast<std::int64_t>(std::llround(options->train.epochs * static_cast<double>(n)));
  VerifyReport report = verify_logs(*logs, n, end, options->seed);
  if (!report.ok && state_of(paths) != RunState::kFinished)
    report.problems.insert(report.problems.begin(), "the run did not finish, so positions are missing");
  return report;
}

std::string verify_json(const VerifyReport& report) {
  Json json;
  json["ok"] = report.ok;
  json["sample_count"] = report.sample_count;
  json["end"] = report.end_position;
  json["epochs"] = epochs_json(report.epochs);
  json["p_slaves"] = Json::array();
  for (const VerifyReport::Server& s : report.servers) {
    json["p_slaves"].push_back(
        {{"id", s.id.value}, {"entries", s.entries}, {"epochs", epochs_json(s.epochs)}});
  }
  json["problems"] = report.problems;
  return dump(json);
}

std::string verify_text(const VerifyReport& report) {
  std::string text;
  for (const VerifyReport::Epoch& e : report.epochs) {
    text += "epoch " + std::to_string(e.epoch) + ": " + grouped(e.samples) + " samples, " + grouped(e.lost) +
            " lost, " + grouped(e.duplicated) + " duplicated, digests " + (e.digest_ok ? "right" : "WRONG") +
            "\n";
  }
  for (const std::string& problem : report.problems) text += "problem: " + problem + "\n";
  const std::size_t servers = report.servers.size();
  if (report.ok) {
    text += "ok: every position was trained exactly once, with the data set's samples; " +
            (servers == 1 ? "one P-slave's log says so\n"
                          : "the logs of " + std::to_string(servers) + " P-slaves agree\n");
  } else {
    text += "NOT ok\n";
  }
  return text;
}

}  // namespace convoy::record
