#include "kernels/cpu/openmp.h"
#include "node/cli/commands.h"
#include "node/transport/transport.h"

int main(int argc, char** argv) {
  convoy::ensure_passive_openmp(argv);
  convoy::keep_memory_for_messages();
  return convoy::cli::run(argc, argv);
}
