// Machines of a test: network namespaces joined by a bridge at eth0, each with an IPv4, an IPv6 and a
// link-local address there, and names in a hosts file of its own. Each has an interface before that one which
// leads nowhere, with an address that all of them have. Nobody outside sees them, and they are gone with the
// test.
//
// Needs root. Where namespaces cannot be had, why_not() says why; a test that needs them is skipped with
// these words, except as root, where it fails: what decides about a change runs as root, and must not pass by
// skipping.
#pragma once

#include <boost/test/unit_test.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/system/process.h"

namespace convoy::test {

class Network {
 public:
  enum class Family { kBoth, kIpv6Only };

  // `folder`: where the hosts file may lie.
  Network(const std::string& folder, int machines, Family family = Family::kBoth);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  // Machine i is called "host<i>" by name, and by the IPv6 address alone "six<i>".
  static std::string address(int i) { return "10.77.0." + std::to_string(i + 1); }
  static std::string address6(int i) { return "fd77::" + std::to_string(i + 1); }
  static std::string link_local(int i) { return "fe80::77:" + std::to_string(i + 1); }  // needs "%eth0"
  static std::string address_of_nowhere() { return "10.66.0.1"; }
  // Where a Process runs on machine i.
  Place on(int i) const { return {machines_[static_cast<std::size_t>(i)], hosts_}; }

  static std::optional<std::string> why_not();

 private:
  std::vector<int> machines_;  // file descriptors of namespaces
  std::string hosts_;
};

// For boost::unit_test::precondition: the test case is skipped, and why is told, when there can be no
// Network.
boost::test_tools::assertion_result has_network(boost::unit_test::test_unit_id);

}  // namespace convoy::test
