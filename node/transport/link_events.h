// What the two kinds of connections (Dial: we dialled; Listener: we were dialled) tell the I/O loop. All of
// it happens in the I/O thread.
#pragma once

#include <chrono>

#include "node/transport/zmq_socket.h"

namespace convoy {

using SteadyTime = std::chrono::steady_clock::time_point;

class LinkEvents {
 public:
  // Alternate per (peer, side), beginning with up.
  virtual void dial_up(PeerId peer) = 0;
  virtual void dial_down(PeerId peer) = 0;
  virtual void caller_up(PeerId peer, const std::string& address) = 0;
  virtual void caller_down(PeerId peer) = 0;

  virtual void message(PeerId from, WireFrames frames) = 0;
  virtual void bad_message() = 0;
  virtual void key_refused() = 0;
  virtual void sent(const WireFrames& frames) = 0;
  virtual void dropped() = 0;  // a message whose connection went first
  virtual void trouble(Trouble trouble) = 0;

 protected:
  ~LinkEvents() = default;
};

}  // namespace convoy
