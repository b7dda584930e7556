// Makes OpenMP threads wait passively, so that several W-slaves can share a machine. GNU's OpenMP reads its
// settings from the environment before main(), so a process that was started without them has to start itself
// again.
#pragma once

namespace convoy {

// Call first in main(), before any thread exists. When OMP_WAIT_POLICY is not set, sets it to "passive" and
// executes the same program again with the same arguments; returns when there is nothing to do or that fails
// (then OpenMP spins, which is slow but not wrong).
void ensure_passive_openmp(char** argv);

}  // namespace convoy
