// Runs simulated scenarios drawn from seeds, with every invariant checker watching.
//
//   sim_seeds --from=1 --count=1000     fixed seeds
//   sim_seeds --fresh --count=1000      seeds counted from the clock; the base is printed
//   sim_seeds --seed=N [--trace]        one seed alone; with --trace every effect of every role
//   sim_seeds --seed=N --minimise       the same, shortened for as long as the same checker objects, as C++
//   options: --jobs=N (threads), --until-failure, --workers=N, --servers=N (upper limits of what is drawn)
//
// Prints each failing seed with the command that reruns it, then what was covered and how fast. Exit 1 when
// anything failed. An assertion that aborts prints its seed as well.
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "master/sim/checkers/checkers.h"
#include "master/sim/coverage.h"
#include "master/sim/minimise.h"

namespace convoy::sim {
namespace {

struct Arguments {
  std::uint64_t from = 1;
  std::uint64_t count = 1000;
  bool trace = false;
  bool minimise = false;
  bool until_failure = false;
  unsigned jobs = 1;
  Limits limits;
};

// Everything that roles do, without life signs and timers: the protocol talking.
class Printer : public Watcher {
 public:
  void on_effect(Time now, PeerId peer, const Effect& effect) override {
    if (std::holds_alternative<WakeAt>(effect)) return;
    if (const auto* s = std::get_if<Send>(&effect)) {
      if (std::holds_alternative<Heartbeat>(s->envelope.message) ||
          std::holds_alternative<HeartbeatReply>(s->envelope.message))
        return;
    }
    std::cout << now << " " << peer << ": " << describe(effect) << "\n";
  }
  void on_fault(Time now, const Fault& fault, std::optional<PeerId> victim) override {
    std::cout << now << " " << describe(fault);
    if (victim)
      std::cout << ": strikes " << *victim << "\n";
    else
      std::cout << ": strikes nobody\n";
  }
};

thread_local std::uint64_t current_seed = 0;

// Only what a signal handler may do.
void say_seed(int) {
  char text[64] = "FAILED assertion at seed ";
  std::size_t length = std::char_traits<char>::length(text);
  char digits[20];
  std::size_t count = 0;
  std::uint64_t rest = current_seed;
  do {
    digits[count++] = static_cast<char>('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  while (count > 0) text[length++] = digits[--count];
  text[length++] = '\n';
  [[maybe_unused]] const auto written = write(STDOUT_FILENO, text, length);
}

struct Totals {
  std::uint64_t events = 0;
  std::uint64_t views = 0;
  std::uint64_t failed = 0;
  double allowance_used = 0;  // the most by any run, ...
  std::uint64_t slowest = 0;  // ... which was this one
  Coverage coverage;

  void note_slowest(double used, std::uint64_t seed) {
    if (used <= allowance_used) return;
    allowance_used = used;
    slowest = seed;
  }
};

std::string rerun(std::uint64_t seed, const Limits& limits) {
  std::string command = "sim_seeds --seed=" + std::to_string(seed);
  const Limits usual;
  if (limits.workers != usual.workers) command += " --workers=" + std::to_string(limits.workers);
  if (limits.servers != usual.servers) command += " --servers=" + std::to_string(limits.servers);
  return command;
}

Totals run_range(const Arguments& arguments) {
  std::atomic<std::uint64_t> next{arguments.from};
  const std::uint64_t end = arguments.from + arguments.count;
  std::atomic<bool> stop{false};
  std::mutex mutex;
  Totals totals;
  const auto work = [&] {
    Totals mine;
    for (std::uint64_t seed = next++; seed < end && !stop; seed = next++) {
      current_seed = seed;
      const Scenario scenario = random_scenario(seed, arguments.limits);
      std::vector<Watcher*> also{&mine.coverage};
      const Outcome outcome = run_checked(scenario, also);
      mine.events += outcome.events;
      mine.views += outcome.view_changes;
      mine.note_slowest(outcome.allowance_used, seed);
      if (outcome.problem.empty()) continue;
      ++mine.failed;
      stop = arguments.until_failure;
      const std::scoped_lock lock(mutex);
      std::cout << "FAILED " << describe(scenario) << "\n    " << outcome.problem << " (at " << outcome.ended
                << ")\n    again: " << rerun(seed, arguments.limits) << "\n";
    }
    const std::scoped_lock lock(mutex);
    totals.events += mine.events;
    totals.views += mine.views;
    totals.failed += mine.failed;
    totals.note_slowest(mine.allowance_used, mine.slowest);
    totals.coverage.add(mine.coverage);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < arguments.jobs; ++i) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  return totals;
}

int run_one(const Arguments& arguments) {
  const Scenario scenario = random_scenario(arguments.from, arguments.limits);
  std::cout << describe(scenario) << "\n";
  Printer printer;
  std::vector<Watcher*> also;
  if (arguments.trace) also.push_back(&printer);
  const Outcome outcome = run_checked(scenario, also);
  std::cout << (outcome.problem.empty() ? "no violation" : "FAILED " + outcome.problem) << ", "
            << outcome.events << " events, hash " << outcome.hash << ", ended at " << outcome.ended << "\n";
  return outcome.problem.empty() ? 0 : 1;
}

// In a process of its own, so that an assertion that aborts is a finding like another.
std::string judged_apart(const Scenario& scenario) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(2);
    const std::string problem = run_checked(scenario).problem;
    _exit(write(ends[1], problem.data(), problem.size()) == static_cast<ssize_t>(problem.size()) ? 0 : 2);
  }
  close(ends[1]);
  std::string problem;
  char part[4096];
  for (ssize_t size = 0; (size = read(ends[0], part, sizeof part)) > 0;)
    problem.append(part, static_cast<std::size_t>(size));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? "assertion: aborts" : problem;
}

int minimise_one(const Arguments& arguments) {
  const Scenario scenario = random_scenario(arguments.from, arguments.limits);
  if (judged_apart(scenario).empty()) {
    std::cout << "no violation: nothing to minimise\n";
    return 0;
  }
  const Minimised found = minimise(scenario, judged_apart);
  std::cout << describe(found.scenario) << "\n    " << found.problem << "\n    after " << found.runs
            << " runs; as a test:\n"
            << as_code(found.scenario);
  return 1;
}

int usage(const std::string& what) {
  std::cerr
      << "sim_seeds: " << what
      << "; usage: sim_seeds [--from=N | --fresh | --seed=N [--trace | --minimise]] [--count=N] [--jobs=N] "
         "[--until-failure] "
         "[--workers=N] [--servers=N]\n";
  return 2;
}

// Of enough runs of the usual sizes: which situations they have not met, or hardly.
std::size_t report_holes(const Arguments& arguments, const Coverage& coverage) {
  constexpr std::uint64_t kEnough = 10'000;
  const Limits usual;
  if (arguments.limits.workers != usual.workers || arguments.limits.servers != usual.servers) return 0;
  if (arguments.count < kEnough || arguments.until_failure) return 0;
  const std::vector<std::string> holes = coverage.holes();
  for (const std::string& hole : holes) std::cout << "FAILED coverage: " << hole << "\n";
  for (const std::string& cell : coverage.below(arguments.count / 100))
    std::cout << "met in fewer than one run in a hundred: " << cell << "\n";
  return holes.size();
}

int run(int argc, char** argv) {
  Arguments arguments;
  bool one = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const std::size_t equals = argument.find('=');
    const std::string_view name = argument.substr(0, equals);
    std::uint64_t value = 0;
    if (equals != std::string_view::npos) {
      char* rest = nullptr;
      value = std::strtoull(argument.data() + equals + 1, &rest, 10);
      if (*rest != '\0' || rest == argument.data() + equals + 1)
        return usage("no number in " + std::string(argument));
    }
    if (name == "--from") {
      arguments.from = value;
    } else if (name == "--count") {
      arguments.count = value;
    } else if (name == "--seed") {
      arguments.from = value;
      one = true;
    } else if (argument == "--fresh") {
      const auto now = std::chrono::system_clock::now().time_since_epoch();
      arguments.from =
          static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
    } else if (argument == "--until-failure") {
      arguments.until_failure = true;
    } else if (argument == "--minimise") {
      arguments.minimise = true;
    } else if (argument == "--trace") {
      arguments.trace = true;
    } else if (name == "--jobs" && value > 0) {
      arguments.jobs = static_cast<unsigned>(value);
    } else if (name == "--workers" && value > 0) {
      arguments.limits.workers = value;
    } else if (name == "--servers" && value > 0) {
      arguments.limits.servers = value;
    } else {
      return usage("unknown argument " + std::string(argument));
    }
  }
  std::signal(SIGABRT, say_seed);
  current_seed = arguments.from;
  if (arguments.minimise) return one ? minimise_one(arguments) : usage("--minimise needs --seed=N");
  if (one) return run_one(arguments);
  if (arguments.count == 0) return usage("--count=0 would check nothing");

  std::cout << "seeds " << arguments.from << " to " << arguments.from + arguments.count - 1 << std::endl;
  const auto began = std::chrono::steady_clock::now();
  const Totals totals = run_range(arguments);
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  std::cout << totals.coverage.table() << "nearest to its allowance of time: seed " << totals.slowest
            << " with " << static_cast<int>(100 * totals.allowance_used) << " %\n";
  std::cout << arguments.count << " seeds, " << totals.failed << " with a violation; mean "
            << totals.events / arguments.count << " events and "
            << static_cast<double>(totals.views) / static_cast<double>(arguments.count) << " views a run; "
            << static_cast<std::uint64_t>(static_cast<double>(totals.events) / took) << " events/s, " << took
            << " s\n";
  return totals.failed + report_holes(arguments, totals.coverage) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace convoy::sim

int main(int argc, char** argv) {
  return convoy::sim::run(argc, argv);
}
