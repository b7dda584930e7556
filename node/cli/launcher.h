// The launcher behind `convoy train`: starts Master, P-slaves and W-slaves as processes of this machine,
// hands signals on, starts W-slaves again that died, and sees to it that nobody is left over.
//
// Main thread only; uses signalfd, so nothing else of the process may read SIGCHLD, SIGINT or SIGTERM.
#pragma once

#include <string>
#include <vector>

#include "config/run_file.h"

namespace convoy::cli {

// `master_arguments`: what `convoy master` is to be called with. Returns the exit status.
int launch(const config::RunFile& file, const std::vector<std::string>& master_arguments);

}  // namespace convoy::cli
