// A line to a Master that runs, for whoever watches it: `convoy status`, `convoy fault`, and the launcher
// with its schedule of faults. Needs no Hello; how the Master is found is the same for all of them.
//
// send() and take() from one thread; what arrives is kept from the link's own thread on.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "node/process/addresses.h"
#include "node/process/link.h"

namespace convoy::cli {

struct MasterPlace {
  std::string address;  // "host:port"
  std::string master_key;
  std::optional<KeyPair> keys;
};

// `where`: host:port, a node file, the folder of a run, or nothing: the newest run below runs/.
Result<MasterPlace> find_master(const std::string& where);

class MasterLine final : private LinkSink {
 public:
  static Result<std::unique_ptr<MasterLine>> open(const MasterPlace& place);
  ~MasterLine() override;
  MasterLine(const MasterLine&) = delete;
  MasterLine& operator=(const MasterLine&) = delete;

  void send(Message message);
  // What has arrived since the last call.
  std::vector<Message> take();
  // Asks until something is answered, for a few seconds; a Refuse is an error, kUsage.
  Result<Message> ask(const Message& question);
  // Readable when something has arrived.
  int fd() const { return arrived_; }

 private:
  explicit MasterLine(std::string address) : address_(std::move(address)) {}
  void received(Envelope envelope) override;
  void peer_lost(PeerId) override {}
  void peer_back(PeerId) override {}
  void trouble(const Trouble& trouble) override;
  void refused(const std::string& text) override;
  void keep(std::optional<Message> message);

  const std::string address_;
  const PeerId self_ = random_peer_id();
  int arrived_ = -1;  // an eventfd
  std::unique_ptr<Link> link_;

  std::mutex mutex_;  // over what follows
  std::condition_variable changed_;
  std::vector<Message> messages_;
  std::string trouble_;
};

}  // namespace convoy::cli
