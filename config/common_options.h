// Options that run files and node files share: devices, addresses, keys.
//
// Plain values, filled by config/run_file.h and config/node_file.h; no ownership, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convoy::config {

enum class DeviceKind { kCpu, kReference, kReference64, kCuda };

// "cpu", "reference", "reference64" (fp64), "cuda:N".
struct DeviceName {
  DeviceKind kind = DeviceKind::kCpu;
  int index = 0;  // N of cuda:N; 0 for the others

  friend bool operator==(const DeviceName&, const DeviceName&) = default;
};

// One W-slave: a device and what it may use of it.
struct WSlaveOptions {
  DeviceName device;
  int threads = 1;             // compute threads; protocol and loader threads come on top
  double slowdown = 1.0;       // a step ends no earlier than its start + slowdown x its CPU time
  std::int64_t memory_mb = 0;  // 0: no limit of its own

  friend bool operator==(const WSlaveOptions&, const WSlaveOptions&) = default;
};

// Host name, IPv4 or IPv6 address (without brackets) and port. Port 0: any free one, printed when bound.
struct Address {
  std::string host;
  std::uint16_t port = 0;

  friend bool operator==(const Address&, const Address&) = default;
};

// "host:port", with an IPv6 host in brackets.
std::string to_string(const Address& address);
std::string to_string(DeviceName device);

// CURVE keys are Z85 text of 40 characters. Never part of RunOptions: what goes over the wire holds no
// secret.
struct SecurityOptions {
  enum class Mode {
    kAuto,  // encrypted and authenticated as soon as an address is not loopback
    kOn,    // always: the file has a [security] table
    kNone,  // never: the file says security = "none"
  };
  Mode mode = Mode::kAuto;
  std::string secret_key;
  std::string secret_key_file;  // file that holds the secret key alone; instead of secret_key
  std::string public_key;
  std::string server_key;                 // node files: the Master's public key
  std::vector<std::string> allowed_keys;  // run files: public keys of nodes that may join
  std::string allowed_keys_file;  // the same, one key a line, `#` starts a comment; read beside allowed_keys

  friend bool operator==(const SecurityOptions&, const SecurityOptions&) = default;
};

}  // namespace convoy::config
