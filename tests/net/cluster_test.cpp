// A whole cluster in one process: Master, P-slaves and W-slaves with real actors, executors and sockets. What
// the simulator cannot see is here for ThreadSanitizer to see: the threads.
#define BOOST_TEST_MODULE cluster
#include <boost/test/unit_test.hpp>
#include <condition_variable>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/run_file.h"
#include "node/process/actors.h"
#include "node/process/addresses.h"
#include "node/process/link.h"
#include "node/process/master_process.h"
#include "node/process/slaves.h"
#include "tests/support/folder.h"
#include "tests/support/free_port.h"
#include "tests/support/image_set.h"

namespace convoy {
namespace {

// Longer than anything takes, so that a hang becomes a failure.
constexpr Duration kPatience = std::chrono::seconds(100);

// What is a process of its own elsewhere: one role with its actors.
class Node {
 public:
  using Start = std::function<Result<std::unique_ptr<RunningRole>>(ActorHouse&, Ending&, NodeClock)>;

  explicit Node(const Start& start) {
    auto role = start(*house_, ending_, NodeClock());
    BOOST_REQUIRE(role.ok());
    role_ = std::move(*role);
  }
  ~Node() {
    role_->stop();
    house_.reset();
  }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  void leave() { role_->leave(); }
  // Exit status of its process; nothing when it goes on for too long.
  std::optional<int> wait() {
    const auto outcome = ending_.wait_for(kPatience);
    return outcome ? std::optional<int>(outcome->status) : std::nullopt;
  }

 private:
  Ending ending_;
  std::unique_ptr<ActorHouse> house_ = std::make_unique<ActorHouse>(ending_);
  std::unique_ptr<RunningRole> role_;
};

// Asks the Master again and again how it is.
class Watcher final : public LinkSink {
 public:
  explicit Watcher(const std::string& master) {
    TransportOptions options;
    options.self = self_;
    auto link = Link::start(options, RunId(0), *this);
    BOOST_REQUIRE(link.ok());
    link_ = std::move(*link);
    BOOST_REQUIRE(link_->connect(kMasterPeerId, master, "").ok());
  }
  ~Watcher() override { link_->close(); }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // False when the Master never says so.
  bool sees(const std::function<bool(const nlohmann::json&)>& wanted) {
    for (;;) {
      link_->send(kMasterPeerId, Envelope{{}, self_, {}, StatusRequest{}});
      std::unique_lock lock(mutex_);
      if (!came_.wait_for(lock, kPatience, [&] { return reply_.has_value(); })) return false;
      const auto status = nlohmann::json::parse(*std::exchange(reply_, std::nullopt));
      if (wanted(status)) return true;
      if (status.at("ended")) return false;
    }
  }

  void received(Envelope envelope) override {
    const std::lock_guard lock(mutex_);
    if (auto* reply = std::get_if<StatusReply>(&envelope.message)) reply_ = std::move(reply->json);
    came_.notify_all();
  }
  void peer_lost(PeerId) override {}
  void peer_back(PeerId) override {}
  void trouble(const Trouble&) override {}
  void refused(const std::string&) override {}

 private:
  PeerId self_ = random_peer_id();
  std::unique_ptr<Link> link_;
  std::mutex mutex_;
  std::condition_variable came_;
  std::optional<std::string> reply_;
};

// A run on made-up images: first who works in it, then its Master.
class Cluster {
 public:
  explicit Cluster(int images) { test::write_image_set(folder_.path(), images, 40, 12); }
  ~Cluster() {
    if (master_) (void)end();
  }
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  std::unique_ptr<Node> w_slave(const std::string& name, double slowdown = 1) const {
    const WorkerProcessOptions options{
        slave(name), {{config::DeviceKind::kReference, 0}, 1, slowdown, 0}, ""};
    return std::make_unique<Node>([&](ActorHouse& house, Ending& ending, NodeClock clock) {
      return start_worker(options, house, ending, clock);
    });
  }
  std::unique_ptr<Node> p_slave(const std::string& name) const {
    const ServerProcessOptions options{slave(name), "", 0};
    return std::make_unique<Node>([&](ActorHouse& house, Ending& ending, NodeClock clock) {
      return start_server(options, house, ending, clock);
    });
  }

  void master(const std::string& more_options) {
    const auto file =
        config::parse_run_file("run.dir = \"" + folder_ / "run" + "\"\nmodel.name = \"tiny-cnn\"\n" +
                                   "data = { format = \"idx\", dir = \"" + folder_.path() + "\" }\n" +
                                   "local.w_slave = [{ device = \"reference\" }]\n" + "cluster.listen = \"" +
                                   config::to_string(address_) + "\"\n" + more_options,
                               "cluster.toml");
    BOOST_REQUIRE_MESSAGE(file.ok(), (file.ok() ? std::string() : file.error().message));
    auto master = start_master({*file, record::RunStart::kNew}, *house_, ending_, NodeClock());
    BOOST_REQUIRE_MESSAGE(master.ok(), (master.ok() ? std::string() : master.error().message));
    master_ = std::move(*master);
  }
  const config::Address& address() const { return address_; }

