// TomlReader: walks a parsed TOML file with the field lists of config/*_fields.h and fills typed options,
// collecting every error instead of stopping at the first. TomlWriter (toml_writer.h) takes the same walks
// the other way.
//
// A reader owns its tree and is used once, by one thread: parse, fields, then take_errors(). Internal to
// config/.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/names.h"
#include "config/run_file.h"

namespace convoy::config::detail {

struct IntegerRange {
  std::int64_t least = 0;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

struct NumberRange {
  double least = 0;
  double most = std::numeric_limits<double>::max();
  bool above_least = false;  // least itself is out
  bool below_most = false;   // most itself is out
};

class TomlReader {
 public:
  // A syntax error is kept like any other; the fields then keep their defaults.
  TomlReader(std::string_view text, std::string file, const Overrides& overrides);
  ~TomlReader();
  TomlReader(const TomlReader&) = delete;
  TomlReader& operator=(const TomlReader&) = delete;

  static constexpr bool reading() { return true; }

  template <class Body>
  void table(std::string_view key, Body body) {
    enter(key);
    body();
    leave();
  }

  // A list of tables; an absent one leaves `values` as they are.
  template <class T, class Body>
  void tables(std::string_view key, std::vector<T>& values, Body body) {
    const std::optional<std::size_t> count = list_size(key);
    if (count) values.assign(*count, T{});
    T unused{};  // so that the keys of an empty list are known too
    for (std::size_t i = 0; i < count.value_or(0); ++i) {
      enter_entry(key, i);
      body(values[i]);
      leave();
    }
    if (count.value_or(0) == 0) {
      enter_nothing(key);
      body(unused);
      leave();
    }
  }

  void text(std::string_view key, std::string& value);
  void texts(std::string_view key, std::vector<std::string>& values);
  // As many whole numbers as `values` has, or one that stands for each of them when `spread` is set.
  void integers(std::string_view key, std::span<int> values, IntegerRange range, bool spread);
  void boolean(std::string_view key, bool& value);
  void optional_boolean(std::string_view key, std::optional<bool>& value);
  void number(std::string_view key, double& value, NumberRange range);
  void optional_number(std::string_view key, std::optional<double>& value, NumberRange range) {
    double read = 0;
    if (number_given(key, read, range)) value = read;
  }

  template <class Integer>
  void integer(std::string_view key, Integer& value, IntegerRange range) {
    if (const auto read = integer_given(key, range)) value = static_cast<Integer>(*read);
  }

  template <class E>
  void choice(std::string_view key, E& value) {
    if (const auto index = choice_given(key, Names<E>::values)) value = static_cast<E>(*index);
  }

  // A value with a textual form (text_forms.h). `allowed` completes "allowed: ".
  template <class T, class Parse, class Print>
  void form(std::string_view key, T& value, Parse parse, Print, std::string_view allowed) {
    const auto given = scalar_text(key, allowed);
    if (!given) return;
    if (auto parsed = parse(std::string_view(*given))) {
      value = std::move(*parsed);
    } else {
      wrong(key, "`" + *given + "` is not understood", allowed);
    }
  }
  template <class T, class Parse, class Print>
  void optional_form(std::string_view key, std::optional<T>& value, Parse parse, Print,
                     std::string_view allowed) {
    const auto given = scalar_text(key, allowed);
    if (!given) return;
    value = parse(std::string_view(*given));
    if (!value) wrong(key, "`" + *given + "` is not understood", allowed);
  }

  // Keys and paths here are whole ("sync.bound", "fault[0].at").
  bool given(std::string_view path) const;
  std::optional<std::string> string_at(std::string_view path) const;
  // One error at the place of `path`, or of the nearest table around it when the file does not have it.
  void error(std::string_view path, const std::string& what, std::string_view allowed = {});
  // Messages about another file, each a whole line already.
  void errors_elsewhere(const std::string& lines);
  void remove(std::string_view top_level_key);

  // Reports the unknown keys too; all messages in the order of the file, one a line. Empty: no error.
  std::string take_errors();

 private:
  struct Impl;

  void enter(std::string_view key);
  void enter_entry(std::string_view key, std::size_t index);
  void enter_nothing(std::string_view key);
  void leave();
  std::optional<std::size_t> list_size(std::string_view key);
  bool number_given(std::string_view key, double& value, NumberRange range);
  std::optional<std::int64_t> integer_given(std::string_view key, IntegerRange range);
  std::optional<std::size_t> choice_given(std::string_view key, std::span<const char* const> names);
  std::optional<std::string> scalar_text(std::string_view key, std::string_view allowed);
  void wrong(std::string_view key, const std::string& what, std::string_view allowed);

  std::unique_ptr<Impl> impl_;
};

}  // namespace convoy::config::detail
