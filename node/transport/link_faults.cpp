#include "node/transport/link_faults.h"

#include <algorithm>
#include <utility>

#include "messages/base/sampling.h"

namespace convoy {
namespace {

// What is reordered stays behind what follows within so long, unless the fault says how long.
constexpr Duration kReorderWithin = 50ms;

}  // namespace

WireFrames corrupted(const WireFrames& frames, std::uint64_t word) {
  WireFrames damaged = frames;
  const std::span<const std::byte> header = frames.front().bytes();
  if (word % 2 == 0) {
    damaged.front() =
        Frame::copy_of(header.first(1 + word / 2 % std::max<std::size_t>(header.size() - 1, 1)));
    if (damaged.front().size() < header.size()) return damaged;
  }
  std::vector<std::byte> bytes(header.begin(), header.end());
  for (std::size_t i = 0; i < std::min<std::size_t>(bytes.size(), 4); ++i) bytes[i] |= std::byte{0xf0};
  damaged.front() = Frame::of(std::move(bytes));
  return damaged;
}

void LinkFaults::add(const LinkFault& fault, SteadyTime now) {
  const SteadyTime until = fault.lasts > Duration{} ? now + fault.lasts : SteadyTime::max();
  rules_.push_back({fault, until, next_number_++, 0});
}

bool LinkFaults::concerns(const Rule& rule, const PassingMessage& message) {
  if (!rule.fault.peer) return true;
  return message.way == Way::kOut && message.peer == *rule.fault.peer;
}

std::uint64_t LinkFaults::draw(Rule& rule) const {
  return random_word(rule.fault.seed, rule.number, rule.judged++);
}

std::vector<PassingMessage> LinkFaults::pass(PassingMessage message, SteadyTime now) {
  std::erase_if(rules_, [&](const Rule& rule) { return rule.until <= now; });
  Duration hold{};
  int copies = 1;
  for (Rule& rule : rules_) {
    if (!concerns(rule, message)) continue;
    const std::uint64_t word = draw(rule);
    if (to_unit(word) >= rule.fault.probability) continue;
    switch (rule.fault.kind) {
      case FaultKind::kPartition:
      case FaultKind::kDrop:
        return {};
      case FaultKind::kDelay:
        hold += rule.fault.delay;
        break;
      case FaultKind::kReorder: {
        const Duration most = rule.fault.delay > Duration{} ? rule.fault.delay : kReorderWithin;
        hold += std::chrono::duration_cast<Duration>(most * to_unit(mix64(word)));
        break;
      }
      case FaultKind::kDuplicate:
        ++copies;
        break;
      case FaultKind::kCorrupt:
        message.frames = corrupted(message.frames, mix64(word));
        break;
      default:
        break;
    }
  }
  std::vector<PassingMessage> on(static_cast<std::size_t>(copies), message);
  if (hold == Duration{}) return on;
  for (PassingMessage& held : on) held_.emplace(now + hold, std::move(held));
  return {};
}

std::vector<PassingMessage> LinkFaults::due(SteadyTime now) {
  std::erase_if(rules_, [&](const Rule& rule) { return rule.until <= now; });
  std::vector<PassingMessage> out;
  while (!held_.empty() && held_.begin()->first <= now) {
    out.push_back(std::move(held_.begin()->second));
    held_.erase(held_.begin());
  }
  return out;
}

SteadyTime LinkFaults::next() const {
  SteadyTime next = held_.empty() ? SteadyTime::max() : held_.begin()->first;
  for (const Rule& rule : rules_) next = std::min(next, rule.until);
  return next;
}

}  // namespace convoy
