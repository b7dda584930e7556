#include "config/toml_reader.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "config/suggest.h"
#include "config/text_forms.h"
#include "config/toml_overrides.h"

namespace convoy::config::detail {
namespace {

struct Place {
  std::size_t line = 1;
  std::size_t column = 1;

  friend auto operator<=>(const Place&, const Place&) = default;
};

struct Message {
  enum class About { kFile, kOtherFile, kSet };  // in the order of printing
  About about = About::kFile;
  Place place;
  std::string text;
};

std::string joined(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : std::string(path) + "." + std::string(key);
}

std::string type_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "text";
    case toml::node_type::integer:
      return "a whole number";
    case toml::node_type::floating_point:
      return "a number with a fraction";
    case toml::node_type::boolean:
      return "true or false";
    default:
      return "a date or time";
  }
}

std::string allowed_integers(IntegerRange range) {
  if (range.most == std::numeric_limits<std::int64_t>::max()) {
    return "a whole number from " + std::to_string(range.least) + " on";
  }
  return "a whole number from " + std::to_string(range.least) + " to " + std::to_string(range.most);
}

std::string allowed_numbers(NumberRange range) {
  std::string text = range.above_least ? "a number above " : "a number from ";
  text += print_number(range.least);
  if (range.most == std::numeric_limits<double>::max()) return text + (range.above_least ? "" : " on");
  text += range.below_most ? " and below " : range.above_least ? " and up to " : " to ";
  return text + print_number(range.most);
}

}  // namespace

struct TomlReader::Impl {
  struct Frame {
    const toml::table* table = nullptr;  // nullptr: the file does not have it
    std::string path;
  };

  std::string file;
  toml::table root;
  SetTexts sets;
  bool parsed = false;
  std::vector<Frame> frames;
  std::vector<Message> messages;
  std::vector<Frame> visited;                               // tables, for the unknown keys
  std::map<std::string, std::set<std::string>> known_keys;  // by path of the table
  std::set<std::string> known_paths;  // whole keys, entries of lists without their index

  const toml::node* get(std::string_view key) {
    Frame& frame = frames.back();
    known_keys[frame.path].emplace(key);
    known_paths.insert(joined(without_indices(frame.path), key));
    return frame.table != nullptr ? frame.table->get(key) : nullptr;
  }

  static std::string without_indices(std::string_view path) {
    std::string out;
    bool inside = false;
    for (const char c : path) {
      if (c == '[') inside = true;
      if (!inside) out += c;
      if (c == ']') inside = false;
    }
    return out;
  }

  // The --set that made the value at `path`, or something around it.
  const SetText* set_around(std::string_view path) const {
    for (; !path.empty(); path = parent_of(path)) {
      const auto found = sets.find(path);
      if (found != sets.end()) return &found->second;
    }
    return nullptr;
  }

  // A --set of something inside `path`: what made a table that the file does not have.
  const SetText* set_inside(std::string_view path) const {
    const auto found = sets.lower_bound(path);
    return found != sets.end() && found->first.starts_with(path) ? &found->second : nullptr;
  }

  static std::string_view parent_of(std::string_view path) {
    const auto cut = path.find_last_of(".[");
    return cut == std::string_view::npos ? std::string_view() : path.substr(0, cut);
  }

  void add(const std::string& path, const std::string& what, std::string_view allowed) {
    std::string text = path + ": " + what;
    if (!allowed.empty()) text += "; allowed: " + std::string(allowed);
    const SetText* set = set_around(path);
    Place place;
    for (std::string_view at = path; set == nullptr && !at.empty(); at = parent_of(at)) {
      const toml::node* node = find_node(root, at);
      if (node == nullptr) continue;
      if (const toml::source_position begin = node->source().begin) {
        place = {begin.line, begin.column};
        break;
      }
      set = set_inside(at);
    }
    if (set != nullptr) {
      messages.push_back({Message::About::kSet, {}, set->whole + ": " + text});
    } else {
      messages.push_back({Message::About::kFile, place, text});
    }
  }

  void find_unknown_keys() {
    for (const Frame& frame : visited) {
      const std::set<std::string>& known = known_keys[frame.path];
      for (const auto& [key, node] : *frame.table) {
        const std::string name(key.str());
        if (known.contains(name)) continue;
        const std::string path = joined(frame.path, name);
        const toml::source_position begin = key.source().begin;
        std::string what = node.is_table() ? "unknown table" : "unknown key";
        const auto meant = closest_key(joined(without_indices(frame.path), name), known_paths);
        if (meant) what += ", did you mean `" + *meant + "`?";
        std::string allowed;
        for (const std::string& k : known) allowed += (allowed.empty() ? "" : ", ") + k;
        add(path, what, allowed);
        // The place of the key, where there is one, rather than that of its value.
        Message& message = messages.back();
        if (message.about == Message::About::kFile && begin) message.place = {begin.line, begin.column};
      }
    }
  }
};

