#include "node/record/text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace convoy::record {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: broken UTF-8
};

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 && lead < 0xf5   ? 4
                            : lead >= 0xe0 && lead < 0xf0 ? 3
                            : lead >= 0xc2 && lead < 0xe0 ? 2
                                                          : 0;
  if (bytes == 0 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0xffu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = (code << 6) | (byte(i) & 0x3fu);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {code, bytes};
}

int width_of(std::uint32_t code) {
  if ((code >= 0x300 && code < 0x370) || (code >= 0x200b && code < 0x2010)) return 0;
  const bool wide = (code >= 0x1100 && code < 0x1160) || (code >= 0x2e80 && code < 0xa4d0) ||
                    (code >= 0xac00 && code < 0xd7a4) || (code >= 0xf900 && code < 0xfb00) ||
                    (code >= 0xfe30 && code < 0xfe70) || (code >= 0xff00 && code < 0xff61) ||
                    (code >= 0x1f300 && code < 0x1fb00) || (code >= 0x20000 && code < 0x40000);
  return wide ? 2 : 1;
}

bool is_control(std::uint32_t code) {
  // C0, DEL, C1, and the characters that turn the direction of writing.
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x200e && code < 0x2010) ||
         (code >= 0x2028 && code < 0x202f) || (code >= 0x2066 && code < 0x206a);
}

}  // namespace

std::string fixed(double value, int digits) {
  if (!std::isfinite(value)) return std::isnan(value) ? "-" : value > 0 ? "inf" : "-inf";
  char text[64];
  const int n = std::snprintf(text, sizeof text, "%.*f", digits, value);
  if (n < 0 || n >= static_cast<int>(sizeof text))
    std::snprintf(text, sizeof text, "%.*g", digits + 1, value);
  return text;
}

std::string grouped(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  if (seconds < 59.95) return fixed(std::max(0.0, seconds), seconds < 9.95 ? 1 : 0) + " s";
  const auto two = [](std::int64_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
  const auto whole = static_cast<std::int64_t>(std::min(std::round(seconds), 1e15));
  if (whole < 3600) return std::to_string(whole / 60) + " min " + two(whole % 60) + " s";
  return grouped(whole / 3600) + " h " + two(whole / 60 % 60) + " min";
}

std::string percent(double share, int digits) {
  return std::isfinite(share) ? fixed(share * 100, digits) + " %" : "-";
}

std::string in_words(View view) {
  return "v" + std::to_string(view.term) + "." + std::to_string(view.attempt);
}

std::string in_words(ServerKey server) {
  return "P-slave " + std::to_string(server.id.value) + " (life " + std::to_string(server.incarnation.value) +
         ")";
}

std::string in_words(MemberKey member) {
  return "member " + std::to_string(member.id.value) + " (life " + std::to_string(member.incarnation.value) +
         ")";
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Character c = first_character(text);
    if (c.bytes == 0 || is_control(c.code)) {
      out += '?';
      text.remove_prefix(std::max<std::size_t>(c.bytes, 1));
    } else {
      out += text.substr(0, c.bytes);
      text.remove_prefix(c.bytes);
    }
  }
  return out;
}

int columns_of(std::string_view text) {
  int columns = 0;
  while (!text.empty()) {
    const Character c = first_character(text);
    columns += c.bytes == 0 ? 1 : width_of(c.code);
    text.remove_prefix(std::max<std::size_t>(c.bytes, 1));
  }
  return columns;
}

std::string_view fitting(std::string_view text, int columns) {
  std::size_t end = 0;
  while (end < text.size()) {
    const Character c = first_character(text.substr(end));
    columns -= c.bytes == 0 ? 1 : width_of(c.code);
    if (columns < 0) break;
    end += std::max<std::size_t>(c.bytes, 1);
  }
  return text.substr(0, end);
}

}  // namespace convoy::record
