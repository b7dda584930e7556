#include "node/process/ending.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>

#include "messages/base/check.h"

namespace convoy {
namespace {

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  return set;
}

}  // namespace

void Ending::set(Outcome outcome) {
  const std::lock_guard lock(mutex_);
  if (outcome_ || (outcome.status == 0 && --missing_ > 0)) return;
  outcome_ = std::move(outcome);
  came_.notify_all();
}

Ending::Outcome Ending::wait() {
  std::unique_lock lock(mutex_);
  came_.wait(lock, [&] { return outcome_.has_value(); });
  return *outcome_;
}

std::optional<Ending::Outcome> Ending::wait_for(Duration patience) {
  std::unique_lock lock(mutex_);
  came_.wait_for(lock, patience, [&] { return outcome_.has_value(); });
  return outcome_;
}

void block_signals() {
  const sigset_t set = watched_signals();
  // A shell starts background jobs with SIGINT ignored, and what is ignored never gets to a signalfd.
  for (const int s : {SIGINT, SIGTERM, SIGHUP}) (void)std::signal(s, SIG_DFL);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  // A closed pipe or socket is an error code, not an end.
  (void)std::signal(SIGPIPE, SIG_IGN);
}

void end_within(Duration patience, int status) {
  std::thread([patience, status] {
    std::this_thread::sleep_for(patience);
    _exit(status);
  }).detach();
}

SignalWatcher::SignalWatcher(std::function<void()> asked) {
  const sigset_t set = watched_signals();
  signals_ = signalfd(-1, &set, SFD_CLOEXEC);
  stop_ = eventfd(0, EFD_CLOEXEC);
  CONVOY_CHECK(signals_ >= 0 && stop_ >= 0, "no descriptors for signals");
  thread_ = std::thread([this, call = std::move(asked)] {
    int asked_times = 0;
    for (;;) {
      std::array<pollfd, 2> fds{pollfd{signals_, POLLIN, 0}, pollfd{stop_, POLLIN, 0}};
      if (poll(fds.data(), fds.size(), -1) < 0) continue;
      if (fds[1].revents != 0) return;
      signalfd_siginfo info{};
      if (read(signals_, &info, sizeof info) != sizeof info) continue;
      if (info.ssi_signo == SIGHUP) continue;
      if (++asked_times > 1) _exit(130);
      call();
    }
  });
}

SignalWatcher::~SignalWatcher() {
  const std::uint64_t one = 1;
  (void)!write(stop_, &one, sizeof one);
  thread_.join();
  close(signals_);
  close(stop_);
}

}  // namespace convoy
