#include "tests/system/network.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace convoy::test {
namespace {

// A new network namespace, which lives as long as its descriptor; -1 when there can be none.
int new_namespace() {
  int ready[2];
  BOOST_REQUIRE(pipe2(ready, O_CLOEXEC) == 0);
  int hold[2];
  BOOST_REQUIRE(pipe2(hold, O_CLOEXEC) == 0);
  const pid_t child = fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    close(hold[1]);
    const char ok = unshare(CLONE_NEWNET) == 0 ? 1 : 0;
    (void)!write(ready[1], &ok, 1);
    char end = 0;
    (void)!read(hold[0], &end, 1);  // until the other end is closed
    _exit(0);
  }
  close(ready[1]);
  close(hold[0]);
  char ok = 0;
  (void)!read(ready[0], &ok, 1);
  const int fd =
      ok == 1 ? open(("/proc/" + std::to_string(child) + "/ns/net").c_str(), O_RDONLY | O_CLOEXEC) : -1;
  close(ready[0]);
  close(hold[1]);
  waitpid(child, nullptr, 0);
  return fd;
}

// Runs `ip ARGUMENTS` in a namespace; false when it fails.
bool ip(int machine, const std::string& arguments) {
  std::istringstream in("ip " + arguments);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    if (setns(machine, CLONE_NEWNET) == 0) execvp("ip", argv.data());
    _exit(127);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::optional<std::string> Network::why_not() {
  if (geteuid() != 0) return "network namespaces need root";
  const int fd = new_namespace();
  if (fd < 0) return "unshare(CLONE_NEWNET): " + std::string(std::strerror(errno));
  const bool has_ip = ip(fd, "link set lo up");
  close(fd);
  if (!has_ip) return "`ip` (Debian: iproute2) cannot be run";
  return std::nullopt;
}

Network::Network(const std::string& folder, int machines, Family family) : hosts_(folder + "/hosts") {
  for (int i = 0; i < machines; ++i) machines_.push_back(new_namespace());
  std::ofstream hosts(hosts_);
  hosts << "127.0.0.1 localhost\n::1 localhost\n";
  const int first = machines_[0];
  BOOST_REQUIRE(ip(first, "link add bridge type bridge"));
  BOOST_REQUIRE(ip(first, "link set bridge up"));
  for (int i = 0; i < machines; ++i) {
    const int machine = machines_[static_cast<std::size_t>(i)];
    // No waiting for an address that another might have.
    const std::string set = " dev eth0 nodad";
    const std::string port = "port" + std::to_string(i);
    const std::string there = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(machine);
    BOOST_REQUIRE(ip(machine, "link set lo up"));
    BOOST_REQUIRE(ip(machine, "link add nowhere type bridge"));
    BOOST_REQUIRE(ip(machine, "link set nowhere up"));
    BOOST_REQUIRE(ip(first, "link add " + port + " type veth peer name eth0 netns " + there));
    BOOST_REQUIRE(ip(first, "link set " + port + " master bridge up"));
    BOOST_REQUIRE(ip(machine, "link set eth0 up"));
    if (family == Family::kBoth) {
      BOOST_REQUIRE(ip(machine, "address add " + address_of_nowhere() + "/24 dev nowhere"));
      BOOST_REQUIRE(ip(machine, "address add " + address(i) + "/24 dev eth0"));
      hosts << address(i) << " host" << i << "\n";
    }
    BOOST_REQUIRE(ip(machine, "address add " + address6(i) + "/64" + set));
    BOOST_REQUIRE(ip(machine, "address add " + link_local(i) + "/64" + set));
    hosts << address6(i) << " six" << i << "\n";
  }
}

Network::~Network() {
  for (const int machine : machines_) close(machine);
}

boost::test_tools::assertion_result has_network(boost::unit_test::test_unit_id) {
  const std::optional<std::string> reason = Network::why_not();
  boost::test_tools::assertion_result result(!reason || geteuid() == 0);
  if (reason) result.message() << "it needs network namespaces: " << *reason;
  return result;
}

}  // namespace convoy::test
