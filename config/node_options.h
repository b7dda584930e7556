// Everything that a node file says, with its defaults filled in: where the Master is, and what this node
// offers.
//
// Plain values, no ownership, any thread; checked by the reader (config/node_file.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/common_options.h"

namespace convoy::config {

struct NodeOptions {
  std::string name;  // default: the host's name. Stable names let a restarted node keep its member id
  Address master;
  bool w_slave = true;  // node.roles
  bool p_slave = false;
  std::vector<WSlaveOptions> devices{WSlaveOptions{}};  // a W-slave each
  std::string
      advertise;  // host that workers dial for this node's P-slave; empty: as the Master sees this node
  std::uint16_t port = 0;  // of the P-slave; 0: any free one, printed
  std::string data_dir = "data";
  std::string cache_dir = "cache";
  std::int64_t cache_mb = 0;     // 0: no cache
  double connect_timeout_s = 0;  // without a Master for so long, at first or later: give up; 0: wait for ever
  SecurityOptions security;

  friend bool operator==(const NodeOptions&, const NodeOptions&) = default;
};

}  // namespace convoy::config
