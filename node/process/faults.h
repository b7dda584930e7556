// Faults injected on purpose, as a running process takes them: the Master finds out whom one is for, and each
// process does to itself what it is told.
//
// Free functions; address_fault is pure, suffer may be called from any thread.
#pragma once

#include <optional>
#include <string>

#include "master/master.h"
#include "messages/base/result.h"
#include "messages/messages.h"
#include "node/transport/transport.h"

namespace convoy {

struct AddressedFault {
  std::optional<PeerId> node;  // none: the Master itself
  Inject fault;                // with target and peer resolved
};

// kUsage when there is nobody of that name, or when nobody can do that to itself.
Result<AddressedFault> address_fault(const MasterStatus& status, Inject fault);

// "freeze of w-slave-1 for 2 s".
std::string words_for(const Inject& fault);

// Kill, freeze, and the faults of links. False: another kind.
bool suffer(const Inject& fault, Transport& transport);

}  // namespace convoy
