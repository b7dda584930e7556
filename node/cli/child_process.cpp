#include "node/cli/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace convoy::cli {

pid_t spawn(const std::vector<std::string>& arguments, int keep_fd, int last_word) {
  const pid_t parent = getpid();
  // Other threads of ours may hold locks, malloc's too: after fork() nothing is allocated.
  std::string name = "convoy";
  std::vector<std::string> copies = arguments;
  std::vector<char*> argv{name.data()};
  for (std::string& a : copies) argv.push_back(a.data());
  argv.push_back(nullptr);
  const pid_t pid = fork();
  if (pid != 0) return pid;
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, last_word);
  if (getppid() != parent) _exit(1);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  fcntl(keep_fd, F_SETFD, 0);
  execv("/proc/self/exe", argv.data());
  _exit(127);
}

Result<int> file_in_memory(const std::string& name, const std::string& text) {
  const int fd = memfd_create(name.c_str(), MFD_CLOEXEC);
  const bool ok = fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (ok) return fd;
  const Error error{ErrorCode::kIo, "the node file of " + name + " cannot be made: " + std::strerror(errno)};
  if (fd >= 0) close(fd);
  return error;
}

std::string how_it_ended(int status) {
  if (!WIFSIGNALED(status)) return "ended with status " + std::to_string(WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  return "was killed by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
}

void print_last_line(const std::string& log) {
  std::ifstream in(log);
  std::string line;
  std::string last;
  while (std::getline(in, line)) last = line;
  if (!last.empty()) std::fprintf(stderr, "convoy:   %s\n", last.c_str());
}

config::Address local_address_of(const std::string& line) {
  const std::size_t colon = line.rfind(':');
  config::Address address;
  address.host = line.substr(0, colon);
  if (address.host.size() > 2 && address.host.front() == '[') {
    address.host = address.host.substr(1, address.host.size() - 2);
  }
  if (address.host == "0.0.0.0") address.host = "127.0.0.1";
  if (address.host == "::") address.host = "::1";
  address.port = static_cast<std::uint16_t>(std::stoi(line.substr(colon + 1)));
  return address;
}

}  // namespace convoy::cli
