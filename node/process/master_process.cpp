#include "node/process/master_process.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <ctime>
#include <deque>
#include <mutex>
#include <optional>
#include <sstream>
#include <utility>

#include "master/master.h"
#include "master/words.h"
#include "node/data/dataset.h"
#include "node/process/actors.h"
#include "node/process/build_id.h"
#include "node/process/faults.h"
#include "node/process/link.h"
#include "node/process/security.h"
#include "node/process/watch_file.h"
#include "node/record/journal.h"
#include "node/record/live_display.h"
#include "node/record/model_store.h"
#include "node/record/recorder.h"
#include "node/record/slow_steps.h"
#include "node/record/status_json.h"
#include "node/run/run_setup.h"
#include "node/security/key_list.h"

namespace convoy {
namespace {

constexpr Duration kAnswerFirst = std::chrono::milliseconds(50);
constexpr Duration kDisplayInterval = std::chrono::milliseconds(250);

std::string wall_clock() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

record::RunTitle title_of(const config::RunOptions& run, const Graph& graph, const SyncOptions& sync) {
  record::RunTitle title;
  title.name = run.name;
  title.dir = run.dir;
  title.model = graph.name();
  title.data = run.data.name.empty() ? run.data.dir : run.data.name;
  title.mode = config::to_string(run.sync.mode);
  if (sync.bound != kNoBound) title.bound = sync.bound;
  title.batch = sync.batch;
  title.target_accuracy = run.train.target_accuracy;
  return title;
}

class MasterProcessImpl final : public MasterProcess, public LinkSink, public RoleHost {
 public:
  MasterProcessImpl(MasterProcessOptions options, Ending& ending, NodeClock clock)
      : options_(std::move(options)), ending_(ending), clock_(clock) {}

  Result<void> start(ActorHouse& house) {
    const config::RunOptions& run = options_.run.options;
    Result<RunSetup> setup = make_setup(run);
    if (!setup) return setup.error();
    setup_.emplace(std::move(*setup));
    Result<std::shared_ptr<const data::Dataset>> dataset = data::load_dataset(run.data);
    if (!dataset) return dataset.error();
    if (Result<void> fits = data::check_fits(**dataset, setup_->graph); !fits) return fits.error();
    const SyncOptions sync = protocol_options(run, (*dataset)->train().size());
    if (sync.end_position < 1) {
      return Error{ErrorCode::kUsage, "train.epochs: less than one sample of " +
                                          std::to_string(sync.sample_count) +
                                          " would be trained; give more."};
    }

    Result<MasterSecurity> security = master_security(options_.run);
    if (!security) return security.error();
    if (Result<void> known = learn_keys(*security); !known) return known.error();
    Result<record::RunDir> dir = record::RunDir::open(run.dir, options_.start);
    if (!dir) return dir.error();
    dir_.emplace(std::move(*dir));
    const bool resumes = options_.start == record::RunStart::kResume;
    if (resumes) {
      if (Result<void> same = check_same_run(run); !same) return same;
    }

    TransportOptions transport;
    transport.self = kMasterPeerId;
    transport.bind = config::to_string(resumes ? former_address(run.cluster.listen) : run.cluster.listen);
    transport.keys = security->keys;
    transport.encrypt_bind = security->keys.has_value();
    transport.allowed_keys = allowed_;
    if (watcher_) transport.allowed_keys.push_back(watcher_->public_key);
    transport.failure_timeout = sync.failure_timeout;
    slow_steps_.emplace(sync.failure_timeout);
    Result<std::unique_ptr<Link>> link = Link::start(std::move(transport), RunId(0), *this);
    if (!link) return link.error();
    link_ = std::move(*link);
    address_ = link_->transport().bound_address();

    if (Result<void> cleared = dir_->clear(); !cleared) return cleared.error();
    if (Result<void> kept = dir_->write_options(config::serialise(run)); !kept) return kept.error();
    Result<record::Journal> journal = record::Journal::open(dir_->paths().journal());
    if (!journal) return journal.error();
    journal_.emplace(std::move(*journal));
    Result<std::uint32_t> term = journal_->begin_term();
    if (!term) return term.error();
    link_->learn_run(journal_->run());

    sample_count_ = sync.sample_count;
    record::RunTitle title = title_of(run, setup_->graph, sync);
    title.address = address_;
    title_ = title;
    record::RecorderOptions recording;
    recording.title = title;
    recording.run = journal_->run();
    recording.build_id = build_id();
    recording.started_at = wall_clock();
    recording.sample_count = sync.sample_count;
    recording.end_position = sync.end_position;
    Result<record::Recorder> recorder = record::Recorder::open(dir_->paths(), std::move(recording));
    if (!recorder) return recorder.error();
    display_.emplace(STDERR_FILENO, title);
    if (Result<void> told = tell_watchers(*security); !told) return told.error();
    MasterOptions role;
    role.run = journal_->run();
    role.term = *term;
    role.sync = sync;
    role.run_text = config::serialise(run);
    role.allowed_keys = key_texts();
    role.build_id = build_id();
    role.test_count = (*dataset)->test().size();
    role.evaluate_every =
        static_cast<std::int64_t>(run.eval.every_epochs * static_cast<double>(sync.sample_count));
    for (const Chunk& c : setup_->chunks.chunks)
      role.chunk_bytes.push_back(c.count * bytes_of(setup_->scalar));
    role.equal_partition = run.sync.partition == config::Partition::kEqual;
    role.min_w_slaves = static_cast<std::size_t>(run.cluster.min_w_slaves);
    role.min_p_slaves = static_cast<std::size_t>(run.cluster.min_p_slaves);
    role.backups = run.cluster.backups > 0;
    role.lease_ahead = from_seconds(run.cluster.lease_ahead_s);
    if (resumes) {
      Result<std::optional<Journal>> last = journal_->last_active();
      if (!last) return last.error();
      Result<std::map<ServerKey, std::uint64_t>> written = recorder->log_entries();
      if (!written) return written.error();
      if (*last) role.restart = MasterRestart{std::move(**last), std::move(*written)};
    }
    master_ = std::make_shared<Master>(std::move(role));
    clerk_.set(house.spawn_executor());
    painter_.set(house.spawn_executor());
    std::deque<std::string> early;  // what the link had to say before there was a record
    {
      const std::lock_guard lock(mutex_);
      recorder_.emplace(std::move(*recorder));
      early.swap(early_);
    }
    note("the Master listens on " + address_ + (security->keys ? ", encrypted" : ""));
    if (security->keys && allowed_.empty()) {
      note(
          "nobody is invited yet: `convoy invite RUN.toml NODE.toml --name NAME` writes a node file and adds "
          "its key to " +
          security->allowed_keys_file);
    }
    for (const std::string& text : early) note(text);
    role_.set(house.spawn_role(master_, *this, clock_));
    tell(role_, Started{});
    in_turn_of(role_, [this](Time now) { observe(now); });
    return {};
  }

