// libFuzzer target: no run file, node file or model file, with whatever --set, does harm; and options that
// were read can be written and read again. Input: a byte that tells which file, its text, and behind each
// zero byte the text of one --set.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/model_file.h"
#include "config/node_file.h"
#include "config/run_file.h"
#include "messages/base/check.h"

namespace convoy::config {
namespace {

template <class T>
void check_refusal(const Result<T>& read) {
  CONVOY_CHECK(read.ok() || !read.error().message.empty(), "a refusal without words");
}

void run_file(std::string_view text, const std::vector<std::string>& set) {
  const auto read = parse_run_file(text, "f.toml", {.set = set});
  check_refusal(read);
  if (!read) return;
  const std::string written = serialise(read->options);
  const auto again = parse_run_file(written, "f.toml");
  CONVOY_CHECK(again.ok(), "written, but not read again: ", again.ok() ? "" : again.error().message);
  CONVOY_CHECK(again->options == read->options, "changed on the way: ", written);
  (void)parse_run_file(text, "f.toml", {.set = set, .workers = 2, .servers = 1}, Unsupported::kRefused);
}

void node_file(std::string_view text, const std::vector<std::string>& set) {
  const auto read = parse_node_file(text, "f.toml", set);
  check_refusal(read);
  if (!read) return;
  const std::string written = serialise(*read);
  const auto again = parse_node_file(written, "f.toml");
  CONVOY_CHECK(again.ok(), "written, but not read again: ", again.ok() ? "" : again.error().message);
  CONVOY_CHECK(*again == *read, "changed on the way: ", written);
}

void read_input(std::string_view input) {
  if (input.empty()) return;
  const auto kind = static_cast<std::uint8_t>(input[0]);
  input.remove_prefix(1);
  std::vector<std::string> set;
  const std::string_view text = input.substr(0, input.find('\0'));
  for (input.remove_prefix(text.size()); !input.empty();) {
    input.remove_prefix(1);
    set.emplace_back(input.substr(0, input.find('\0')));
    input.remove_prefix(set.back().size());
  }
  if (kind % 3 == 0) run_file(text, set);
  if (kind % 3 == 1) node_file(text, set);
  if (kind % 3 == 2) check_refusal(parse_model_file(text, "f.toml"));
}

}  // namespace
}  // namespace convoy::config

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  convoy::config::read_input({reinterpret_cast<const char*>(data), size});
  return 0;
}
