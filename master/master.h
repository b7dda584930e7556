// The Master's role: scheduler of the run. It knows the nodes, decides views, leases samples, has pictures
// evaluated and ends the run when the ledger is full.
//
// View change (design: the one mechanism): Prepare -> Reports -> Cut -> Dones and the log up to the cut ->
// journal -> Go. One attempt runs at a time; what comes up meanwhile starts the next when it is through, and
// a P-slave that is lost in the middle starts another, higher one. P-slaves come, leave and die like
// W-slaves, as long as each shard has a copy somewhere.
//
// master.cpp holds nodes, samples and time; master_view.cpp the view change and the end;
// master_complaints.cpp parts nodes that do not reach each other. Not thread-safe; one owner calls step. See
// role.h for the contract of events and effects.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/failure_detector.h"
#include "actors/role.h"
#include "master/complaints.h"
#include "master/evaluation.h"
#include "master/lease_book.h"

namespace convoy {

// Where an earlier Master of the run was, by its journal and its record of the logs.
struct MasterRestart {
  Journal last;                                 // active view
  std::map<ServerKey, std::uint64_t> log_next;  // entries written down, by life
};

struct MasterOptions {
  RunId run;
  std::uint32_t term = 1;  // journaled before the first message
  SyncOptions sync;
  std::string run_text;                   // for Welcome
  std::vector<std::string> allowed_keys;  // who may dial P-slaves, until KeysChanged says otherwise
  std::string build_id;
  std::int64_t test_count = 0;      // 0: no evaluation
  std::int64_t evaluate_every = 0;  // positions between evaluations; 0: only at the end
  std::vector<std::int64_t> chunk_bytes;
  bool equal_partition = false;
  std::size_t min_w_slaves = 1;
  std::size_t min_p_slaves = 1;
  bool backups = false;  // each shard has a second copy, as soon as there are two P-slaves
  Duration lease_ahead = std::chrono::seconds(30);
  std::optional<MasterRestart> restart;  // none: the run begins
};

// A picture of the Master for people; made on request.
struct MasterStatus {
  struct Member {
    MemberKey key;
    PeerId peer;
    std::string name, host, device;
    bool in_view = false;
    bool stand_by = false;
    Clock clock;
    std::int64_t batch = 0;
    std::int64_t samples = 0;
    Duration busy{};
    Duration waiting{};
    double samples_per_s = 0;
    Duration silent_for{};
  };
  struct Server {
    ServerId id;
    std::string name, host, address;
    bool in_view = false;
    Duration silent_for{};
    PeerId peer;
  };
  View view;
  Clock c_min;
  std::int64_t samples = 0;  // committed, as logged
  std::int64_t end = 0;
  std::int64_t sample_count = 0;
  bool started = false;
  bool ended = false;
  std::vector<Member> members;
  std::vector<Server> servers;
  std::vector<std::string> awaited;  // what the start still waits for, in words
};

class Master {
 public:
  explicit Master(MasterOptions options);

  void step(Time now, const Event& event, Effects& out);

  const ViewRecord& record() const { return base_; }
  const IntervalSet& ledger() const { return ledger_; }
  // The record that becomes active next, once its cut has gone out; else nullptr.
  const ViewRecord* next_record() const {
    return attempt_ && attempt_->phase != Attempt::Phase::kReports ? &attempt_->cut.record : nullptr;
  }
  MasterStatus status(Time now) const;
  // The P-slave of the record, in that life, is known and not taken for dead.
  bool alive(const ServerRecord& server) const;
  bool ended() const { return stage_ == Stage::kStopping || stage_ == Stage::kDone; }

 private:
  enum class Stage { kWaiting, kTraining, kClosing, kStopping, kDone };

  struct Node {
    PeerId peer;
    RoleKind role = RoleKind::kWorker;
    std::string name, host, device, address, public_key;
    std::uint32_t id = 0;
    Incarnation incarnation;
    bool ready = false;  // sent Join
    bool leaving = false;
    double samples_per_s = 0;
    Heartbeat last;
    Time heard;

    MemberKey key() const { return {MemberId(id), incarnation}; }
  };

  struct Attempt {
    enum class Phase { kReports, kDones, kJournal };
    Phase phase = Phase::kReports;
    View view;
    std::map<ServerId, Report> reports;
    std::map<ServerId, Done> dones;
    Cut cut;
    std::vector<ServerRecord> cut_to;  // the new view's P-slaves, and those that leave
    IntervalSet ledger;
    LeaseBook book{false};
    // Logs that came before all were at the cut. What an attempt has applied that fails may be void.
    std::map<std::pair<PeerId, std::uint64_t>, CommitLog> logs;
    Time began;
    std::string reason;
    Backoff repeat;
  };

  // master.cpp
  void on(Time now, const Started&, Effects& out);
  void on(Time now, const Tick&, Effects& out);
  void on(Time now, const PeerLost& event, Effects& out);
  void on(Time now, const PeerBack&, Effects& out);
  void on(Time now, const LeaveRequested&, Effects& out);
  void on(Time, const WarmedUp&, Effects&) {}
  void on(Time, const Gradients&, Effects&) {}
  void on(Time, const Evaluated&, Effects&) {}
  void on(Time now, const Journaled& event, Effects& out);
  void on(Time now, const Saved& event, Effects& out);
  void on(Time, const KeysChanged& event, Effects& out);
  void on(Time now, const Envelope& envelope, Effects& out);

