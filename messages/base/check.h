// CONVOY_CHECK(condition, operands...): an assertion for our own bugs. On in every build; prints the
// condition, the operands and the place, then aborts. Never for what a peer, file, device or network did:
// that is Result<T>.
#pragma once

#include <sstream>
#include <string>

namespace convoy::detail {

[[noreturn]] void check_failed(const char* condition, const char* file, int line,
                               const std::string& operands);

template <class... Operands>
std::string join(const Operands&... operands) {
  std::ostringstream out;
  (void)(out << ... << operands);
  return out.str();
}

}  // namespace convoy::detail

#define CONVOY_CHECK(condition, ...)                                                                       \
  do {                                                                                                     \
    if (!(condition)) [[unlikely]]                                                                         \
      ::convoy::detail::check_failed(#condition, __FILE__, __LINE__, ::convoy::detail::join(__VA_ARGS__)); \
  } while (false)
