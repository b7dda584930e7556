#include "config/suggest.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

namespace convoy::config::detail {
namespace {

// Edit distance (Wagner, Fischer 1974), a row at a time.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
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