  void on_hello(Time now, const Envelope& envelope, const Hello& message, Effects& out);
  void on_heartbeat(Time now, const Envelope& envelope, Node& node, const Heartbeat& message, Effects& out);
  void on_lease_request(Time now, const Envelope& envelope, Node& node, const LeaseRequest& message,
                        Effects& out);
  void on_log(Node& node, const CommitLog& message, Effects& out);
  void write_log(const Node& node, const CommitLog& message, Effects& out);
  void on_leave(Time now, Node& node, Effects& out);
  void on_join(Time now, Node& node, const Join& message, Effects& out);
  void welcome(const Node& node, Effects& out);
  void take_over(Time now);
  std::vector<KnownNode> known_nodes(const ViewRecord& record) const;
  void remove(Time now, PeerId peer, const std::string& why, Effects& out);
  void check_suspects(Time now, Effects& out);
  // What was not heard until now says nothing about anybody.
  void hear_all_afresh(Time now);
  // Parts those that cannot reach each other.
  void judge(Time now, Effects& out);
  std::map<PeerId, Complaints::Party> parties() const;
  bool barred(const Node& node, Time now) const;
  double speed_of(const Node& node) const;
  std::vector<Evaluation::Candidate> evaluators() const;
  void run_evaluation(Time now, Effects& out);

  // master_view.cpp
  void want_change(const std::string& reason);
  void maybe_start(Time now, Effects& out);
  void restart_attempt(const std::string& reason);
  void start_attempt(Time now, Effects& out);
  void on_report(Time now, Node& node, const Report& message, Effects& out);
  void on_done(Time now, Node& node, const Done& message, Effects& out);
  void cut(Time now, Effects& out);
  void place_chunks(Cut& cut) const;
  bool all_at_cut() const;
  bool log_is_complete() const;
  bool leavers_logs_are_complete() const;
  void maybe_journal(Effects& out);
  void server_lost(Time now, const Node& node, const std::string& why, Effects& out);
  void drop_evaluation_without(const std::vector<ServerRecord>& servers, Effects& out);
  void check_holders(Time now, const std::string& lost, Effects& out);
  void activate(Time now, Effects& out);
  void send_go(PeerId peer, Effects& out);
  void repeat_attempt(Time now, Effects& out);
  bool evaluation_due() const;
  void maybe_finish(Time now, Effects& out);
  void fetch_model(Time now, Effects& out);
  void on_snapshot_reply(const SnapshotReply& message, Effects& out);
  void stop(Time now, bool failed, const std::string& text, Effects& out);
  void continue_stop(Time now, Effects& out);
  std::int64_t ahead_clocks(const Node& node, std::int64_t batch) const;
  bool trained() const { return ledger_.size() == options_.sync.end_position; }

  void send(PeerId to, Message message, Effects& out) const;
  void refuse(const Envelope& envelope, RefuseReason reason, const std::string& text, Effects& out) const;
  const Node* node_of(MemberKey key) const;
  void schedule(Effects& out);

  MasterOptions options_;
  Timing timing_;
  Stage stage_ = Stage::kWaiting;
  FailureDetector detector_;
  bool deaf_ = false;  // hears nobody at all
  Complaints complaints_;
  // Who was removed because others could not reach it: not to join again before `until`, which doubles.
  struct Bar {
    Time until;
    Duration lasts{};
  };
  std::map<std::pair<RoleKind, std::string>, Bar> bars_;  // by name
  std::map<PeerId, Node> nodes_;
  // Of options_.allowed_keys: the term and the changes in it, so that a Master's first list is newer than its
  // predecessor's last. 0 while there are no keys.
  std::uint64_t keys_version_ = 0;
  std::map<std::string, std::pair<std::uint32_t, Incarnation>> member_names_;  // ids and lives handed out
  std::map<std::string, std::pair<std::uint32_t, Incarnation>> server_names_;
  std::uint32_t next_member_id_ = 0;
  std::uint32_t next_server_id_ = 0;

  ViewRecord base_;  // last active view
  std::uint32_t attempts_ = 0;
  IntervalSet ledger_;  // at the cut of base_
  LeaseBook book_;
  bool took_over_ = false;  // and no view of this Master is active yet: nothing is known of leases
  std::optional<Attempt> attempt_;
  bool change_wanted_ = false;
  bool servers_changed_ = false;  // worth a view change even while the run closes
  std::string change_reason_;

  std::map<ServerId, std::uint64_t> log_next_;
  std::map<ServerId, std::uint64_t> log_end_;  // promised by the last cut
  IntervalSet logged_;                         // positions, by anybody's log
  std::int64_t evaluate_at_ = 0;
  std::uint32_t snapshots_ = 0;
  std::optional<Evaluation> evaluation_;
  Backoff evaluation_repeat_;
  bool final_evaluated_ = false;

  // The trained model on its way to disk.
  struct Model {
    SnapshotId snapshot;
    std::vector<bool> answered;  // by shard
    Encoding encoding = Encoding::kF32;
    std::map<ChunkId, ChunkData> chunks;
    bool saved = false;
    Backoff repeat;
  };
  std::optional<Model> model_;

  bool stop_failed_ = false;
  std::string stop_text_;
  Time stop_at_ = Time::never();
  Time check_at_ = Time::never();
  Time last_step_ = Time::never();
  Time wake_at_ = Time::never();
};

}  // namespace convoy
