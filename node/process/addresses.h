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

// Whether packets to `peer` stay within this machine's loopback interface.
bool is_over_loopback(const config::Address& peer);

// Whether one can listen on `host` here. False for a name that nobody knows.
bool is_address_here(const std::string& host);

// `address`, as a peer tells it, for dialling from here: the interface of a link-local address ("%eth0") is a
// matter of each machine, and ours is the one that leads to the Master.
std::string as_seen_from_here(const std::string& address, const config::Address& master);

std::string host_name();

// A peer id that nobody else has drawn.
PeerId random_peer_id();

}  // namespace convoy