  // Waits for the run's end; its summary.
  nlohmann::json end() {
    const Ending::Outcome outcome =
        ending_.wait_for(kPatience).value_or(Ending::Outcome{1, "the Master does not end"});
    BOOST_TEST_CONTEXT(outcome.text) BOOST_TEST(outcome.status == 0);
    BOOST_TEST(master_->stop(outcome).ok());
    house_.reset();
    master_->close_display();
    master_.reset();
    return nlohmann::json::parse(std::ifstream(folder_ / "run/summary.json"));
  }

 private:
  SlaveOptions slave(const std::string& name) const { return {name, address_, std::nullopt, ""}; }

  test::TemporaryFolder folder_;
  const config::Address address_{"127.0.0.1", test::free_port()};
  Ending ending_;
  std::unique_ptr<ActorHouse> house_ = std::make_unique<ActorHouse>(ending_);
  std::unique_ptr<MasterProcess> master_;
};

bool is_member(const nlohmann::json& status, const std::string& name) {
  for (const auto& m : status.at("members")) {
    if (m.at("name") == name) return m.at("state") == "member";
  }
  return false;
}

std::int64_t samples_of(const nlohmann::json& summary, const std::string& name) {
  for (const auto& m : summary.at("members")) {
    if (m.at("name") == name) return m.at("samples").get<std::int64_t>();
  }
  return -1;
}

}  // namespace

BOOST_AUTO_TEST_CASE(w_slaves_leave_die_and_join_while_a_cluster_trains_to_the_end) {
  Cluster cluster(1200);
  // Before their Master: it hears them while it is still setting itself up.
  const auto p0 = cluster.p_slave("p0");
  const auto p1 = cluster.p_slave("p1");
  // Slow ones at first, so that the run is not over before the last one is there.
  const auto alice = cluster.w_slave("alice", 100);
  const auto bob = cluster.w_slave("bob", 100);
  auto carol = cluster.w_slave("carol", 100);
  cluster.master(
      "train = { epochs = 4, batch = 9, lr = 0.02, momentum = 0.9 }\neval.average = 0.9\n"
      "cluster.min_w_slaves = 3\ncluster.min_p_slaves = 2\n");
  Watcher watcher(config::to_string(cluster.address()));
  BOOST_REQUIRE(watcher.sees([](const nlohmann::json& s) { return s.at("samples") > 0; }));
  bob->leave();
  carol.reset();  // without a word
  const auto dora = cluster.w_slave("dora");
  BOOST_TEST(watcher.sees([](const nlohmann::json& s) { return is_member(s, "dora"); }));
  BOOST_TEST(bob->wait().value_or(-1) == 0);
  alice->leave();
  const nlohmann::json summary = cluster.end();
  for (Node* node : {p0.get(), p1.get(), alice.get(), dora.get()}) BOOST_TEST(node->wait().value_or(-1) == 0);
  BOOST_TEST_CONTEXT(summary) {
    BOOST_TEST(summary.at("samples") == 4800);
    BOOST_TEST(summary.at("samples_lost") == 0);
    BOOST_TEST(summary.at("samples_duplicated") == 0);
    BOOST_TEST(summary.at("violations") == 0);
    BOOST_TEST(samples_of(summary, "dora") > 0);
  }
}

BOOST_AUTO_TEST_CASE(a_cluster_in_lockstep_trains_to_the_end) {
  Cluster cluster(203);
  std::vector<std::unique_ptr<Node>> nodes;
  for (const char* name : {"p0", "p1"}) nodes.push_back(cluster.p_slave(name));
  for (const char* name : {"w0", "w1", "w2"}) nodes.push_back(cluster.w_slave(name));
  cluster.master(
      "sync.mode = \"bsp\"\ntrain = { epochs = 2, batch = 10, lr = 0.02, momentum = 0.9 }\n"
      "cluster.min_w_slaves = 3\ncluster.min_p_slaves = 2\n");
  const nlohmann::json summary = cluster.end();
  for (const auto& node : nodes) BOOST_TEST(node->wait().value_or(-1) == 0);
  BOOST_TEST_CONTEXT(summary) {
    BOOST_TEST(summary.at("samples") == 406);
    BOOST_TEST(summary.at("clocks") == 41);
    BOOST_TEST(summary.at("samples_lost") == 0);
    BOOST_TEST(summary.at("violations") == 0);
  }
}

}  // namespace convoy
