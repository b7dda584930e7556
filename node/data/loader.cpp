#include "node/data/loader.h"

#include <algorithm>
#include <utility>

#include "messages/base/check.h"

namespace convoy::data {

Loader::Loader(std::shared_ptr<const Dataset> dataset, std::uint64_t seed, LoaderOptions options)
    : dataset_(std::move(dataset)), seed_(seed), options_(options) {
  CONVOY_CHECK(dataset_ != nullptr && options_.depth >= 1, options_.depth);
  thread_ = std::thread([this] { run(); });
}

Loader::~Loader() {
  stop();
  thread_.join();
}

Loader::Ticket Loader::request(IntervalSet positions) {
  return enqueue(false, std::move(positions));
}

Loader::Ticket Loader::request_test(std::int64_t first, std::int64_t last) {
  CONVOY_CHECK(0 <= first && first <= last && last <= dataset_->test().size(), first, " to ", last);
  return enqueue(true, IntervalSet{{first, last}});
}

Loader::Ticket Loader::enqueue(bool test, IntervalSet positions) {
  const std::lock_guard lock(mutex_);
  const auto ticket = static_cast<Ticket>(next_ticket_++);
  requests_.push_back({ticket, test, std::move(positions), std::nullopt});
  work_.notify_one();
  return ticket;
}

std::optional<SampleBatch> Loader::take(Ticket ticket) {
  std::unique_lock lock(mutex_);
  while (!requests_.empty() && requests_.front().ticket < ticket) {
    if (requests_.front().batch) recycle_locked(std::move(*requests_.front().batch));
    requests_.pop_front();
  }
  work_.notify_one();  // there is room now
  while (true) {
    if (stopped_) return std::nullopt;
    Request* request = find(ticket);  // it may be dropped while we wait
    if (request == nullptr) return std::nullopt;
    if (request->batch) {
      std::optional<SampleBatch> batch = std::move(request->batch);
      // Anything before it was dropped above, unless another thread asked for an earlier one since.
      std::erase_if(requests_, [ticket](const Request& r) { return r.ticket == ticket; });
      work_.notify_one();
      return batch;
    }
    filled_.wait(lock);
  }
}

void Loader::drop_all() {
  const std::lock_guard lock(mutex_);
  for (Request& request : requests_) {
    if (request.batch) recycle_locked(std::move(*request.batch));
  }
  requests_.clear();
  filled_.notify_all();
}

void Loader::recycle(SampleBatch batch) {
  const std::lock_guard lock(mutex_);
  recycle_locked(std::move(batch));
}

void Loader::recycle_locked(SampleBatch batch) {
  if (spare_.size() < options_.depth) spare_.push_back(std::move(batch));
}

void Loader::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  work_.notify_all();
  filled_.notify_all();
}

Loader::Request* Loader::next_to_fill() {
  std::size_t filled = 0;
  for (Request& request : requests_) {
    if (filled >= options_.depth) return nullptr;
    if (!request.batch) return &request;
    ++filled;
  }
  return nullptr;
}

Loader::Request* Loader::find(Ticket ticket) {
  const auto found = std::find_if(requests_.begin(), requests_.end(),
                                  [ticket](const Request& r) { return r.ticket == ticket; });
  return found == requests_.end() ? nullptr : &*found;
}

void Loader::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return stopped_ || next_to_fill() != nullptr; });
    if (stopped_) return;
    const Request* request = next_to_fill();
    const Ticket ticket = request->ticket;
    const bool test = request->test;
    const IntervalSet positions = request->positions;
    SampleBatch batch;
    if (!spare_.empty()) {
      batch = std::move(spare_.back());
      spare_.pop_back();
    }
    lock.unlock();
    if (test) {
      const bool any = !positions.empty();
      fill_test_batch(*dataset_, any ? positions.intervals().front().begin : 0,
                      any ? positions.intervals().front().end : 0, batch);
    } else {
      fill_batch(*dataset_, positions, seed_, batch);
    }
    lock.lock();
    if (Request* again = find(ticket)) {
      again->batch = std::move(batch);
      filled_.notify_all();
    } else {
      recycle_locked(std::move(batch));  // dropped meanwhile
    }
  }
}

}  // namespace convoy::data
