// Outbox: what callers leave for the I/O thread, and the accounts by which they are told "too much". The one
// place where callers and the I/O thread meet.
//
// Any thread, except take() and the caller_* pair, which are the I/O thread's.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "node/transport/account.h"
#include "node/transport/endpoint.h"
#include "node/transport/transport.h"
#include "node/transport/wakeup.h"

namespace convoy {

struct SendCommand {
  PeerId to;
  WireFrames frames;
  TicketPtr ticket;
};
struct ConnectCommand {
  PeerId peer;
  Endpoint endpoint;
  std::optional<PublicKey> server_key;
};
struct DisconnectCommand {
  PeerId peer;
};
struct AllowCommand {
  std::vector<PublicKey> keys;
};
using Command = std::variant<SendCommand, ConnectCommand, DisconnectCommand, AllowCommand, LinkFault>;

class Outbox {
 public:
  Outbox(std::size_t max_bytes, std::size_t max_messages, std::shared_ptr<Wakeup> wakeup)
      : max_bytes_(max_bytes), max_messages_(max_messages), wakeup_(std::move(wakeup)) {}

  Sent send(PeerId to, WireFrames frames);
  void connect(ConnectCommand command);
  void disconnect(PeerId peer);
  void allow(std::vector<PublicKey> keys);
  void inject(const LinkFault& fault);
  void close();

  // Swaps the commands into `commands`, which is emptied first. False when close() was called: these are the
  // last.
  bool take(std::vector<Command>& commands);
  // A peer that dialled us may be sent to, from here to here.
  void caller_up(PeerId peer, std::string address);
  void caller_down(PeerId peer);

  // Where a peer is that may be sent to: as dialled, or where it calls from; empty when there is none.
  std::string address_of(PeerId peer) const;

  const Account& total() const { return *total_; }

 private:
  struct Entry {
    std::shared_ptr<Account> account;
    bool dialled = false;
    bool calls = false;
    std::string address;
  };
  Entry& entry(PeerId peer);
  void forget_unless_used(PeerId peer);
  void post(Command command);

  const std::size_t max_bytes_;
  const std::size_t max_messages_;
  const std::shared_ptr<Wakeup> wakeup_;
  const std::shared_ptr<Account> total_ = std::make_shared<Account>();

  mutable std::mutex mutex_;  // guards what follows
  std::vector<Command> commands_;
  std::unordered_map<PeerId, Entry> entries_;
  bool closed_ = false;
};

}  // namespace convoy
