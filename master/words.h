// Words for people that the Master's notes and status share.
//
// Pure; any thread.
#pragma once

#include <cstddef>
#include <string>

namespace convoy {

// "1 member", "3 members".
inline std::string counted(std::size_t number, const std::string& what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

}  // namespace convoy
