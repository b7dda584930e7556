#include "node/record/verify.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "messages/base/check.h"
#include "messages/base/sampling.h"
#include "node/data/dataset.h"
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

using UpdateKey = std::pair<MemberKey, Clock>;

std::string name_of(const UpdateKey& update) {
  return "clock " + std::to_string(update.second.value) + " of " + in_words(update.first);
}

// REQUIRES: not empty.
std::string positions_text(const IntervalSet& set) {
  return grouped(set.size()) + (set.size() == 1 ? " position" : " positions") + ", from " +
         std::to_string(set.intervals().front().begin) + " on";
}

IntervalSet without(IntervalSet set, const IntervalSet& other) {
  set.erase(other);
  return set;
}

class Verifier {
 public:
  Verifier(std::int64_t sample_count, std::int64_t end_position, std::uint64_t seed)
      : n_(sample_count), end_(end_position), seed_(seed), problems_(report_.problems) {
    report_.sample_count = sample_count;
    report_.end_position = end_position;
    for (std::int64_t e = 0; e * n_ < end_; ++e) report_.epochs.push_back({e, 0, 0, 0, true});
  }

  VerifyReport run(const Evidence& evidence) {
    if (evidence.logs.empty() && end_ > 0) problems_.add("no log", "no P-slave's log is there");
    std::map<ServerKey, Tenure> served = tenures(evidence, end_);
    for (const auto& [server, log] : evidence.logs) read(server, log, served[server].history);
    merge(survivors(evidence.views));
    check_ledgers(evidence);
    for (auto& [server, tenure] : served) {
      const auto log = evidence.logs.find(server);
      if (log != evidence.logs.end()) check_order(server, tenure, log->second);
      check_tenure(server, std::move(tenure));
    }
    problems_.close();
    report_.ok = report_.problems.empty();
    return std::move(report_);
  }

 private:
  // What the logs tell of one update.
  struct Update {
    ServerKey by;  // who told first
    const CommitLogEntry* told;
    std::uint32_t history;     // of who told
    IntervalSet positions;     // in anybody's words
    std::int64_t repeats = 0;  // in one log
  };
  struct Log {
    std::int64_t entries = 0;
    IntervalSet positions;
  };

  // ---- Each log by itself, and against what others say of the same updates

  void read(ServerKey server, const std::vector<CommitLogEntry>& entries, std::uint32_t history) {
    const std::string whose = in_words(server) + ": ";
    Log& log = logs_[server];
    std::map<UpdateKey, std::int64_t> times;
    for (const CommitLogEntry& entry : entries) {
      const UpdateKey key{entry.member, entry.clock};
      ++log.entries;
      if (entry.trained.empty()) {
        problems_.add("updates without a sample", whose + name_of(key) + " trained nothing");
      } else {
        check_samples(whose, key, entry);
      }
      const auto [at, fresh] = updates_.try_emplace(key, Update{server, &entry, history, entry.trained});
      Update& update = at->second;
      if (!fresh) compare(key, update, server, entry);
      if (update.history != history) {
        problems_.add("updates on both sides of a roll-back",
                      in_words(update.by) + " and " + in_words(server) + " tell of " + name_of(key) +
                          ", and between them the run was rolled back");
      }
      const std::int64_t repeats = times[key]++;
      if (repeats > 0) {
        problems_.add("updates applied twice", whose + name_of(key) + " stands twice in its log");
        update.repeats = std::max(update.repeats, repeats);
      }
      log.positions.insert(entry.trained);
    }
  }

  void check_samples(const std::string& whose, const UpdateKey& key, const CommitLogEntry& entry) {
    if (entry.trained.intervals().back().end > end_) {
      problems_.add("positions beyond the end",
                    whose + name_of(key) + " trained positions beyond the end of the run");
    }
    if (right_digest(key, entry)) return;
    problems_.add("wrong digests", whose + name_of(key) +
                                       " trained other samples than those of its positions (" +
                                       positions_text(entry.trained) + "): the digest is wrong");
    in_epochs(entry.trained, [](VerifyReport::Epoch& e, std::int64_t) { e.digest_ok = false; });
  }

