// The reference back end: naive loops, one thread, in fp32 ("reference") and fp64 ("reference64"). What the
// others are checked against; always built. Compiling costs microseconds. Takes any number of samples up to
// the batch at proportional cost.
#pragma once

#include <memory>

#include "kernels/graph/backend.h"

namespace convoy {

std::unique_ptr<Backend> make_reference_backend(Scalar scalar);

}  // namespace convoy
