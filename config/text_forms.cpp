#include "config/text_forms.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "config/names.h"

namespace convoy::config {

const char* to_string(SyncMode mode) {
  return detail::name_of(mode);
}
const char* to_string(Partition partition) {
  return detail::name_of(partition);
}
const char* to_string(Encoding encoding) {
  return detail::name_of(encoding);
}
const char* to_string(ScheduleKind kind) {
  return detail::name_of(kind);
}
const char* to_string(FaultKind kind) {
  return detail::name_of(kind);
}
std::optional<FaultKind> parse_fault_kind(std::string_view name) {
  const auto& names = detail::Names<FaultKind>::values;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<FaultKind>(found - names.begin());
}
const char* to_string(DataFormat format) {
  return detail::name_of(format);
}

std::string to_string(const Address& address) {
  const bool brackets = address.host.find(':') != std::string::npos;
  return (brackets ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

std::string to_string(DeviceName device) {
  switch (device.kind) {
    case DeviceKind::kCpu:
      return "cpu";
    case DeviceKind::kReference:
      return "reference";
    case DeviceKind::kReference64:
      return "reference64";
    case DeviceKind::kCuda:
      return "cuda:" + std::to_string(device.index);
  }
  return "unknown";
}

}  // namespace convoy::config

namespace convoy::config::detail {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_host(std::string_view host) {
  if (host.empty() || host.size() > 255) return false;
  const bool ipv6 = host.find(':') != std::string_view::npos;
  return std::all_of(host.begin(), host.end(), [ipv6](char c) {
    // A zone index ("fe80::1%eth0") belongs to IPv6 addresses.
    return is_letter_or_digit(c) || c == '.' || c == '-' || c == '_' || (ipv6 && (c == ':' || c == '%'));
  });
}

std::optional<int> parse_index(std::string_view text, std::string_view prefix, std::string_view suffix) {
  if (!text.starts_with(prefix) || !text.ends_with(suffix)) return std::nullopt;
  if (text.size() <= prefix.size() + suffix.size()) return std::nullopt;
  text = text.substr(prefix.size(), text.size() - prefix.size() - suffix.size());
  const auto index = parse_integer(text);
  if (!index || *index < 0 || *index > 1'000'000) return std::nullopt;
  return static_cast<int>(*index);
}

std::optional<FaultTarget> parse_target(std::string_view text) {
  using Kind = FaultTarget::Kind;
  text = trimmed(text);
  if (text == "master") return FaultTarget{Kind::kMaster, 0};
  if (text == "any-w-slave") return FaultTarget{Kind::kAnyWSlave, 0};
  if (text == "any-p-slave") return FaultTarget{Kind::kAnyPSlave, 0};
  if (auto i = parse_index(text, "w-slave[", "]")) return FaultTarget{Kind::kWSlave, *i};
  if (auto i = parse_index(text, "p-slave[", "]")) return FaultTarget{Kind::kPSlave, *i};
  return std::nullopt;
}

std::string print_target(const FaultTarget& target) {
  switch (target.kind) {
    case FaultTarget::Kind::kMaster:
      return "master";
    case FaultTarget::Kind::kWSlave:
      return "w-slave[" + std::to_string(target.index) + "]";
    case FaultTarget::Kind::kPSlave:
      return "p-slave[" + std::to_string(target.index) + "]";
    case FaultTarget::Kind::kAnyWSlave:
      return "any-w-slave";
    case FaultTarget::Kind::kAnyPSlave:
      return "any-p-slave";
  }
  return "unknown";
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string print_number(double value) {
  std::array<char, 64> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return std::string(buffer.data(), result.ptr);
}

std::optional<Address> parse_address(std::string_view text) {
  std::string_view host = text;
  std::string_view port;
  bool has_port = false;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    host = text.substr(1, end - 1);
    if (host.find(':') == std::string_view::npos) return std::nullopt;
    const std::string_view rest = text.substr(end + 1);
    if (!rest.empty() && rest.front() != ':') return std::nullopt;
    has_port = !rest.empty();
    if (has_port) port = rest.substr(1);
  } else if (std::count(text.begin(), text.end(), ':') == 1) {
    const auto colon = text.find(':');
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    has_port = true;
  }
  if (!is_host(host)) return std::nullopt;
  Address address{std::string(host), 0};
  if (has_port) {
    const auto number = parse_integer(port);
    if (!number || *number < 0 || *number > 65535) return std::nullopt;
    address.port = static_cast<std::uint16_t>(*number);
  }
  return address;
}

std::optional<Address> parse_full_address(std::string_view text) {
  auto address = parse_address(text);
  if (address && address->port == 0) return std::nullopt;
  return address;
}

std::optional<DeviceName> parse_device(std::string_view text) {
  if (text == "cpu") return DeviceName{DeviceKind::kCpu, 0};
  if (text == "reference") return DeviceName{DeviceKind::kReference, 0};
  if (text == "reference64") return DeviceName{DeviceKind::kReference64, 0};
  if (auto i = parse_index(text, "cuda:", "")) return DeviceName{DeviceKind::kCuda, *i};
  return std::nullopt;
}

std::optional<std::optional<std::int64_t>> parse_bound(std::string_view text) {
  if (text == "inf" || text == "+inf") return std::optional<std::int64_t>();
  const auto value = parse_integer(text);
  // Clocks are 64 bits wide and a bound is added to them.
  if (!value || *value < 0 || *value > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  return std::optional<std::int64_t>(value);
}

std::string print_bound(const std::optional<std::int64_t>& bound) {
  return bound ? std::to_string(*bound) : "inf";
}

std::optional<std::optional<std::int64_t>> parse_segments(std::string_view text) {
  if (text == "auto") return std::optional<std::int64_t>();
  const auto value = parse_integer(text);
  if (!value || *value < 1 || *value > 1000) return std::nullopt;
  return std::optional<std::int64_t>(value);
}

std::string print_segments(const std::optional<std::int64_t>& segments) {
  return segments ? std::to_string(*segments) : "auto";
}

std::optional<FaultTargets> parse_fault_targets(std::string_view text) {
  const auto arrow = text.find("->");
  const auto from = parse_target(text.substr(0, arrow));
  if (!from) return std::nullopt;
  if (arrow == std::string_view::npos) return FaultTargets{*from, std::nullopt};
  const auto to = parse_target(text.substr(arrow + 2));
  if (!to || *to == *from) return std::nullopt;
  return FaultTargets{*from, to};
}

std::string print_fault_targets(const FaultTargets& targets) {
  std::string text = print_target(targets.first);
  if (targets.second) text += "->" + print_target(*targets.second);
  return text;
}

std::optional<FaultMoment> parse_moment(std::string_view text) {
  FaultMoment moment;
  if (text.starts_with("clock ")) {
    moment.unit = FaultMoment::Unit::kClock;
    const auto clock = parse_integer(trimmed(text.substr(6)));
    if (!clock || *clock < 0) return std::nullopt;
    moment.value = static_cast<double>(*clock);
    return moment;
  }
  if (text.starts_with("epoch ")) {
    moment.unit = FaultMoment::Unit::kEpoch;
    text.remove_prefix(6);
  } else if (text.ends_with('s')) {
    text.remove_suffix(1);
  } else {
    return std::nullopt;
  }
  const auto value = parse_number(trimmed(text));
  if (!value || *value < 0) return std::nullopt;
  moment.value = *value;
  return moment;
}

std::string print_moment(const FaultMoment& moment) {
  switch (moment.unit) {
    case FaultMoment::Unit::kSeconds:
      return print_number(moment.value) + "s";
    case FaultMoment::Unit::kClock:
      return "clock " + std::to_string(static_cast<std::int64_t>(moment.value));
    case FaultMoment::Unit::kEpoch:
      return "epoch " + print_number(moment.value);
  }
  return "unknown";
}

bool is_curve_key(std::string_view text) {
  static constexpr std::string_view kOthers = ".-:+=^!/*?&<>()[]{}@%$#";
  return text.size() == 40 && std::all_of(text.begin(), text.end(), [](char c) {
           return is_letter_or_digit(c) || kOthers.find(c) != std::string_view::npos;
         });
}

bool is_run_name(std::string_view text) {
  return !text.empty() && text.size() <= 100 && text.front() != '.' &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; });
}

}  // namespace convoy::config::detail