  // The digests of most entries are the same in every log: each is computed once.
  bool right_digest(const UpdateKey& key, const CommitLogEntry& entry) {
    const auto before = updates_.find(key);
    const CommitLogEntry* told = before == updates_.end() ? nullptr : before->second.told;
    if (told != nullptr && told->trained == entry.trained && told->digest == entry.digest)
      return !wrong_.contains(key);
    const bool right = positions_digest(entry.trained, n_, seed_) == entry.digest;
    if (!right && told == nullptr) wrong_.insert(key);
    return right;
  }

  void compare(const UpdateKey& key, Update& update, ServerKey server, const CommitLogEntry& entry) {
    if (update.told->trained == entry.trained && update.told->digest == entry.digest) return;
    problems_.add("told differently",
                  in_words(update.by) + " and " + in_words(server) + " differ in " + name_of(key));
    update.positions.insert(entry.trained);
  }

  // ---- All logs together

  // `kept`: by history that was rolled back from.
  void merge(const std::map<std::uint32_t, IntervalSet>& kept) {
    // By position, so that what has been seen stays a few long intervals.
    std::vector<std::pair<std::int64_t, UpdateKey>> order;
    for (const auto& [key, update] : updates_) {
      if (!update.positions.empty()) order.emplace_back(update.positions.intervals().front().begin, key);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [first, key] : order) {
      const Update& update = updates_.at(key);
      if (const auto history = kept.find(update.history); history != kept.end()) {
        const IntervalSet undone = without(update.positions, history->second);
        if (!undone.empty() && undone != update.positions) {
          problems_.add("updates torn by a roll-back",
                        name_of(key) + " was undone by a roll-back in part: " + positions_text(undone));
        }
        if (undone == update.positions) {
          ++report_.voided;
          continue;
        }
      }
      const IntervalSet again = without(update.positions, without(update.positions, all_));
      if (!again.empty()) {
        problems_.add("positions trained twice",
                      name_of(key) + " trained what another update trained: " + positions_text(again) + "; " +
                          in_words(update.by) + " tells");
      }
      in_epochs(again, [](VerifyReport::Epoch& e, std::int64_t count) { e.duplicated += count; });
      in_epochs(update.positions, [&, times = update.repeats](VerifyReport::Epoch& e, std::int64_t count) {
        e.duplicated += times * count;
      });
      all_.insert(update.positions);
    }
    for (VerifyReport::Epoch& e : report_.epochs) {
      const Interval range{e.epoch * n_, std::min((e.epoch + 1) * n_, end_)};
      const IntervalSet lost = all_.complement(range);
      e.lost = lost.size();
      e.samples = range.size() - e.lost;
      if (!lost.empty()) {
        problems_.add("epochs with positions missing",
                      "epoch " + std::to_string(e.epoch) + " lacks " + positions_text(lost));
      }
    }
  }

  template <class Do>
  void in_epochs(const IntervalSet& positions, Do act) {
    for (const Interval& i : positions.intervals()) {
      for (std::int64_t at = i.begin; at < std::min(i.end, end_);) {
        const std::int64_t epoch = at / n_;
        const std::int64_t next = std::min({i.end, end_, (epoch + 1) * n_});
        act(report_.epochs[static_cast<std::size_t>(epoch)], next - at);
        at = next;
      }
    }
  }

  // ---- Against the journal

  void check_ledgers(const Evidence& evidence) {
    const auto& views = evidence.views;
    if (views.empty()) {
      if (end_ > 0) problems_.add("no view", "no view was ever active: nobody can have trained");
      return;
    }
    for (std::size_t v = 1; v < views.size(); ++v) {
      if (views[v].record.history != views[v - 1].record.history) {
        check_roll_back(views, v);
        continue;
      }
      const IntervalSet taken_back = without(views[v - 1].ledger, views[v].ledger);
      if (!taken_back.empty()) {
        problems_.add("ledgers that shrank", "the ledger of " + in_words(views[v].record.view) + " lacks " +
                                                 positions_text(taken_back) + ", that " +
                                                 in_words(views[v - 1].record.view) + " had");
      }
    }
    const IntervalSet untold = without(views.back().ledger, all_);
    // In a run that finished they are missing from an epoch, and named there.
    if (!untold.empty() && !evidence.finished) {
      problems_.add("ledger without log", "the ledger of " + in_words(views.back().record.view) + " has " +
                                              positions_text(untold) + ", of which no log tells");
    }
    const IntervalSet open = views.back().ledger.complement({0, end_});
    if (evidence.finished && !open.empty()) {
      problems_.add("unfinished ledger", "the run finished, but the ledger of its last view, " +
                                             in_words(views.back().record.view) + ", lacks " +
                                             positions_text(open));
    }
  }

