// The messages of faults.
#include "tests/unit/codec/random_messages.h"

namespace convoy::testing {

template <>
Inject RandomMessages::draw() {
  Inject m;
  auto& [id, kind, target, to, peer, for_s, factor, probability, delay_ms, seed, done] = m;
  id = word();
  kind = static_cast<FaultKind>(below(12));
  target = text(false);
  to = text(false);
  peer = PeerId(word());
  for_s = static_cast<double>(below(1000)) / 8;
  factor = static_cast<double>(1 + below(100)) / 2;
  probability = static_cast<double>(below(5)) / 4;
  delay_ms = static_cast<double>(below(1000));
  seed = word();
  done = flip();
  return m;
}

template <>
Injected RandomMessages::draw() {
  Injected m;
  auto& [id, words] = m;
  id = word();
  words = text(true);
  return m;
}

}  // namespace convoy::testing
