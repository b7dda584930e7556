#include "config/toml_overrides.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "config/text_forms.h"

namespace convoy::config::detail {
namespace {

struct Step {
  std::string key;
  std::optional<std::size_t> index;  // of "key[index]"
};

bool is_key_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

std::optional<std::vector<Step>> parse_path(std::string_view path) {
  std::vector<Step> steps;
  while (true) {
    const auto dot = path.find('.');
    std::string_view part = path.substr(0, dot);
    Step step;
    if (part.ends_with(']')) {
      const auto bracket = part.find('[');
      if (bracket == std::string_view::npos) return std::nullopt;
      const auto index = parse_integer(part.substr(bracket + 1, part.size() - bracket - 2));
      if (!index || *index < 0) return std::nullopt;
      step.index = static_cast<std::size_t>(*index);
      part = part.substr(0, bracket);
    }
    if (part.empty() || !std::all_of(part.begin(), part.end(), is_key_letter)) return std::nullopt;
    step.key = part;
    steps.push_back(std::move(step));
    if (dot == std::string_view::npos) return steps;
    path = path.substr(dot + 1);
  }
}

// As readers write it: "a[01].b" is "a[1].b".
std::string path_of(const std::vector<Step>& steps) {
  std::string path;
  for (const Step& step : steps) {
    if (!path.empty()) path += '.';
    path += step.key;
    if (step.index) path += "[" + std::to_string(*step.index) + "]";
  }
  return path;
}

// A value as TOML reads it; text that is no TOML value is a string, so that nobody has to quote twice in a
// shell.
void insert_value(toml::table& table, const std::string& key, const std::string& value) {
  if (value.find('\n') == std::string::npos) {
    try {
      toml::table parsed = toml::parse("x = " + value);
      if (parsed.size() == 1) {
        parsed.begin()->second.visit([&](auto& node) { table.insert_or_assign(key, std::move(node)); });
        return;
      }
    } catch (const toml::parse_error&) {
      // Falls through to the string.
    }
  }
  table.insert_or_assign(key, value);
}

// The table that holds the last step's key; empty string, or what is wrong.
std::string descend(toml::table& root, const std::vector<Step>& steps, toml::table*& found) {
  toml::table* table = &root;
  std::string path;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    const Step& step = steps[i];
    path += (path.empty() ? "" : ".") + step.key;
    if (!step.index) {
      if (!table->contains(step.key)) table->insert(step.key, toml::table{});
      toml::table* next = table->get(step.key)->as_table();
      if (next == nullptr) return path + " is not a table; name one of its entries, as in " + path + "[0]";
      table = next;
      continue;
    }
    // An absent list stands for its one default entry.
    if (!table->contains(step.key)) table->insert(step.key, toml::array{toml::table{}});
    toml::array* array = table->get(step.key)->as_array();
    if (array == nullptr) return path + " is not a list";
    if (*step.index > array->size()) {
      return path + " has " + std::to_string(array->size()) + " entries, so the next one is " + path + "[" +
             std::to_string(array->size()) + "]";
    }
    if (*step.index == array->size()) array->push_back(toml::table{});
    table = array->get(*step.index)->as_table();
    if (table == nullptr) return path + " is not a list of tables";
    path += "[" + std::to_string(*step.index) + "]";
  }
  found = table;
  return {};
}

}  // namespace

SetTexts apply_overrides(toml::table& root, const std::vector<std::string>& set,
                         std::vector<std::string>& errors) {
  SetTexts texts;
  for (const std::string& text : set) {
    const std::string whole = "--set " + text;
    const auto equals = text.find('=');
    const auto steps = parse_path(std::string_view(text).substr(0, equals));
    if (equals == std::string::npos || !steps || steps->back().index) {
      errors.push_back(whole + ": not of the form key=value; allowed: for example sync.mode=bsp or " +
                       "local.w_slave[1].slowdown=4");
      continue;
    }
    toml::table* table = nullptr;
    if (const std::string wrong = descend(root, *steps, table); !wrong.empty()) {
      errors.push_back(whole + ": " + wrong);
      continue;
    }
    std::string value = text.substr(equals + 1);
    insert_value(*table, steps->back().key, value);
    texts.insert_or_assign(path_of(*steps), SetText{std::move(value), whole});
  }
  return texts;
}

const toml::node* find_node(const toml::table& root, std::string_view path) {
  const auto steps = parse_path(path);
  if (!steps) return nullptr;
  const toml::node* node = &root;
  for (const Step& step : *steps) {
    const toml::table* table = node->as_table();
    node = table != nullptr ? table->get(step.key) : nullptr;
    if (node == nullptr) return nullptr;
    if (step.index) {
      const toml::array* array = node->as_array();
      node = array != nullptr ? array->get(*step.index) : nullptr;
      if (node == nullptr) return nullptr;
    }
  }
  return node;
}

}  // namespace convoy::config::detail
