// TomlWriter: the walks of config/*_fields.h as text. Writes every key, so that what reads it back needs no
// defaults.
//
// Used once, by one thread. Internal to config/.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/names.h"
#include "config/toml_reader.h"

namespace convoy::config::detail {

class TomlWriter {
 public:
  static constexpr bool reading() { return false; }

  template <class Body>
  void table(std::string_view key, Body body) {
    const std::string outer = path_;
    path_ += (outer.empty() ? "" : ".") + std::string(key);
    out_ += "\n[" + path_ + "]\n";
    body();
    path_ = outer;
  }

  template <class T, class Body>
  void tables(std::string_view key, std::vector<T>& values, Body body) {
    const std::string outer = path_;
    path_ += (outer.empty() ? "" : ".") + std::string(key);
    for (T& value : values) {
      out_ += "\n[[" + path_ + "]]\n";
      body(value);
    }
    path_ = outer;
  }

  void text(std::string_view key, const std::string& value) {
    if (!value.empty()) line(key, quoted(value));
  }
  void texts(std::string_view key, const std::vector<std::string>& values);
  void boolean(std::string_view key, bool value) { line(key, value ? "true" : "false"); }
  void optional_boolean(std::string_view key, const std::optional<bool>& value) {
    if (value) boolean(key, *value);
  }
  void number(std::string_view key, double value, NumberRange);
  void optional_number(std::string_view key, const std::optional<double>& value, NumberRange range) {
    if (value) number(key, *value, range);
  }
  template <class Integer>
  void integer(std::string_view key, Integer value, IntegerRange) {
    line(key, std::to_string(value));
  }
  template <class E>
  void choice(std::string_view key, E value) {
    line(key, quoted(name_of(value)));
  }
  template <class T, class Parse, class Print>
  void form(std::string_view key, const T& value, Parse, Print print, std::string_view) {
    line(key, bare_or_quoted(print(value)));
  }
  template <class T, class Parse, class Print>
  void optional_form(std::string_view key, const std::optional<T>& value, Parse, Print print,
                     std::string_view) {
    if (value) line(key, bare_or_quoted(print(*value)));
  }

  std::string take() { return std::move(out_); }

 private:
  static std::string quoted(std::string_view text);
  static std::string bare_or_quoted(const std::string& text);  // numbers go bare
  void line(std::string_view key, std::string_view value);

  std::string out_;
  std::string path_;
};

}  // namespace convoy::config::detail