  const std::string& address() const override { return address_; }
  void leave() override { tell(role_, LeaveRequested{}); }

  Result<void> stop(const Ending::Outcome& outcome) override {
    if (link_) link_->close();
    // After the actors' last turn nobody else touches the recorder; until then it has a lock of its own.
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    Result<void> written;
    if (recorder_ && master_) {
      written = recorder_->finish(clock_.now(), last_status_, outcome.status == 0, outcome.text);
    }
    finished_ = outcome.status == 0 && written.ok();
    if (!address_.empty()) ::unlink(dir_->paths().address().c_str());  // nobody answers there any more
    role_.let_go();
    clerk_.let_go();
    painter_.let_go();
    return written;
  }

  void close_display() override {
    if (!display_) return;
    if (!recorder_) return display_->close();
    std::istringstream report(recorder_->report());
    for (std::string line; std::getline(report, line);) display_->event(line);
    display_->end(last_status_, recorder_->metrics(),
                  finished_ ? record::render_ending(title_, recorder_->metrics()) : "");
  }

  // LinkSink
  void received(Envelope envelope) override {
    if (std::holds_alternative<StatusRequest>(envelope.message)) {
      in_turn_of(role_, [this, to = envelope.from](Time now) { send_status(to, now); });
      return;
    }
    if (auto* fault = std::get_if<Inject>(&envelope.message)) {
      in_turn_of(role_, [this, to = envelope.from, fault = std::move(*fault)](Time now) {
        take_fault(to, fault, now);
      });
      return;
    }
    if (Result<void> sound = check_tensors(envelope.message, *setup_); !sound)
      return refused(sound.error().message);
    tell(role_, std::move(envelope));
  }
  void peer_lost(PeerId peer) override { tell(role_, PeerLost{peer}); }
  void peer_back(PeerId peer) override { tell(role_, PeerBack{peer}); }
  void trouble(const Trouble& trouble) override { note(trouble.text); }
  void refused(const std::string& text) override { note(text); }

  // RoleHost, in the role's turn.
  void carry_out(Effect effect) override {
    if (auto* send = std::get_if<Send>(&effect)) {
      link_->send(send->to, send->envelope);
    } else if (const auto* journal = std::get_if<Journal>(&effect)) {
      run_on(clerk_, [this, entry = *journal] { write_journal(entry); });
    } else if (const auto* save = std::get_if<SaveModel>(&effect)) {
      run_on(clerk_, [this, model = *save] { save_model(model); });
    } else if (const auto* trace = std::get_if<Trace>(&effect)) {
      record_trace(*trace);
    } else if (const auto* quit = std::get_if<Quit>(&effect)) {
      update_status(clock_.now());
      ending_.set({quit->failed ? 1 : 0, quit->text});
    }
  }

