#include "master/lease_book.h"

#include <algorithm>

#include "messages/base/check.h"

namespace convoy {

void LeaseBook::begin_view(const IntervalSet& ledger, std::int64_t end, std::vector<Share> shares) {
  pool_ = ledger.complement({0, end});
  leased_ = 0;
  books_.clear();
  for (Share& share : shares) {
    Book book;
    book.next = share.n;
    for (Lease& lease : share.kept) {
      CONVOY_CHECK(lease.clock == book.next, share.member, " keeps clock ", lease.clock, " at ", book.next);
      CONVOY_CHECK(pool_.includes(lease.positions), share.member, " keeps ", lease.positions,
                   " that is not free");
      pool_.erase(lease.positions);
      leased_ += lease.positions.size();
      ++book.next;
      book.leases.push_back(std::move(lease));
    }
    share.kept.clear();
    book.share = share;
    books_.emplace(share.member, std::move(book));
  }
  // Clock by clock in turns, so that the last positions are spread and, in lockstep, cut in member order.
  Clock reach;
  for (const auto& [id, book] : books_) reach = std::max(reach, book.share.n + allowed_clocks(book));
  if (lockstep_) {
    for (auto& [id, book] : books_) extend(book, reach);
    return;
  }
  for (bool gave = true; gave;) {
    gave = false;
    for (auto& [id, book] : books_) {
      if (book.next < book.share.n + allowed_clocks(book) && give(book)) gave = true;
    }
  }
}

std::int64_t LeaseBook::allowed_clocks(const Book& book) const {
  // Never more than half of a fair share of what remains, so that the end is shared out evenly.
  const std::int64_t remaining = pool_.size() + leased_;
  const auto members = static_cast<std::int64_t>(std::max<std::size_t>(1, books_.size()));
  const std::int64_t by_share = remaining / (2 * members) / std::max<std::int64_t>(1, book.share.batch);
  return std::max<std::int64_t>(1, std::min(book.share.ahead_clocks, by_share));
}

bool LeaseBook::give(Book& book) {
  if (pool_.empty() || book.share.batch == 0) return false;
  Lease lease{LeaseId(next_id_++), book.next, pool_.take_first(book.share.batch)};
  leased_ += lease.positions.size();
  book.leases.push_back(std::move(lease));
  ++book.next;
  return true;
}

void LeaseBook::extend(Book& book, Clock upto) {
  if (!lockstep_) {
    while (book.next < upto && give(book)) {
    }
    return;
  }
  // Every clock is cut for everybody before the next one is touched.
  while (book.next < upto && !book.closed) {
    Clock clock = upto;
    for (const auto& [id, b] : books_) {
      if (!b.closed) clock = std::min(clock, b.next);
    }
    if (clock >= upto) return;
    for (auto& [id, b] : books_) {
      if (!b.closed && b.next == clock && !give(b)) b.closed = true;
    }
  }
}

std::vector<Lease> LeaseBook::request(MemberId member, Clock next, Clock committed) {
  const auto at = books_.find(member);
  if (at == books_.end()) return {};
  Book& book = at->second;
  const auto live = std::find_if(book.leases.begin(), book.leases.end(),
                                 [&](const Lease& l) { return l.clock >= committed; });
  for (auto l = book.leases.begin(); l != live; ++l) leased_ -= l->positions.size();
  book.leases.erase(book.leases.begin(), live);
  extend(book, std::max(committed, book.share.n) + allowed_clocks(book));
  // Whoever holds none asks for at least one.
  if (book.next <= next) extend(book, next + 1);
  std::vector<Lease> granted;
  for (const Lease& l : book.leases) {
    if (l.clock >= next) granted.push_back(l);
  }
  return granted;
}

const std::vector<Lease>& LeaseBook::leases(MemberId member) const {
  static const std::vector<Lease> none;
  const auto at = books_.find(member);
  return at == books_.end() ? none : at->second.leases;
}

std::int64_t LeaseBook::batch(MemberId member) const {
  const auto at = books_.find(member);
  return at == books_.end() ? 0 : at->second.share.batch;
}

Clock LeaseBook::next_of(MemberId member) const {
  const auto at = books_.find(member);
  return at == books_.end() ? Clock{} : at->second.next;
}

std::vector<MemberId> LeaseBook::drop_idle() {
  std::vector<MemberId> idle;
  for (auto at = books_.begin(); at != books_.end();) {
    if (at->second.leases.empty()) {
      idle.push_back(at->first);
      at = books_.erase(at);
    } else {
      ++at;
    }
  }
  return idle;
}

}  // namespace convoy
