#include "config/toml_writer.h"

#include <array>
#include <cstdio>

#include "config/text_forms.h"

namespace convoy::config::detail {

std::string TomlWriter::quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04X", static_cast<unsigned>(byte));
      out += escape.data();
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string TomlWriter::bare_or_quoted(const std::string& text) {
  return parse_integer(text) || text == "inf" ? text : quoted(text);
}

void TomlWriter::line(std::string_view key, std::string_view value) {
  out_ += key;
  out_ += " = ";
  out_ += value;
  out_ += '\n';
}

void TomlWriter::texts(std::string_view key, const std::vector<std::string>& values) {
  std::string list = "[";
  for (const std::string& value : values) list += (list.size() > 1 ? ", " : "") + quoted(value);
  line(key, list + "]");
}

void TomlWriter::number(std::string_view key, double value, NumberRange) {
  line(key, print_number(value));
}

}  // namespace convoy::config::detail