TomlReader::TomlReader(std::string_view text, std::string file, const Overrides& overrides)
    : impl_(std::make_unique<Impl>()) {
  impl_->file = std::move(file);
  try {
    impl_->root = toml::parse(text, impl_->file);
    impl_->parsed = true;
  } catch (const toml::parse_error& e) {
    const toml::source_position begin = e.source().begin;
    impl_->messages.push_back(
        {Message::About::kFile, {begin.line, begin.column}, "not TOML: " + std::string(e.description())});
  }
  if (impl_->parsed) {
    const auto replace_list = [this](std::string_view key, std::optional<int> count) {
      if (!count) return;
      toml::table* local = impl_->root.insert("local", toml::table{}).first->second.as_table();
      if (local == nullptr) return;  // reported when it is read
      toml::array entries;
      for (int i = 0; i < *count; ++i) entries.push_back(toml::table{});
      local->insert_or_assign(key, std::move(entries));
    };
    replace_list("w_slave", overrides.workers);
    replace_list("p_slave", overrides.servers);
    std::vector<std::string> errors;
    impl_->sets = apply_overrides(impl_->root, overrides.set, errors);
    for (std::string& error : errors) impl_->messages.push_back({Message::About::kSet, {}, std::move(error)});
  }
  impl_->frames.push_back({&impl_->root, ""});
  impl_->visited.push_back(impl_->frames.back());
}

TomlReader::~TomlReader() = default;

void TomlReader::enter(std::string_view key) {
  const toml::node* node = impl_->get(key);
  const std::string path = joined(impl_->frames.back().path, key);
  const toml::table* table = node != nullptr ? node->as_table() : nullptr;
  if (node != nullptr && table == nullptr) {
    impl_->add(path, "is " + type_of(*node), "a table of keys");
  }
  impl_->frames.push_back({table, path});
  if (table != nullptr) impl_->visited.push_back(impl_->frames.back());
}

void TomlReader::enter_entry(std::string_view key, std::size_t index) {
  const toml::array* list = impl_->frames.back().table->get(key)->as_array();
  const std::string path = joined(impl_->frames.back().path, key) + "[" + std::to_string(index) + "]";
  const toml::table* table = list->get(index)->as_table();
  if (table == nullptr) {
    impl_->add(path, "is " + type_of(*list->get(index)), "a table of keys");
  }
  impl_->frames.push_back({table, path});
  if (table != nullptr) impl_->visited.push_back(impl_->frames.back());
}

void TomlReader::enter_nothing(std::string_view key) {
  impl_->frames.push_back({nullptr, joined(impl_->frames.back().path, key)});
}

void TomlReader::leave() {
  impl_->frames.pop_back();
}

std::optional<std::size_t> TomlReader::list_size(std::string_view key) {
  const toml::node* node = impl_->get(key);
  if (node == nullptr) return std::nullopt;
  const toml::array* list = node->as_array();
  if (list == nullptr) {
    const std::string path = joined(impl_->frames.back().path, key);
    impl_->add(path, "is " + type_of(*node), "a list of tables, [[" + path + "]]");
    return std::nullopt;
  }
  return list->size();
}

void TomlReader::text(std::string_view key, std::string& value) {
  const toml::node* node = impl_->get(key);
  if (node == nullptr) return;
  const std::string path = joined(impl_->frames.back().path, key);
  const auto set = impl_->sets.find(path);
  if (const auto* string = node->as_string()) {
    value = string->get();
  } else if (set != impl_->sets.end()) {
    value = set->second.value;
  } else {
    return wrong(key, "is " + type_of(*node), "text in quotes");
  }
  if (value.empty()) wrong(key, "is empty", "some text, or no such line");
}

void TomlReader::texts(std::string_view key, std::vector<std::string>& values) {
  const toml::node* node = impl_->get(key);
  if (node == nullptr) return;
  const toml::array* list = node->as_array();
  if (list == nullptr) return wrong(key, "is " + type_of(*node), "a list of texts, [\"a\", \"b\"]");
  values.clear();
  for (const toml::node& entry : *list) {
    const auto* string = entry.as_string();
    if (string == nullptr) return wrong(key, "holds " + type_of(entry), "a list of texts, [\"a\", \"b\"]");
    values.push_back(string->get());
  }
}

void TomlReader::integers(std::string_view key, std::span<int> values, IntegerRange range, bool spread) {
  const toml::node* node = impl_->get(key);
  if (node == nullptr) return;
  const std::string allowed = (spread ? "one or a list of " : "a list of ") + std::to_string(values.size()) +
                              " whole numbers from " + std::to_string(range.least) + " to " +
                              std::to_string(range.most);
  const auto fits = [&range](const toml::node& n) {
    const auto* integer = n.as_integer();
    return integer != nullptr && integer->get() >= range.least && integer->get() <= range.most;
  };
  if (spread && fits(*node)) {
    std::fill(values.begin(), values.end(), static_cast<int>(node->as_integer()->get()));
    return;
  }
  const toml::array* list = node->as_array();
  if (list == nullptr || list->size() != values.size() || !std::all_of(list->begin(), list->end(), fits)) {
    return wrong(key, "is not understood", allowed);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<int>(list->get(i)->as_integer()->get());
  }
}

