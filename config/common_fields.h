// Field lists of config/common_options.h, shared by run and node files. V is TomlReader or TomlWriter.
// Internal.
#pragma once

#include "config/common_options.h"
#include "config/text_forms.h"
#include "config/toml_reader.h"

namespace convoy::config::detail {

inline constexpr const char* kAllowedAddress =
    "\"host:port\" with a host name, an IPv4 address, or an IPv6 address in brackets (`*` is none: name the "
    "address)";

template <class V>
void walk(V& v, WSlaveOptions& o) {
  v.form(
      "device", o.device, parse_device, [](DeviceName d) { return to_string(d); },
      "cpu, reference, reference64, cuda:N");
  v.integer("threads", o.threads, {1, 1024});
  v.number("slowdown", o.slowdown, {.least = 1, .most = 1e6});
  v.integer("memory_mb", o.memory_mb, {0, std::int64_t{1} << 40});
}

template <class V>
void walk(V& v, SecurityOptions& o) {
  v.text("secret_key", o.secret_key);
  v.text("secret_key_file", o.secret_key_file);
  v.text("public_key", o.public_key);
  v.text("server_key", o.server_key);
  if (V::reading() || !o.allowed_keys.empty()) v.texts("allowed_keys", o.allowed_keys);
  v.text("allowed_keys_file", o.allowed_keys_file);
}

// `security` is the text "none" or a table of keys.
void read_security(TomlReader& reader, SecurityOptions& security);

}  // namespace convoy::config::detail
