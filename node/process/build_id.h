// Which build this is: version and source state, the same text in --version and in the first message between
// nodes.
#pragma once

#include <string>

namespace convoy {

std::string build_id();

}  // namespace convoy