  // A history begins where a checkpoint was made: at the cut of an earlier view.
  void check_roll_back(const std::vector<Journal::Active>& views, std::size_t to) {
    const auto end = views.begin() + static_cast<std::ptrdiff_t>(to);
    const bool known =
        std::any_of(views.begin(), end, [&](const auto& v) { return v.ledger == views[to].ledger; });
    if (!known) {
      problems_.add("roll-backs to nowhere", "the run was rolled back before " +
                                                 in_words(views[to].record.view) +
                                                 ", to a ledger that no view before had");
    }
    for (const ServerRecord& s : views[to].record.servers) {
      const ServerRecord* before = views[to - 1].record.find_server(s.id);
      if (before != nullptr && before->incarnation == s.incarnation) {
        problems_.add("lives that outlast a roll-back", in_words(ServerKey{s.id, s.incarnation}) +
                                                            " goes on after the roll-back before " +
                                                            in_words(views[to].record.view));
      }
    }
  }

  void check_order(ServerKey key, const Tenure& tenure, const std::vector<CommitLogEntry>& log) {
    if (tenure.must_be_complete()) return;  // then everything is there
    if (const auto update = left_out(tenure, log)) {
      problems_.add("logs that leave out updates", in_words(key) + ", " + describe(tenure) +
                                                       ": its log tells of later updates and leaves out " +
                                                       name_of(*update));
    }
  }

  void check_tenure(ServerKey key, Tenure tenure) {
    const Log& log = logs_[key];
    const LogGap gap = hold_against(tenure, log.positions);
    const std::string who = in_words(key) + ", " + describe(tenure) + ": ";
    if (!gap.missing.empty()) {
      problems_.add("logs that lack updates", who + "its log lacks " + positions_text(gap.missing) +
                                                  ", committed while it served" + told_by(gap.missing));
    }
    if (!gap.foreign.empty()) {
      problems_.add("logs with updates that were not committed then",
                    who + "its log has " + positions_text(gap.foreign) +
                        ", which were not committed while it served" + told_by(gap.foreign));
    }
    report_.servers.push_back(
        {key, std::move(tenure), log.entries, log.positions.size(), gap.missing.size(), gap.foreign.size()});
  }

  // Which update the first of these positions belong to.
  std::string told_by(const IntervalSet& positions) const {
    const std::int64_t first = positions.intervals().front().begin;
    const auto at = std::find_if(updates_.begin(), updates_.end(),
                                 [&](const auto& u) { return u.second.positions.contains(first); });
    return at == updates_.end() ? std::string() : " (" + name_of(at->first) + ")";
  }

  const std::int64_t n_;
  const std::int64_t end_;
  const std::uint64_t seed_;
  VerifyReport report_;
  Problems problems_;
  std::map<ServerKey, Log> logs_;
  std::map<UpdateKey, Update> updates_;
  std::set<UpdateKey> wrong_;  // whose first account has a wrong digest
  IntervalSet all_;            // positions in any log
};

}  // namespace

VerifyReport verify(const Evidence& evidence, std::int64_t sample_count, std::int64_t end_position,
                    std::uint64_t seed) {
  CONVOY_CHECK(sample_count > 0 && end_position >= 0, sample_count, " ", end_position);
  return Verifier(sample_count, end_position, seed).run(evidence);
}

Result<VerifyReport> verify_run(const RunPaths& paths, const std::string& data_dir) {
  auto options = read_options(paths);
  if (!options) return options.error();
  auto evidence = read_evidence(paths);
  if (!evidence) return evidence.error();
  auto dataset =
      data::load_dataset(data_dir.empty() ? options->data : data::in_data_dir(options->data, data_dir));
  if (!dataset) return dataset.error();
  const std::int64_t n = (*dataset)->train().size();
  const auto end = static_cast<std::int64_t>(std::llround(options->train.epochs * static_cast<double>(n)));
  VerifyReport report = verify(*evidence, n, end, options->seed);
  if (!report.ok && !evidence->finished)
    report.problems.insert(report.problems.begin(), "the run did not finish, so positions are missing");
  return report;
}

}  // namespace convoy::record
