// Lookups: name resolution that keeps nobody waiting. A name server may take half a minute to fail, so each
// question is asked in a thread of its own, which may outlive the transport that asked.
//
// ask() and take() are the I/O thread's; answers are announced by the wakeup.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "node/transport/endpoint.h"
#include "node/transport/wakeup.h"

namespace convoy {

class Lookups {
 public:
  using Answer = Result<std::vector<NumericAddress>>;
  struct Answered {
    std::uint64_t question;
    Answer answer;
  };

  explicit Lookups(std::shared_ptr<Wakeup> wakeup);
  void ask(std::uint64_t question, const Endpoint& endpoint);
  std::vector<Answered> take();

 private:
  struct Board {
    void post(std::uint64_t question, Answer answer);

    std::mutex mutex;
    std::vector<Answered> answers;
    std::shared_ptr<Wakeup> wakeup;
  };
  std::shared_ptr<Board> board_;
};

}  // namespace convoy
