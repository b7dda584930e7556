// Damaged files: whatever the text, a reader gives options or errors, and options that it gives survive the
// wire.
#include <boost/test/unit_test.hpp>
#include <random>
#include <string>

#include "config/node_file.h"
#include "config/run_file.h"

namespace convoy::config {
namespace {

constexpr const char* kRun = R"([model]
name = "lenet"
[data]
name = "mnist"
[train]
epochs = 1.25
lr = 0.05
schedule = "one_cycle"
nesterov = false
[sync]
mode = "dynamic"
bound = inf
bound_low = 2
[cluster]
listen = "[::1]:7070"
[[local.w_slave]]
device = "reference64"
slowdown = 4.0
[[local.w_slave]]
threads = 2
[[fault]]
kind = "delay"
target = "w-slave[0]->master"
every = "1.5s"
delay_ms = 20
[security]
allowed_keys = ["rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"]
)";

constexpr const char* kNode = R"(security = "none"
[node]
name = "n"
master = "head:7070"
roles = ["w-slave", "p-slave"]
devices = [{ device = "cpu" }, { threads = 2 }]
port = 9
)";

// One or two random changes, of bytes or of whole lines.
std::string damaged(std::string text, std::mt19937& random) {
  static constexpr std::string_view kBytes = "\"'[]{}=.,#\n\\ -+0129einfx_\x80\xff";
  for (unsigned changes = 1 + random() % 2; changes > 0 && !text.empty(); --changes) {
    const std::size_t at = random() % text.size();
    switch (random() % 4) {
      case 0:
        text[at] = kBytes[random() % kBytes.size()];
        break;
      case 1:
        text.erase(at, 1 + random() % 6);
        break;
      case 2:
        text.insert(at, 1, kBytes[random() % kBytes.size()]);
        break;
      case 3: {
        const std::size_t end = std::min(text.find('\n', at), text.size() - 1);
        text.insert(random() % text.size(), text.substr(at, end - at + 1));
        break;
      }
    }
  }
  return text;
}

BOOST_AUTO_TEST_CASE(a_damaged_run_file_gives_options_or_errors) {
  std::mt19937 random(1);
  int good = 0;
  int bad = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string text = damaged(kRun, random);
    const auto file = parse_run_file(text, "run.toml");
    if (!file.ok()) {
      BOOST_REQUIRE_MESSAGE(!file.error().message.empty(), text);
      ++bad;
      continue;
    }
    const auto back = parse_run_file(serialise(file->options), "run.toml");
    BOOST_REQUIRE_MESSAGE(back.ok(), text);
    BOOST_REQUIRE_MESSAGE(back->options == file->options, text);
    ++good;
  }
  BOOST_TEST(good > 30);
  BOOST_TEST(bad > 1000);
}

BOOST_AUTO_TEST_CASE(a_damaged_node_file_gives_options_or_errors) {
  std::mt19937 random(2);
  int good = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string text = damaged(kNode, random);
    const auto options = parse_node_file(text, "node.toml");
    if (!options.ok()) {
      BOOST_REQUIRE_MESSAGE(!options.error().message.empty(), text);
      continue;
    }
    const auto back = parse_node_file(serialise(*options), "node.toml");
    BOOST_REQUIRE_MESSAGE(back.ok(), text << "\n" << serialise(*options));
    BOOST_REQUIRE_MESSAGE(*back == *options, text);
    ++good;
  }
  BOOST_TEST(good > 30);
}

BOOST_AUTO_TEST_CASE(damaged_sets_give_options_or_errors) {
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    const std::string set = damaged("local.w_slave[1].slowdown=4", random);
    const auto file = parse_run_file(kRun, "run.toml", {.set = {set}, .workers = {}, .servers = {}});
    if (!file.ok()) {
      BOOST_REQUIRE_MESSAGE(file.error().message.find("--set " + set) != std::string::npos,
                            set << "\n"
                                << file.error().message);
    }
  }
}

}  // namespace
}  // namespace convoy::config
