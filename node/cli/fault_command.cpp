// fault.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <random>

#include "config/run_options.h"
#include "node/cli/commands.h"
#include "node/cli/master_line.h"

namespace convoy::cli {
namespace {

struct FaultFlags {
  std::string where;
  std::string kind;
  std::string target;
  Inject fault;
};

// "w-slave[1]", as run files say it, is what `convoy train` calls w-slave-1.
std::string name_of(std::string target) {
  if (!target.ends_with(']') || target.find('[') == std::string::npos) return target;
  target.pop_back();
  std::replace(target.begin(), target.end(), '[', '-');
  return target;
}

Result<Inject> fault_of(const FaultFlags& flags) {
  Inject fault = flags.fault;
  const auto kind = config::parse_fault_kind(flags.kind);
  if (!kind) {
    std::string all;
    for (int k = 0; k <= static_cast<int>(FaultKind::kDiskFull); ++k)
      all += std::string(k == 0 ? "" : ", ") + config::to_string(static_cast<FaultKind>(k));
    return Error{ErrorCode::kUsage, "`" + flags.kind + "` is no kind of fault; there are " + all};
  }
  fault.kind = *kind;
  const std::size_t arrow = flags.target.find("->");
  fault.target = name_of(flags.target.substr(0, arrow));
  if (arrow != std::string::npos) {
    fault.to = name_of(flags.target.substr(arrow + 2));
    if (!of_links(*kind))
      return Error{ErrorCode::kUsage, flags.kind + " happens to a process, not to a link"};
  }
  if (*kind == FaultKind::kSlow && fault.factor <= 1)
    return Error{ErrorCode::kUsage, "slow needs --factor, above 1"};
  if (*kind == FaultKind::kDelay && fault.delay_ms <= 0)
    return Error{ErrorCode::kUsage, "delay needs --delay-ms, above 0"};
  std::random_device random;
  fault.id = std::uint64_t{random()} << 32 | random();
  return fault;
}

int inject(const FaultFlags& flags) {
  Result<Inject> fault = fault_of(flags);
  if (!fault) return report(fault.error());
  Result<MasterPlace> place = find_master(flags.where);
  if (!place) return report(place.error());
  Result<std::unique_ptr<MasterLine>> line = MasterLine::open(*place);
  if (!line) return report(line.error());
  Result<Message> answer = (*line)->ask(*fault);
  if (!answer) return report(answer.error());
  const auto* injected = std::get_if<Injected>(&*answer);
  if (injected == nullptr)
    return report({ErrorCode::kIo, "The Master at " + place->address + " says something else."});
  std::printf("injected: %s\n", injected->text.c_str());
  return 0;
}

}  // namespace

void add_fault(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("fault", "let something go wrong in a running cluster, on purpose");
  auto flags = std::make_shared<FaultFlags>();
  Inject& fault = flags->fault;
  command->add_option("WHERE", flags->where, "host:port, a node file, or a run's folder")->required();
  command
      ->add_option("KIND", flags->kind,
                   "kill, freeze, slow, leave; partition, drop, delay, duplicate, reorder, corrupt")
      ->required();
  command
      ->add_option("TARGET", flags->target,
                   "a node's name, master, any-w-slave, any-p-slave; for messages also A->B, those of A to B")
      ->required();
  command->add_option("--for-s", fault.for_s, "how long; default: to the end")->check(CLI::NonNegativeNumber);
  command->add_option("--factor", fault.factor, "of slow")->check(CLI::Range(1.0, 1e6));
  command->add_option("--probability", fault.probability, "of each message")->check(CLI::Range(0.0, 1.0));
  command->add_option("--delay-ms", fault.delay_ms, "of delay; of reorder, at most")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--seed", fault.seed, "decides what is random");
  command->callback([flags, &action] { action = [flags] { return inject(*flags); }; });
}

}  // namespace convoy::cli
