#include "config/suggest.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace convoy::config::detail {
namespace {

// Insertions, deletions, changes and swaps of neighbours (optimal string alignment, Damerau 1964).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      const std::size_t changed = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({changed, d[i - 1][j] + 1, d[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

std::string_view last_part(std::string_view key) {
  const auto dot = key.rfind('.');
  return dot == std::string_view::npos ? key : key.substr(dot + 1);
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kOtherNames{{
    {"learning_rate", "lr"},
    {"batch_size", "batch"},
    {"batchsize", "batch"},
    {"weightdecay", "weight_decay"},
    {"num_epochs", "epochs"},
    {"lr_schedule", "schedule"},
    {"scheduler", "schedule"},
    {"staleness", "bound"},
    {"workers", "w_slave"},
    {"worker", "w_slave"},
    {"servers", "p_slave"},
    {"server", "p_slave"},
    {"path", "dir"},
    {"compression", "encoding"},
}};

}  // namespace

std::optional<std::string> closest_key(std::string_view typed, const std::set<std::string>& known) {
  if (typed.size() > 100) return std::nullopt;  // no slip of the finger
  const std::string_view typed_part = last_part(typed);
  const std::size_t limit = std::max<std::size_t>(1, typed_part.size() / 3);
  const std::string* best = nullptr;
  std::size_t best_distance = limit + 1;
  for (const std::string& key : known) {
    const std::size_t d = distance(typed, key);
    if (d < best_distance) {
      best = &key;
      best_distance = d;
    }
  }
  if (best != nullptr) return *best;
  std::string_view wanted = typed_part;
  for (const auto& [other, ours] : kOtherNames) {
    if (typed_part == other) wanted = ours;
  }
  for (const std::string& key : known) {
    if (last_part(key) == wanted) return key;
  }
  return std::nullopt;
}

}  // namespace convoy::config::detail
