// Complaints: nodes of a view that the Master hears, but that do not reach each other. Somebody has to go, or
// all would wait for ever.
//
// A heartbeat names the P-slaves that have not answered its sender for failure_timeout. A complaint stands
// when it was repeated for `patience` and the Master heard the accused meanwhile: a P-slave that is frozen,
// or dead, is the failure detector's. Then
//   - of a W-slave and a P-slave the P-slave goes when most of those that talk to it complain and its chunks
//     are elsewhere as well; else the W-slave;
//   - of two P-slaves the one that more complain about, of those whose chunks are elsewhere as well; when
//   that
//     is even, the later one.
//
// A pure value driven by `now`; the Master's role owns it.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "messages/base/ids.h"
#include "messages/base/time.h"

namespace convoy {

class Complaints {
 public:
  struct Party {
    bool server = false;
    bool spare = false;     // P-slave: every chunk that it has is elsewhere as well
    std::size_t peers = 0;  // P-slave: how many of its view talk to it
    std::uint32_t id = 0;   // of its role
    Time heard;             // by the Master
  };
  struct Verdict {
    PeerId goes;
    PeerId other;              // that it does not reach
    std::size_t complain = 0;  // about the one that goes
  };

  // `silent` replaces what `from` said before.
  void hear(PeerId from, const std::vector<PeerId>& silent, Time now);
  void forget(PeerId peer);

  // Who has to go first; none: nobody. Complaints by or about others than `parties` wait.
  std::optional<Verdict> verdict(const std::map<PeerId, Party>& parties, Duration patience, Time now) const;

 private:
  std::map<PeerId, std::map<PeerId, Time>> since_;  // by who complains, then about whom
};

}  // namespace convoy