 private:
  // An interrupted run goes on as it was begun; where it runs may have changed.
  Result<void> check_same_run(const config::RunOptions& now) const {
    Result<config::RunOptions> then = record::read_options(dir_->paths());
    if (!then) return then.error();
    then->local = now.local;
    then->cluster = now.cluster;
    if (*then == now) return {};
    return Error{ErrorCode::kUsage,
                 dir_->paths().dir +
                     " was begun with other options (its options.toml has them): resume it with the "
                     "same ones, or start another run with --set run.name=..."};
  }

  // Nodes that are still there dial where the Master was: a port that was drawn is taken again.
  config::Address former_address(config::Address listen) const {
    const std::optional<WatchAddress> former = read_watch_file(dir_->paths().address());
    const std::size_t colon = former ? former->address.rfind(':') : std::string::npos;
    if (listen.port != 0 || colon == std::string::npos) return listen;
    listen.port = static_cast<std::uint16_t>(std::strtoul(former->address.c_str() + colon + 1, nullptr, 10));
    return listen;
  }

  // Who may join, as the run file and its list say now.
  Result<void> learn_keys(const MasterSecurity& security) {
    inline_keys_ = allowed_ = security.allowed;
    if (!security.keys) return {};
    Result<KeyPair> watcher = generate_keys();
    if (!watcher) return watcher.error();
    watcher_ = std::move(*watcher);
    if (security.allowed_keys_file.empty()) {
      if (!allowed_.empty()) return {};
      return Error{
          ErrorCode::kUsage,
          "Connections are encrypted and no key is allowed, so no node could join: add "
          "security.allowed_keys_file = \"allowed.txt\" to the run file; `convoy invite` adds keys to it."};
    }
    key_list_.emplace(security.allowed_keys_file);
    Result<std::vector<PublicKey>> listed = *key_list_->changed();
    if (!listed) return listed.error();
    allowed_.insert(allowed_.end(), listed->begin(), listed->end());
    return {};
  }

  // `convoy status` on this machine needs no invitation.
  Result<void> tell_watchers(const MasterSecurity& security) {
    const std::string master_key = security.keys ? security.keys->public_key.text() : "";
    return write_watch_file(dir_->paths().address(), {address_, master_key, watcher_});
  }

  std::vector<std::string> key_texts() const {
    std::vector<std::string> texts;
    for (const PublicKey& key : allowed_) texts.push_back(key.text());
    return texts;
  }

  // Of the clerk's thread. Somebody may have been invited, or taken off the list.
  void reread_keys() {
    std::optional<Result<std::vector<PublicKey>>> listed = key_list_->changed();
    if (!listed) return;
    if (!*listed) return note(listed->error().message + "; until that is mended, the keys read before hold");
    allowed_ = inline_keys_;
    allowed_.insert(allowed_.end(), (*listed)->begin(), (*listed)->end());
    std::vector<PublicKey> callers = allowed_;
    callers.push_back(watcher_->public_key);
    link_->transport().allow(std::move(callers));
    tell(role_, KeysChanged{key_texts()});
    note("the list of allowed keys has changed: " + counted(allowed_.size(), "key") + " may join now");
  }

  void write_journal(const Journal& entry) {
    if (Result<void> written = journal_->record_active(entry); !written) {
      return ending_.set({1, written.error().message});
    }
    tell(role_, Journaled{entry.record.view});
  }

  void save_model(const SaveModel& model) {
    record::ModelInfo info;
    info.run_text = config::serialise(options_.run.options);
    info.model = options_.run.options.model;
    info.samples = protocol_samples_;
    Result<std::string> folder =
        record::write_model(dir_->paths().checkpoints(), model, setup_->chunks, setup_->graph, info);
    if (!folder) return ending_.set({1, folder.error().message});
    tell(role_, Saved{});
  }

  // Before the P-slave's log is acknowledged it is on its way to disk: effects are carried out in order.
  void record_trace(const Trace& trace) {
    if (const auto* trained = std::get_if<TraceTrained>(&trace)) protocol_samples_ = trained->ledger.size();
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    if (Result<void> written = recorder_->trace(clock_.now(), trace); !written) {
      ending_.set({1, written.error().message});
    }
    show(record::describe_for_people(trace, sample_count_));
  }

