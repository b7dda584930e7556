#include "kernels/cpu/openmp.h"
#include "node/cli/commands.h"

int main(int argc, char** argv) {
  convoy::ensure_passive_openmp(argv);
  return convoy::cli::run(argc, argv);
}
