// Result: a value or an error, and an abort, with its operands printed, for who mistakes one for the other.
#include "messages/base/result.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <memory>

namespace convoy {
namespace {

struct Death {
  int signal = 0;
  std::string words;  // what it wrote on stderr
};

// Runs `body` in a child process.
template <class Body>
Death death_of(Body body) {
  std::array<int, 2> ends{};
  BOOST_REQUIRE(pipe(ends.data()) == 0);
  const pid_t child = fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    std::signal(SIGABRT, SIG_DFL);  // Boost.Test's handler would turn it into an error of the test
    body();
    _exit(0);
  }
  close(ends[1]);
  Death death;
  std::array<char, 256> buffer{};
  for (ssize_t n = read(ends[0], buffer.data(), buffer.size()); n > 0;
       n = read(ends[0], buffer.data(), buffer.size())) {
    death.words.append(buffer.data(), static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  BOOST_REQUIRE(waitpid(child, &status, 0) == child);
  if (WIFSIGNALED(status)) death.signal = WTERMSIG(status);
  return death;
}

Result<int> half(int n) {
  if (n % 2 != 0) return Error{ErrorCode::kUsage, std::to_string(n) + " is odd"};
  return n / 2;
}

BOOST_AUTO_TEST_CASE(a_result_holds_a_value_or_an_error) {
  BOOST_TEST(half(6).ok());
  BOOST_TEST(*half(6) == 3);
  BOOST_TEST(!half(7));
  BOOST_TEST(half(7).error().message == "7 is odd");
  BOOST_TEST((half(7).error().code == ErrorCode::kUsage));
  BOOST_TEST(Result<void>().ok());
  BOOST_TEST(Result<void>(Error{ErrorCode::kIo, "no"}).error().message == "no");
}

BOOST_AUTO_TEST_CASE(values_that_cannot_be_copied_are_moved_out) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(5));
  const std::unique_ptr<int> value = *std::move(result);
  BOOST_TEST(*value == 5);
}

BOOST_AUTO_TEST_CASE(the_value_of_an_error_ends_the_process_and_says_which) {
  const Death death = death_of([] { (void)half(7).value(); });
  BOOST_TEST(death.signal == SIGABRT);
  BOOST_TEST(death.words.find("7 is odd") != std::string::npos, death.words);
}

BOOST_AUTO_TEST_CASE(the_error_of_a_value_ends_the_process) {
  BOOST_TEST(death_of([] { (void)half(6).error(); }).signal == SIGABRT);
  BOOST_TEST(death_of([] { (void)Result<void>().error(); }).signal == SIGABRT);
}

BOOST_AUTO_TEST_CASE(a_failed_check_prints_condition_operands_and_place) {
  const Death death = death_of([] {
    const int three = 3;
    CONVOY_CHECK(three == 4, "three is ", three);
  });
  BOOST_TEST(death.signal == SIGABRT);
  BOOST_TEST(death.words.find("result_test.cpp:") != std::string::npos, death.words);
  BOOST_TEST(death.words.find("check failed: three == 4: three is 3") != std::string::npos, death.words);
  BOOST_TEST(death_of([] { CONVOY_CHECK(true); }).signal == 0);
}

}  // namespace
}  // namespace convoy
