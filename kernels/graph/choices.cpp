#include "kernels/graph/choices.h"

#include <utility>

#include "messages/base/check.h"

namespace convoy {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

void KernelChoices::set(std::string key, std::string implementation) {
  CONVOY_CHECK(key.find_first_of("=\n") == std::string::npos && trimmed(key) == key && !key.empty(), key);
  CONVOY_CHECK(implementation.find_first_of("=\n") == std::string::npos, implementation);
  entries_[std::move(key)] = std::move(implementation);
}

const std::string* KernelChoices::find(const std::string& key) const {
  auto it = entries_.find(key);
  return it == entries_.end() ? nullptr : &it->second;
}

void KernelChoices::merge(const KernelChoices& other) {
  entries_.insert(other.entries_.begin(), other.entries_.end());
}

std::string KernelChoices::to_text() const {
  std::string text;
  for (const auto& [key, implementation] : entries_) text += key + " = " + implementation + "\n";
  return text;
}

Result<KernelChoices> KernelChoices::parse(std::string_view text) {
  KernelChoices choices;
  for (int number = 1; !text.empty(); ++number) {
    const auto newline = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, newline));
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    if (line.empty() || line.front() == '#') continue;
    auto wrong = [&](const char* what) {
      return Error{ErrorCode::kUsage, "kernel choices, line " + std::to_string(number) + ": " + what};
    };
    const auto equals = line.find('=');
    if (equals == std::string_view::npos || equals != line.rfind('='))
      return wrong("needs \"key = implementation\"");
    std::string key(trimmed(line.substr(0, equals)));
    std::string implementation(trimmed(line.substr(equals + 1)));
    if (key.empty() || implementation.empty()) return wrong("needs \"key = implementation\"");
    if (choices.find(key)) return wrong("this key stands twice");
    choices.set(std::move(key), std::move(implementation));
  }
  return choices;
}

}  // namespace convoy
