// The loader: order, dropping, memory, and its end in every state. Run under ThreadSanitizer too.
#include "node/data/loader.h"

#include <boost/test/unit_test.hpp>
#include <future>
#include <thread>

#include "messages/base/sampling.h"

namespace convoy::data {
namespace {

constexpr std::uint64_t kSeed = 3;
constexpr std::int64_t kTrain = 100;

std::shared_ptr<const Dataset> made_up() {
  Split train;
  for (int i = 0; i < kTrain; ++i) {
    train.pixels.push_back(static_cast<std::uint8_t>(i));
    train.labels.push_back(static_cast<std::uint8_t>(i));
  }
  Split test{{200, 201, 202}, {7, 8, 9}};
  return std::make_shared<const Dataset>("made up", Shape{1, 1, 1}, std::move(train), std::move(test), 0, 1);
}

IntervalSet positions(std::int64_t first, std::int64_t count) {
  return IntervalSet{{first, first + count}};
}

BOOST_AUTO_TEST_CASE(batches_come_as_asked_for) {
  Loader loader(made_up(), kSeed, {.depth = 2});
  std::vector<Loader::Ticket> tickets;
  for (int i = 0; i < 50; ++i) tickets.push_back(loader.request(positions(10 * i, i)));
  for (int i = 0; i < 50; ++i) {
    auto batch = loader.take(tickets[static_cast<std::size_t>(i)]);
    BOOST_REQUIRE(batch.has_value());
    BOOST_TEST(batch->size() == i);
    BOOST_TEST(batch->digest == positions_digest(positions(10 * i, i), kTrain, kSeed));
    loader.recycle(std::move(*batch));
  }
}

BOOST_AUTO_TEST_CASE(test_samples_come_in_turn_with_training_samples) {
  Loader loader(made_up(), kSeed, {.depth = 1});
  const auto first = loader.request(positions(0, 5));
  const auto second = loader.request_test(1, 3);
  const auto third = loader.request_test(0, 0);
  BOOST_TEST(loader.take(first)->size() == 5);
  BOOST_TEST(loader.take(second)->labels == std::vector<std::int32_t>({8, 9}),
             boost::test_tools::per_element());
  BOOST_TEST(loader.take(third)->size() == 0);
}

BOOST_AUTO_TEST_CASE(taking_a_later_batch_drops_the_earlier_ones) {
  Loader loader(made_up(), kSeed, {.depth = 1});  // the later one would never find room otherwise
  const auto first = loader.request(positions(0, 5));
  const auto second = loader.request(positions(5, 5));
  const auto third = loader.request(positions(10, 6));
  BOOST_TEST(loader.take(third)->size() == 6);
  BOOST_TEST(!loader.take(first).has_value());
  BOOST_TEST(!loader.take(second).has_value());
  BOOST_TEST(!loader.take(third).has_value());
  BOOST_TEST(loader.take(loader.request(positions(0, 2)))->size() == 2);
}

BOOST_AUTO_TEST_CASE(dropped_requests_give_nothing_and_later_ones_are_unharmed) {
  Loader loader(made_up(), kSeed, {.depth = 3});
  const auto first = loader.request(positions(0, 5));
  const auto second = loader.request(positions(5, 5));
  loader.drop_all();
  const auto third = loader.request(positions(10, 6));
  BOOST_TEST(!loader.take(first).has_value());
  BOOST_TEST(!loader.take(second).has_value());
  BOOST_TEST(loader.take(third)->size() == 6);
}

BOOST_AUTO_TEST_CASE(recycled_memory_is_filled_again) {
  Loader loader(made_up(), kSeed, {.depth = 1});
  auto batch = loader.take(loader.request(positions(0, 64)));
  BOOST_REQUIRE(batch.has_value());
  const float* memory = batch->images.data();
  loader.recycle(std::move(*batch));
  batch = loader.take(loader.request(positions(64, 64)));
  BOOST_REQUIRE(batch.has_value());
  BOOST_TEST(batch->images.data() == memory);
}

// A batch so large that take() is nearly always waiting for it when `end` is called. What is tested holds
// always: take() returns, with the whole batch or with nothing.
template <class End>
void end_while_taking(Loader& loader, End end) {
  constexpr std::int64_t kMany = 2'000'000;
  const auto ticket = loader.request(positions(0, kMany));
  std::promise<void> about_to_take;
  std::thread taker([&] {
    about_to_take.set_value();
    const auto batch = loader.take(ticket);
    BOOST_TEST((!batch || batch->size() == kMany));
  });
  about_to_take.get_future().wait();
  end();
  taker.join();
}

BOOST_AUTO_TEST_CASE(stop_wakes_whoever_waits) {
  Loader loader(made_up(), kSeed, {.depth = 1});
  end_while_taking(loader, [&] { loader.stop(); });
  BOOST_TEST(!loader.take(loader.request(positions(0, 1))).has_value());
}

BOOST_AUTO_TEST_CASE(drop_all_wakes_whoever_waits) {
  Loader loader(made_up(), kSeed, {.depth = 1});
  end_while_taking(loader, [&] { loader.drop_all(); });
  BOOST_TEST(loader.take(loader.request(positions(0, 1)))->size() == 1);
}

BOOST_AUTO_TEST_CASE(a_loader_ends_with_requests_open_filled_or_none) {
  { const Loader idle(made_up(), kSeed); }
  {
    Loader busy(made_up(), kSeed, {.depth = 2});
    for (int i = 0; i < 100; ++i) (void)busy.request(positions(i, 50));
  }
  Loader filled(made_up(), kSeed, {.depth = 2});
  const auto first = filled.request(positions(0, 1));
  (void)filled.request(positions(1, 1));
  BOOST_TEST(filled.take(first).has_value());
}

BOOST_AUTO_TEST_CASE(several_threads_may_ask_take_and_drop_at_once) {
  Loader loader(made_up(), kSeed, {.depth = 2});
  std::vector<std::thread> threads;
  std::atomic<int> taken{0};
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i) {
        const std::int64_t count = 1 + (i + t) % 7;
        auto batch = loader.take(loader.request(positions(i, count)));
        if (!batch) continue;  // another thread took a later one, or dropped all
        if (batch->size() == count) ++taken;
        loader.recycle(std::move(*batch));
        if (i % 50 == t) loader.drop_all();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  BOOST_TEST(taken > 0);
  BOOST_TEST(loader.take(loader.request(positions(0, 4)))->size() == 4);
}

}  // namespace
}  // namespace convoy::data
