#include "config/common_fields.h"

namespace convoy::config::detail {

void read_security(TomlReader& reader, SecurityOptions& security) {
  if (const auto word = reader.string_at("security")) {
    if (*word == "none") {
      security.mode = SecurityOptions::Mode::kNone;
    } else {
      reader.error("security", "`" + *word + "` is not understood",
                   "\"none\", or a table of keys [security]");
    }
    reader.remove("security");
    return;
  }
  reader.table("security", [&] { walk(reader, security); });
  if (!reader.given("security")) return;
  security.mode = SecurityOptions::Mode::kOn;
  const auto require_key = [&](const char* path, const std::string& key) {
    if (!key.empty() && !is_curve_key(key)) {
      reader.error(path, "is no CURVE key", "40 characters as `convoy keygen` prints them");
    }
  };
  require_key("security.secret_key", security.secret_key);
  require_key("security.public_key", security.public_key);
  require_key("security.server_key", security.server_key);
  for (std::size_t i = 0; i < security.allowed_keys.size(); ++i) {
    require_key(("security.allowed_keys[" + std::to_string(i) + "]").c_str(), security.allowed_keys[i]);
  }
  if (!security.secret_key.empty() && !security.secret_key_file.empty()) {
    reader.error("security.secret_key", "is there beside security.secret_key_file", "one of the two");
  }
}

}  // namespace convoy::config::detail
