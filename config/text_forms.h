// Values that a file writes as one piece of text: addresses, devices, bounds, fault targets and moments. Each
// has a parser, which gives nothing for text that is not one, and a printer whose text parses back to the
// same value.
//
// Pure functions; internal to config/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "config/run_options.h"

namespace convoy::config::detail {

std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<double> parse_number(std::string_view text);
std::string print_number(double value);  // shortest text that reads back as the same number

// "host:port", "[::1]:port", or a host alone (port 0). A bare IPv6 address may go without brackets when it
// has no port. "*" is none: an address that is listened on is named.
std::optional<Address> parse_address(std::string_view text);
// The same with a port from 1 on: what can be dialled.
std::optional<Address> parse_full_address(std::string_view text);
std::optional<DeviceName> parse_device(std::string_view text);

// A whole number from 0 on, or "inf" (no bound).
std::optional<std::optional<std::int64_t>> parse_bound(std::string_view text);
std::string print_bound(const std::optional<std::int64_t>& bound);
// A whole number from 1 on, or "auto".
std::optional<std::optional<std::int64_t>> parse_segments(std::string_view text);
std::string print_segments(const std::optional<std::int64_t>& segments);

// A target and, for a link, the other end.
using FaultTargets = std::pair<FaultTarget, std::optional<FaultTarget>>;
std::optional<FaultTargets> parse_fault_targets(std::string_view text);
std::string print_fault_targets(const FaultTargets& targets);
std::optional<FaultMoment> parse_moment(std::string_view text);
std::string print_moment(const FaultMoment& moment);

bool is_curve_key(std::string_view text);  // Z85, 40 characters
bool is_run_name(std::string_view text);   // letters, digits, . _ -, not starting with a dot

}  // namespace convoy::config::detail
