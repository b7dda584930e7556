// bsp, role and arithmetic together: the parameters have the same bits for every order of arrival and for
// every number of P-slaves.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "tests/unit/actors/bsp_server.h"
#include "tests/unit/run/support.h"

namespace convoy {
namespace {

constexpr std::uint32_t kMembers = 5;
constexpr std::int64_t kClocks = 4;

RunSetup small_run() {
  return test::setup_of(
      "model.name = \"tiny-cnn\"\ndata = { format = \"idx\", dir = \"none\" }\nsync.mode = \"bsp\"\n"
      "train = { lr = 0.1, momentum = 0.9, weight_decay = 1e-3, schedule = \"linear\" }\n"
      "eval.average = 0.9\n");
}

// A gradient whose sum over members depends on the order to the last bits: sizes from 1e-3 to 1e3.
std::vector<float> gradient_of(const RunSetup& setup, std::uint32_t member, std::int64_t clock) {
  std::mt19937_64 random(static_cast<std::uint64_t>(clock) * kMembers + member);
  std::uniform_real_distribution<float> exponent(-3, 3);
  std::vector<float> gradient(static_cast<std::size_t>(setup.chunks.parameter_count));
  for (float& g : gradient) g = std::pow(10.0F, exponent(random)) * (random() % 2 == 0 ? 1.0F : -1.0F);
  return gradient;
}

std::vector<ChunkData> in_chunks(const RunSetup& setup, const std::vector<float>& flat,
                                 const std::vector<ChunkId>& chunks) {
  std::vector<ChunkData> data;
  for (const ChunkId id : chunks) {
    const Chunk& c = setup.chunks[id];
    data.push_back({id, Frame::copy_of(to_bytes(std::span(flat).subspan(
                            static_cast<std::size_t>(c.offset), static_cast<std::size_t>(c.count))))});
  }
  return data;
}

SyncOptions sync_of(const RunSetup& setup) {
  return protocol_options(setup.options, kClocks * kMembers);
}

struct Trained {
  std::vector<std::byte> parameters;
  std::vector<std::byte> average;
  bool operator==(const Trained&) const = default;
};

Trained trained(const RunSetup& setup, std::size_t servers, std::mt19937_64& random) {
  Trained result;
  const std::vector<std::vector<ChunkId>> shards = test::shards_of(setup, servers);
  for (std::uint32_t s = 0; s < servers; ++s) {
    test::BspServer role(kMembers, shards, s);
    ServerExecutor executor(setup, sync_of(setup));
    executor.initialise({shards[s]});
    std::vector<ChunkData> held;  // a reply that is still on its way
    for (std::int64_t clock = 0; clock < kClocks; ++clock) {
      std::vector<std::vector<Message>> messages;
      for (std::uint32_t m = 0; m < kMembers; ++m) {
        messages.push_back(test::clock_messages(m, kMembers, clock, ShardId(s),
                                                in_chunks(setup, gradient_of(setup, m, clock), shards[s]),
                                                random));
      }
      test::feed(role, std::move(messages), random);
      for (const Apply& apply : role.take_applies()) executor.apply(apply);
      if (random() % 2 == 0) held = test::pulled(executor, shards[s]);
    }
    test::place(setup, test::pulled(executor, shards[s]), result.parameters);
    test::place(setup, test::pictured(executor, shards[s]), result.average);
  }
  return result;
}

}  // namespace

BOOST_AUTO_TEST_CASE(in_bsp_parameters_have_the_same_bits_for_every_order_of_arrival_and_number_of_p_slaves) {
  const RunSetup setup = small_run();
  std::mt19937_64 first(0);
  const Trained expected = trained(setup, 1, first);
  BOOST_TEST((expected.parameters != expected.average));
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    for (const std::size_t servers : {1, 2, 3}) {
      BOOST_TEST_CONTEXT("seed " << seed << ", " << servers << " P-slaves") {
        std::mt19937_64 random(seed);
        BOOST_TEST((trained(setup, servers, random) == expected));
      }
    }
  }
}

// What the test above is worth: these gradients, summed in another order, give other bits.
BOOST_AUTO_TEST_CASE(another_order_of_members_would_give_other_bits) {
  const RunSetup setup = small_run();
  const std::vector<ChunkId> chunks = test::shards_of(setup, 1).front();
  std::vector<std::vector<std::byte>> results;
  for (const bool backwards : {false, true}) {
    Apply apply;
    apply.samples = kMembers;
    for (std::uint32_t m = 0; m < kMembers; ++m) {
      apply.contributions.push_back({{MemberId(m), Incarnation(1)},
                                     1,
                                     Encoding::kF32,
                                     in_chunks(setup, gradient_of(setup, m, 0), chunks)});
    }
    if (backwards) std::reverse(apply.contributions.begin(), apply.contributions.end());
    ServerExecutor executor(setup, sync_of(setup));
    executor.initialise({chunks});
    executor.apply(apply);
    test::place(setup, test::pulled(executor, chunks), results.emplace_back());
  }
  BOOST_TEST((results[0] != results[1]));
}

}  // namespace convoy
