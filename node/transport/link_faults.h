// LinkFaults: what faults that were injected on purpose do to the messages of one transport: lose them, hold
// them back, double them, change their order, damage them. While there is none there is no LinkFaults, and a
// message costs one comparison more.
//
// Owned by the I/O loop, used in its thread alone. The seed and the order of messages decide what happens.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "node/transport/account.h"
#include "node/transport/link_events.h"
#include "node/transport/transport.h"

namespace convoy {

enum class Way : std::uint8_t { kOut, kIn };

struct PassingMessage {
  Way way = Way::kOut;
  PeerId peer;  // to whom, or from whom
  WireFrames frames;
  TicketPtr ticket;  // of those on their way out
};

class LinkFaults {
 public:
  // REQUIRES: of_links(fault.kind).
  void add(const LinkFault& fault, SteadyTime now);

  // What goes on now of a message; the rest of it is lost, or comes out of due().
  std::vector<PassingMessage> pass(PassingMessage message, SteadyTime now);
  std::vector<PassingMessage> due(SteadyTime now);
  SteadyTime next() const;  // when something is due, or a fault ends
  // No fault is left, and nothing is held.
  bool over() const { return rules_.empty() && held_.empty(); }

 private:
  struct Rule {
    LinkFault fault;
    SteadyTime until;
    std::uint64_t number = 0;
    std::uint64_t judged = 0;  // messages
  };
  static bool concerns(const Rule& rule, const PassingMessage& message);
  std::uint64_t draw(Rule& rule) const;

  std::vector<Rule> rules_;
  std::uint64_t next_number_ = 0;
  std::multimap<SteadyTime, PassingMessage> held_;  // equal moments: in the order of holding
};

// Damage that a receiver can tell: cut short, or without sense from its first word on. What changes a bit
// inside is for TCP's checksum and CURVE to catch, and does not get here.
WireFrames corrupted(const WireFrames& frames, std::uint64_t word);

}  // namespace convoy
