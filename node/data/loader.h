// Loader: fills batches ahead of their use, on a thread of its own.
//
//   Loader loader(dataset, seed, {.depth = 4});
//   const auto first = loader.request(lease1.positions);    // as soon as a lease is there
//   const auto second = loader.request(lease2.positions);
//   auto batch = loader.take(first);                        // when it is computed; the next one is being
//   filled loader.recycle(std::move(*batch));                      // its memory is used again
//
// Batches are filled in the order of their requests, at most `depth` ahead of take(). Owns its thread: the
// destructor ends it and waits for it. All members may be called from any thread; take() blocks, so who owns
// sockets or answers heartbeats leaves it to the executor.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "messages/base/interval_set.h"
#include "node/data/dataset.h"

namespace convoy::data {

struct LoaderOptions {
  std::size_t depth = 4;  // filled batches that wait to be taken, at least 1
};

class Loader {
 public:
  // Names a request; later requests have higher numbers.
  enum class Ticket : std::uint64_t {};

  Loader(std::shared_ptr<const Dataset> dataset, std::uint64_t seed, LoaderOptions options = {});
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // Never blocks. Training samples at these positions, or test samples [first, last).
  Ticket request(IntervalSet positions);
  Ticket request_test(std::int64_t first, std::int64_t last);

  // Waits until the batch of `ticket` is filled and hands it over. Requests before it are dropped: whoever
  // asks for a later one no longer wants them. Nothing when the request was taken or dropped already, or
  // stop() was called.
  std::optional<SampleBatch> take(Ticket ticket);

  // Drops every request made so far: their leases ended.
  void drop_all();

  // Hands memory back, to be filled again.
  void recycle(SampleBatch batch);

  // Wakes who waits in take() with nothing, now and for ever. The thread ends after the batch at hand.
  void stop();

 private:
  struct Request {
    Ticket ticket{};
    bool test = false;
    IntervalSet positions;             // of the stream, or indices of the test set
    std::optional<SampleBatch> batch;  // once filled
  };

  Ticket enqueue(bool test, IntervalSet positions);
  void run();
  Request* next_to_fill();                 // REQUIRES: mutex_ held
  Request* find(Ticket ticket);            // REQUIRES: mutex_ held
  void recycle_locked(SampleBatch batch);  // REQUIRES: mutex_ held

  const std::shared_ptr<const Dataset> dataset_;
  const std::uint64_t seed_;
  const LoaderOptions options_;

  std::mutex mutex_;
  std::condition_variable work_;    // for the thread: something to fill, room to put it, or the end
  std::condition_variable filled_;  // for take()
  std::deque<Request> requests_;    // in order; filled ones first
  std::vector<SampleBatch> spare_;
  std::uint64_t next_ticket_ = 0;
  bool stopped_ = false;
  std::thread thread_;  // last, so that it starts when the rest is there
};

}  // namespace convoy::data
