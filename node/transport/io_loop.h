// IoLoop: the thread that owns all sockets of one transport. It waits for {sockets, wakeup}, carries out what
// callers left in the outbox, and calls the sink.
//
// Made and destroyed by Transport; run() is the thread's body, everything private happens in it.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "node/transport/dial.h"
#include "node/transport/link_faults.h"
#include "node/transport/listener.h"
#include "node/transport/outbox.h"

namespace convoy {

class IoLoop final : private LinkEvents {
 public:
  IoLoop(TransportOptions options, TransportSink& sink);
  ~IoLoop();

  Result<void> listen();  // before run(); nothing when the options have no address
  const std::string& bound_address() const { return bound_address_; }
  const TransportOptions& options() const { return options_; }
  Outbox& outbox() { return outbox_; }  // any thread

  void run();  // until outbox().close()

  TransportCounters counters() const;  // any thread
  void count_refused(Sent why);        // any thread

 private:
  struct Route {
    bool by_dial = false;
    bool by_caller = false;
    bool any() const { return by_dial || by_caller; }
  };
  struct Counts {
    std::atomic<std::uint64_t> messages_sent{0}, bytes_sent{0}, messages_received{0}, bytes_received{0},
        dropped_unknown{0}, dropped_full{0}, dropped_disconnected{0}, bad_messages{0}, refused_keys{0};
  };

  void wait();
  void carry_out(Command& command);
  void send(PeerId to, WireFrames frames, TicketPtr ticket);
  void deliver(PeerId from, WireFrames frames);
  void carry_on(std::vector<PassingMessage> messages);
  void work_faults();
  void connect(ConnectCommand& command);
  void disconnect(PeerId peer);
  void close_all();
  void changed(PeerId peer, bool Route::*side, bool up);

  void dial_up(PeerId peer) override;
  void dial_down(PeerId peer) override;
  void caller_up(PeerId peer, const std::string& address) override;
  void caller_down(PeerId peer) override;
  void message(PeerId from, WireFrames frames) override;
  void bad_message() override;
  void key_refused() override;
  void sent(const WireFrames& frames) override;
  void dropped() override;
  void trouble(Trouble trouble) override;

  const TransportOptions options_;
  TransportSink& sink_;
  const std::shared_ptr<Wakeup> wakeup_ = std::make_shared<Wakeup>();
  Outbox outbox_;
  Lookups lookups_;
  Counts counts_;
  std::string bound_address_;

  std::unique_ptr<Context> context_ = std::make_unique<Context>();  // gone when run() ends
  const TransportSite site_;
  std::unique_ptr<Listener> listener_;
  // Ordered, so that a loop over them does not depend on addresses or hashes.
  std::map<PeerId, std::unique_ptr<Dial>> dials_;
  std::uint64_t next_question_ = 1;
  std::unordered_map<PeerId, Route> routes_;
  std::unique_ptr<LinkFaults> faults_;  // while there are any
  std::vector<Command> commands_;
  std::vector<zmq_pollitem_t> items_;
};

}  // namespace convoy