  // A slow or stopped terminal must hold up nobody but the painter.
  void show(const std::string& line) {
    if (!line.empty()) run_on(painter_, [this, line] { display_->event(line); });
  }

  void note(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    if (!recorder_) {
      early_.push_back(text);
      return;
    }
    (void)recorder_->note(clock_.now(), text);
    show(text);
  }

  void update_status(Time now) {
    MasterStatus status = master_->status(now);
    const std::lock_guard lock(mutex_);
    last_status_ = std::move(status);
    if (stopped_) return;
    if (Result<void> written = recorder_->observe(now, last_status_); !written) {
      ending_.set({1, written.error().message});
    }
  }

  // Every now and then: the window's metrics, and a new picture for people, drawn where a slow terminal hurts
  // nobody.
  void observe(Time now) {
    update_status(now);
    for (const std::string& line : slow_steps_->see(last_status_)) note(line);
    if (key_list_ && !reading_keys_.exchange(true)) {
      run_on(clerk_, [this] {
        reread_keys();
        reading_keys_.store(false);
      });
    }
    if (!painting_.exchange(true)) {
      const std::lock_guard lock(mutex_);
      run_on(painter_, [this, now, status = last_status_, metrics = recorder_->metrics()] {
        display_->update(now, status, metrics);
        painting_.store(false);
      });
    }
    in_turn_of(
        role_, [this](Time later) { observe(later); }, kDisplayInterval);
  }

  void send_status(PeerId to, Time now) {
    update_status(now);
    std::string json;
    {
      const std::lock_guard lock(mutex_);
      json = record::status_json(title_, last_status_, recorder_->metrics());
    }
    answer(to, StatusReply{std::move(json)});
  }

  void answer(PeerId to, Message message) {
    link_->send(to, Envelope{master_->record().view, kMasterPeerId, {}, std::move(message)});
  }

  // Written down before it happens: it may be our end.
  void take_fault(PeerId from, const Inject& asked, Time now) {
    AddressedFault to{std::nullopt, asked};
    if (!asked.done) {
      Result<AddressedFault> found = address_fault(master_->status(now), asked);
      if (!found) return answer(from, Refuse{RefuseReason::kBadMessage, {}, found.error().message});
      to = std::move(*found);
    }
    const std::string words = words_for(to.fault);
    bool news = false;
    {
      const std::lock_guard lock(mutex_);
      if (stopped_) return;
      Result<bool> written = recorder_->fault(now, to.fault);
      if (!written) return ending_.set({1, written.error().message});
      news = *written;
    }
    if (news) note("injected: " + words);
    answer(from, Injected{asked.id, words});
    if (!news || asked.done) return;
    if (to.node) return answer(*to.node, std::move(to.fault));
    // A kill would overtake the answer.
    in_turn_of(
        role_, [this, fault = to.fault](Time) { suffer(fault, link_->transport()); }, kAnswerFirst);
  }

  MasterProcessOptions options_;
  Ending& ending_;
  NodeClock clock_;
  std::optional<RunSetup> setup_;
  std::optional<record::RunDir> dir_;
  std::optional<record::Journal> journal_;  // of the clerk's thread once the actors run
  std::unique_ptr<Link> link_;
  std::string address_;
  record::RunTitle title_;
  std::int64_t sample_count_ = 1;
  std::shared_ptr<Master> master_;  // touched in the role's turn only
  ActorHandle role_;
  ActorHandle clerk_;
  ActorHandle painter_;
  std::atomic<bool> painting_{false};
  std::optional<KeyList> key_list_;  // with what follows, of the clerk's thread once the actors run
  std::vector<PublicKey> inline_keys_;
  std::vector<PublicKey> allowed_;
  std::optional<KeyPair> watcher_;  // of `convoy status`; set with encryption
  std::atomic<bool> reading_keys_{false};
  std::optional<record::LiveDisplay> display_;  // of the painter's thread
  std::atomic<std::int64_t> protocol_samples_{0};
  std::optional<record::SlowSteps> slow_steps_;  // in the role's turn

  std::mutex mutex_;  // over what follows
  std::optional<record::Recorder> recorder_;
  MasterStatus last_status_;
  std::deque<std::string> early_;
  bool stopped_ = false;
  bool finished_ = false;
};

}  // namespace

Result<std::unique_ptr<MasterProcess>> start_master(const MasterProcessOptions& options, ActorHouse& house,
                                                    Ending& ending, NodeClock clock) {
  auto process = std::make_unique<MasterProcessImpl>(options, ending, clock);
  if (Result<void> started = process->start(house); !started) {
    (void)process->stop({1, started.error().message});
    return started.error();
  }
  return std::unique_ptr<MasterProcess>(std::move(process));
}

}  // namespace convoy
