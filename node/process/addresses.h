// Addresses of this machine.
#pragma once

#include <string>

#include "config/common_options.h"
#include "messages/base/ids.h"
#include "messages/base/result.h"

namespace convoy {

// This machine's address as `peer` would see it: the one that packets to it leave from. Needs a route, no
// answer.
Result<std::string> local_address_towards(const config::Address& peer);

std::string host_name();

// A peer id that nobody else has drawn.
PeerId random_peer_id();

}  // namespace convoy
