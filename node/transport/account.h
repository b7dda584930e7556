// Accounts: how much of what was given to send() for one peer has not left yet. A ticket is taken for each
// message and travels with its frames into ZeroMQ; when ZeroMQ has let go of the last one, the ticket is
// returned. So the bound counts what is really in memory on the way, whoever holds it.
//
// Shared; all counts are atomic, since tickets are returned from ZeroMQ's own threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace convoy {

struct Account {
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> messages{0};
  std::shared_ptr<Account> total;  // of all peers; null in the total itself
};

class Ticket {
 public:
  Ticket(std::shared_ptr<Account> account, std::uint64_t bytes)
      : account_(std::move(account)), bytes_(bytes) {
    add(*account_);
    if (account_->total) add(*account_->total);
  }
  ~Ticket() {
    if (account_->total) subtract(*account_->total);
    subtract(*account_);
  }
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;

 private:
  void add(Account& account) {
    account.bytes.fetch_add(bytes_, std::memory_order_relaxed);
    account.messages.fetch_add(1, std::memory_order_relaxed);
  }
  void subtract(Account& account) {
    account.bytes.fetch_sub(bytes_, std::memory_order_relaxed);
    account.messages.fetch_sub(1, std::memory_order_relaxed);
  }

  std::shared_ptr<Account> account_;
  std::uint64_t bytes_;
};

using TicketPtr = std::shared_ptr<const Ticket>;

}  // namespace convoy
