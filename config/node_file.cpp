#include "config/node_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "config/common_fields.h"
#include "config/read_text.h"
#include "config/toml_writer.h"

namespace convoy::config {
namespace {

constexpr std::size_t kMostNameBytes = 100;

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name.front() == '\0') return "node";
  return name.data();
}

template <class V>
void walk(V& v, NodeOptions& o) {
  v.text("name", o.name);
  v.form(
      "master", o.master, detail::parse_full_address, [](const Address& a) { return to_string(a); },
      detail::kAllowedAddress);
  std::vector<std::string> roles;
  if (o.w_slave) roles.emplace_back("w-slave");
  if (o.p_slave) roles.emplace_back("p-slave");
  v.texts("roles", roles);
  o.w_slave = std::count(roles.begin(), roles.end(), "w-slave") > 0;
  o.p_slave = std::count(roles.begin(), roles.end(), "p-slave") > 0;
  if constexpr (V::reading()) {
    const bool known = std::all_of(roles.begin(), roles.end(),
                                   [](const std::string& r) { return r == "w-slave" || r == "p-slave"; });
    if (!known || roles.empty()) {
      v.error("node.roles", roles.empty() ? "is empty" : "holds an unknown role",
              "\"w-slave\", \"p-slave\", or both");
    }
  }
  v.text("advertise", o.advertise);
  v.integer("port", o.port, {0, 65535});
  v.text("data_dir", o.data_dir);
  v.text("cache_dir", o.cache_dir);
  v.integer("cache_mb", o.cache_mb, {0, std::int64_t{1} << 40});
  v.number("connect_timeout_s", o.connect_timeout_s, {.least = 0, .most = 1e9});
  v.tables("devices", o.devices, [&](WSlaveOptions& w) { detail::walk(v, w); });
}

}  // namespace

Result<NodeOptions> parse_node_file(std::string_view text, const std::string& name,
                                    const std::vector<std::string>& set) {
  NodeOptions o;
  detail::TomlReader reader(text, name, Overrides{.set = set, .workers = {}, .servers = {}});
  reader.table("node", [&] { walk(reader, o); });
  detail::read_security(reader, o.security);
  if (o.name.empty()) o.name = host_name();
  // It goes into messages, logs and onto terminals.
  const bool is_line = std::none_of(o.name.begin(), o.name.end(),
                                    [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (!is_line || o.name.size() > kMostNameBytes) {
    reader.error("node.name", is_line ? "is too long" : "holds a control character",
                 "one line of at most 100 bytes");
  }
  if (!reader.given("node.master")) reader.error("node.master", "is missing", detail::kAllowedAddress);
  if (o.w_slave && o.devices.empty()) {
    reader.error("node.devices", "has no entry", "at least one device, or no role w-slave");
  }
  if (!o.advertise.empty()) {
    const auto address = detail::parse_address(o.advertise);
    if (!address || address->port != 0) {
      reader.error("node.advertise", "`" + o.advertise + "` is no host",
                   "a host name or address; node.port has the port");
    } else {
      o.advertise = address->host;
    }
  }
  for (std::size_t i = 0; i < o.devices.size(); ++i) {
    if (o.devices[i].device.kind == DeviceKind::kCuda) {
      reader.error("node.devices[" + std::to_string(i) + "].device",
                   to_string(o.devices[i].device) + " is not available yet", "cpu, reference, reference64");
    }
  }
  std::string errors = reader.take_errors();
  if (!errors.empty()) return Error{ErrorCode::kUsage, std::move(errors)};
  return o;
}

Result<NodeOptions> read_node_file(const std::string& path, const std::vector<std::string>& set) {
  auto text = detail::read_text(path);
  if (!text) return Error{ErrorCode::kUsage, text.error().message};
  return parse_node_file(*text, path, set);
}

std::string serialise(const NodeOptions& options) {
  detail::TomlWriter writer;
  NodeOptions copy = options;
  const bool none = copy.security.mode == SecurityOptions::Mode::kNone;
  const std::string head = none ? "security = \"none\"\n" : "";
  writer.table("node", [&] { walk(writer, copy); });
  if (copy.security.mode == SecurityOptions::Mode::kOn) {
    writer.table("security", [&] { detail::walk(writer, copy.security); });
  }
  return head + writer.take();
}

}  // namespace convoy::config
