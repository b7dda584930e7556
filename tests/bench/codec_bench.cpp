// What it costs to encode and decode a message of each kind, one thread, warm caches. Prints a line a kind.
// Usage: codec_bench [SIZE], SIZE = bound on list and text lengths (default 3).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "messages/codec/codec.h"
#include "tests/unit/codec/random_messages.h"

namespace {

using namespace convoy;

constexpr int kRounds = 2000;
constexpr int kRepeats = 7;

// Nanoseconds a call: the least of some repeats, since whatever else runs here only adds.
template <class Call>
double measure(std::size_t calls, Call call) {
  double best = 1e300;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < calls; ++i) call(i);
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
    best = std::min(best, spent.count() / static_cast<double>(calls));
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t size = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 3;
  std::printf("%-16s %8s %10s %10s\n", "message", "header B", "encode ns", "decode ns");
  for (std::size_t kind = 0; kind < testing::kMessageKinds; ++kind) {
    testing::RandomMessages random(kind);
    std::vector<Envelope> envelopes;
    std::vector<WireMessage> wires;
    std::size_t bytes = 0;
    for (int i = 0; i < 16; ++i) {
      envelopes.push_back(random.envelope(kind, size));
      wires.push_back(encode(envelopes.back(), RunId(1)));
      bytes += wires.back().header.size();
    }
    std::size_t sink = 0;
    const double encode_ns =
        measure(kRounds, [&](std::size_t i) { sink += encode(envelopes[i % 16], RunId(1)).header.size(); });
    const double decode_ns = measure(kRounds, [&](std::size_t i) {
      const auto decoded = decode(wires[i % 16]);
      if (!decoded.ok()) std::abort();
      sink += decoded->envelope.message.index();
    });
    std::printf("%-16s %8zu %10.0f %10.0f\n", name_of(envelopes[0].message), bytes / 16, encode_ns,
                decode_ns);
    if (sink == 0) return 1;
  }

  testing::RandomMessages random(1);
  const Frame whole = encode(random.envelope(17, size), RunId(1)).header;
  const WireMessage cut{.header = Frame::copy_of(whole.bytes().first(whole.size() - 8)), .tensors = {}};
  std::size_t refused = 0;
  const double refuse_ns = measure(kRounds, [&](std::size_t) { refused += decode(cut).ok() ? 0 : 1; });
  if (refused != std::size_t{kRounds} * kRepeats) return 1;
  std::printf("%-16s %8zu %10s %10.0f\n", "(cut short)", cut.header.size(), "-", refuse_ns);
  return 0;
}
