// Node files: defaults, errors, and the text that `invite` writes.
#include "config/node_file.h"

#include <boost/test/unit_test.hpp>

namespace convoy::config {
namespace {

NodeOptions read(const std::string& text, const std::vector<std::string>& set = {}) {
  auto options = parse_node_file(text, "node.toml", set);
  BOOST_REQUIRE_MESSAGE(options.ok(), (options.ok() ? std::string() : options.error().message));
  return *options;
}

std::string error_of(const std::string& text) {
  const auto options = parse_node_file(text, "node.toml");
  BOOST_REQUIRE(!options.ok());
  return options.error().message;
}

BOOST_AUTO_TEST_CASE(the_address_of_the_master_is_enough) {
  const NodeOptions o = read("node.master = \"head.example:7070\"\n");
  BOOST_TEST(!o.name.empty());
  BOOST_TEST(o.master.host == "head.example");
  BOOST_TEST(o.master.port == 7070);
  BOOST_TEST(o.w_slave);
  BOOST_TEST(!o.p_slave);
  BOOST_TEST(o.devices.size() == 1u);
  BOOST_TEST(o.port == 0);
  BOOST_TEST(o.data_dir == "data");
  BOOST_TEST(o.connect_timeout_s == 0);
  BOOST_TEST((o.security.mode == SecurityOptions::Mode::kAuto));
}

BOOST_AUTO_TEST_CASE(several_devices_may_stand_in_either_form_of_list) {
  const NodeOptions a =
      read("[node]\nmaster = \"h:1\"\ndevices = [{ device = \"cpu\", threads = 2 }, { slowdown = 3 }]\n");
  const NodeOptions b = read(
      "[node]\nmaster = \"h:1\"\n[[node.devices]]\ndevice = \"cpu\"\nthreads = 2\n[[node.devices]]\nslowdown "
      "= 3\n");
  BOOST_TEST(a.devices.size() == 2u);
  BOOST_TEST((a == b));
}

BOOST_AUTO_TEST_CASE(options_come_back_from_their_text_keys_included) {
  const std::string key(40, 'k');
  const NodeOptions o = read(
      "[node]\nname = \"n\"\nmaster = \"[fe80::1%eth0]:7\"\nroles = [\"p-slave\", \"w-slave\"]\n"
      "advertise = \"fe80::2\"\nport = 9\ndata_dir = \"d\"\ncache_dir = \"c\"\ncache_mb = 5\n"
      "connect_timeout_s = 1.5\n[[node.devices]]\n[[node.devices]]\nthreads = 4\n"
      "[security]\nsecret_key = \"" +
      key + "\"\nserver_key = \"" + key + "\"\n");
  BOOST_TEST(o.p_slave);
  BOOST_TEST((read(serialise(o)) == o));
  const NodeOptions plain = read("security = \"none\"\nnode.name = \"n\"\nnode.master = \"h:1\"\n");
  BOOST_TEST((plain.security.mode == SecurityOptions::Mode::kNone));
  BOOST_TEST((read(serialise(plain)) == plain));
}

BOOST_AUTO_TEST_CASE(all_errors_come_at_once) {
  BOOST_TEST(
      error_of("[node]\nroles = [\"boss\"]\nport = 70000\ndevice = 3\n") ==
      "node.toml:1:1: node.master: is missing; allowed: \"host:port\" with a host name, an IPv4 address, or "
      "an "
      "IPv6 address in brackets (`*` is none: name the address)\n"
      "node.toml:2:9: node.roles: holds an unknown role; allowed: \"w-slave\", \"p-slave\", or both\n"
      "node.toml:3:8: node.port: 70000 is out of range; allowed: a whole number from 0 to 65535\n"
      "node.toml:4:1: node.device: unknown key, did you mean `node.devices`?; allowed: advertise, cache_dir, "
      "cache_mb, connect_timeout_s, data_dir, devices, master, name, port, roles");
}

BOOST_AUTO_TEST_CASE(a_name_is_one_line) {
  BOOST_TEST(read("node.master = \"h:1\"\nnode.name = \"größe 7\"\n").name == "größe 7");
  BOOST_TEST(error_of("node.master = \"h:1\"\nnode.name = \"a\\nb\"\n") ==
             "node.toml:2:13: node.name: holds a control character; allowed: one line of at most 100 bytes");
  BOOST_TEST(error_of("node.master = \"h:1\"\nnode.name = \"" + std::string(101, 'x') + "\"\n") ==
             "node.toml:2:13: node.name: is too long; allowed: one line of at most 100 bytes");
}

BOOST_AUTO_TEST_CASE(a_master_needs_a_port_that_can_be_dialled) {
  for (const char* address :
       {"head", "head:0", "head:x", "head:", ":7", "a b:7", "::1:7:", "[::1]", "[::1:7"}) {
    const std::string message = error_of(std::string("node.master = \"") + address + "\"\n");
    BOOST_TEST(message.starts_with("node.toml:1:15: node.master: `"), message);
  }
}

BOOST_AUTO_TEST_CASE(a_node_file_takes_sets_too) {
  BOOST_TEST(read("node.master = \"h:1\"\n", {"node.devices[0].threads=2"}).devices[0].threads == 2);
}

BOOST_AUTO_TEST_CASE(the_sample_file_is_read_as_it_stands) {
  const auto options = read_node_file(std::string(CONVOY_SOURCE_DIR) + "/config/node.toml");
  BOOST_REQUIRE_MESSAGE(options.ok(), (options.ok() ? std::string() : options.error().message));
  BOOST_TEST(options->name == "worker-1");
}

}  // namespace
}  // namespace convoy::config