void TomlReader::optional_boolean(std::string_view key, std::optional<bool>& value) {
  bool read = false;
  const bool given = impl_->get(key) != nullptr;
  boolean(key, read);
  if (given) value = read;
}

void TomlReader::boolean(std::string_view key, bool& value) {
  const toml::node* node = impl_->get(key);
  if (node == nullptr) return;
  const auto* boolean = node->as_boolean();
  if (boolean == nullptr) return wrong(key, "is " + type_of(*node), "true or false");
  value = boolean->get();
}

bool TomlReader::number_given(std::string_view key, double& value, NumberRange range) {
  const toml::node* node = impl_->get(key);
  if (node == nullptr) return false;
  if (!node->is_number()) {
    wrong(key, "is " + type_of(*node), allowed_numbers(range));
    return false;
  }
  const double read = node->value<double>().value_or(std::nan(""));
  const bool low = range.above_least ? read <= range.least : read < range.least;
  const bool high = range.below_most ? read >= range.most : read > range.most;
  if (!std::isfinite(read) || low || high) {
    wrong(key, print_number(read) + " is out of range", allowed_numbers(range));
    return false;
  }
  value = read;
  return true;
}

void TomlReader::number(std::string_view key, double& value, NumberRange range) {
  number_given(key, value, range);
}

std::optional<std::int64_t> TomlReader::integer_given(std::string_view key, IntegerRange range) {
  const toml::node* node = impl_->get(key);
  if (node == nullptr) return std::nullopt;
  const auto* integer = node->as_integer();
  if (integer == nullptr) {
    wrong(key, "is " + type_of(*node), allowed_integers(range));
    return std::nullopt;
  }
  if (integer->get() < range.least || integer->get() > range.most) {
    wrong(key, std::to_string(integer->get()) + " is out of range", allowed_integers(range));
    return std::nullopt;
  }
  return integer->get();
}

std::optional<std::size_t> TomlReader::choice_given(std::string_view key,
                                                    std::span<const char* const> names) {
  std::string allowed;
  for (const char* name : names) allowed += (allowed.empty() ? "" : ", ") + std::string(name);
  const auto given = scalar_text(key, allowed);
  if (!given) return std::nullopt;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (*given == names[i]) return i;
  }
  std::string what = "`" + *given + "` is not one of them";
  const auto meant = closest_key(*given, std::set<std::string>(names.begin(), names.end()));
  if (meant) what += ", did you mean `" + *meant + "`?";
  wrong(key, what, allowed);
  return std::nullopt;
}

std::optional<std::string> TomlReader::scalar_text(std::string_view key, std::string_view allowed) {
  const toml::node* node = impl_->get(key);
  if (node == nullptr) return std::nullopt;
  const auto set = impl_->sets.find(joined(impl_->frames.back().path, key));
  if (const auto* string = node->as_string()) return string->get();
  if (set != impl_->sets.end()) return set->second.value;
  if (const auto* integer = node->as_integer()) return std::to_string(integer->get());
  if (const auto* number = node->as_floating_point()) {
    return std::isinf(number->get()) && number->get() > 0 ? "inf" : print_number(number->get());
  }
  wrong(key, "is " + type_of(*node), allowed);
  return std::nullopt;
}

void TomlReader::wrong(std::string_view key, const std::string& what, std::string_view allowed) {
  error(joined(impl_->frames.back().path, key), what, allowed);
}

bool TomlReader::given(std::string_view path) const {
  return find_node(impl_->root, path) != nullptr;
}

std::optional<std::string> TomlReader::string_at(std::string_view path) const {
  const toml::node* node = find_node(impl_->root, path);
  return node != nullptr ? node->value<std::string>() : std::nullopt;
}

void TomlReader::errors_elsewhere(const std::string& lines) {
  impl_->messages.push_back({Message::About::kOtherFile, {}, lines});
}

void TomlReader::remove(std::string_view top_level_key) {
  impl_->root.erase(top_level_key);
}

void TomlReader::error(std::string_view path, const std::string& what, std::string_view allowed) {
  impl_->add(std::string(path), what, allowed);
}

std::string TomlReader::take_errors() {
  if (impl_->parsed) {
    impl_->find_unknown_keys();
  } else {
    // What is missing from a file that could not be read is no news.
    std::erase_if(impl_->messages, [](const Message& m) { return !m.text.starts_with("not TOML"); });
  }
  std::stable_sort(impl_->messages.begin(), impl_->messages.end(), [](const Message& a, const Message& b) {
    return std::pair(a.about, a.place) < std::pair(b.about, b.place);
  });
  std::ostringstream out;
  const char* separator = "";
  for (const Message& m : impl_->messages) {
    out << separator;
    if (m.about == Message::About::kFile)
      out << impl_->file << ":" << m.place.line << ":" << m.place.column << ": ";
    out << m.text;
    separator = "\n";
  }
  return out.str();
}

}  // namespace convoy::config::detail
