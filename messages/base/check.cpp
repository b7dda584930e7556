#include "messages/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace convoy::detail {

void check_failed(const char* condition, const char* file, int line, const std::string& operands) {
  std::fprintf(stderr, "%s:%d: check failed: %s%s%s\n", file, line, condition, operands.empty() ? "" : ": ",
               operands.c_str());
  std::fflush(stderr);
  std::abort();
}

}  // namespace convoy::detail
