// Values with a textual form: what is one, what is none, and that text and value are two sides of the same.
#include "config/text_forms.h"

#include <boost/test/unit_test.hpp>

namespace convoy::config::detail {
namespace {

BOOST_AUTO_TEST_CASE(addresses_are_hosts_with_and_without_ports) {
  const auto is = [](const char* text, const char* host, int port) {
    const auto address = parse_address(text);
    BOOST_REQUIRE_MESSAGE(address.has_value(), text);
    BOOST_TEST(address->host == host);
    BOOST_TEST(address->port == port);
    BOOST_TEST((parse_address(to_string(*address)) == address));
  };
  is("127.0.0.1:7070", "127.0.0.1", 7070);
  is("head.example", "head.example", 0);
  is("[::1]:7", "::1", 7);
  is("[::]", "::", 0);
  is("fe80::1%eth0", "fe80::1%eth0", 0);
  for (const char* text :
       {"", ":1", "*:1", "a:65536", "a:-1", "a:1x", "[1.2.3.4]:1", "[::1", "[::1]x", "tcp://a:1"}) {
    BOOST_TEST(!parse_address(text).has_value(), text);
  }
}

BOOST_AUTO_TEST_CASE(devices_come_back_from_their_text) {
  for (const char* text : {"cpu", "reference", "reference64", "cuda:0", "cuda:12"}) {
    const auto device = parse_device(text);
    BOOST_REQUIRE_MESSAGE(device.has_value(), text);
    BOOST_TEST(to_string(*device) == text);
  }
  for (const char* text : {"", "gpu", "cuda", "cuda:", "cuda:-1", "cuda:1x", "CPU"}) {
    BOOST_TEST(!parse_device(text).has_value(), text);
  }
}

BOOST_AUTO_TEST_CASE(fault_targets_and_moments_come_back_from_their_text) {
  for (const char* text : {"master", "w-slave[0]", "p-slave[12]", "any-w-slave", "any-p-slave",
                           "w-slave[0]->master", "any-w-slave->p-slave[1]"}) {
    const auto targets = parse_fault_targets(text);
    BOOST_REQUIRE_MESSAGE(targets.has_value(), text);
    BOOST_TEST(print_fault_targets(*targets) == text);
  }
  for (const char* text :
       {"", "w-slave", "w-slave[]", "w-slave[-1]", "w-slave[1", "->", "master->", "master->master"}) {
    BOOST_TEST(!parse_fault_targets(text).has_value(), text);
  }
  for (const char* text : {"30s", "1.5s", "clock 50", "epoch 1", "epoch 0.25"}) {
    const auto moment = parse_moment(text);
    BOOST_REQUIRE_MESSAGE(moment.has_value(), text);
    BOOST_TEST(print_moment(*moment) == text);
  }
  for (const char* text :
       {"", "s", "30", "-1s", "clock", "clock x", "clock 1.5", "epoch", "epoch -1", "infs", "nans"}) {
    BOOST_TEST(!parse_moment(text).has_value(), text);
  }
}

BOOST_AUTO_TEST_CASE(bounds_are_whole_numbers_or_inf) {
  BOOST_TEST(parse_bound("0")->value() == 0);
  BOOST_TEST((parse_bound("inf").has_value() && !parse_bound("inf")->has_value()));
  for (const char* text : {"", "-1", "1.5", "infinity", "nan", "99999999999999999999"}) {
    BOOST_TEST(!parse_bound(text).has_value(), text);
  }
}

BOOST_AUTO_TEST_CASE(numbers_come_back_from_their_text_bit_for_bit) {
  for (const double value : {0.0, 0.1, 5e-4, 1.0 / 3, 1e300, 5e-324, 123456789.0}) {
    BOOST_TEST(parse_number(print_number(value)).value() == value);
  }
}

}  // namespace
}  // namespace convoy::config::detail
