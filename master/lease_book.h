// The lease book: which positions are leased to whom in the current view, and which are left.
//
// Positions are handed out smallest first. In lockstep (bsp) leases are cut clock by clock in member order,
// never by who asks first, so a run is reproducible; otherwise each member is served when it asks. Leases are
// not journaled: after a view change everything that is neither committed nor kept is in the pool again.
//
// A value; used by the Master's role only. Copy it to try a cut, assign it when the view is active.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "messages/base/ids.h"
#include "messages/messages.h"

namespace convoy {

class LeaseBook {
 public:
  struct Share {
    MemberId member;
    Clock n;                        // stands here
    std::int64_t batch = 0;         // samples a clock
    std::int64_t ahead_clocks = 1;  // how far leases may reach
    std::vector<Lease> kept;        // begun in the view before, from n on without a gap
  };

  explicit LeaseBook(bool lockstep, std::uint32_t term = 0)
      : lockstep_(lockstep), next_id_(static_cast<std::uint64_t>(term) << 32 | 1) {}

  // A new view: `ledger` is what is committed of [0, end). Kept leases stay, everybody is given leases as far
  // as the horizon reaches. `shares` in member order. REQUIRES: kept leases are disjoint from the ledger and
  // each other.
  void begin_view(const IntervalSet& ledger, std::int64_t end, std::vector<Share> shares);

  // Leases of the member from `next` on, extended as far as its horizon and the pool allow. Forgets those
  // below `committed`. Empty: nothing is left for it in this view. REQUIRES: committed <= next <= next_of.
  std::vector<Lease> request(MemberId member, Clock next, Clock committed);

  // All that the member holds, ascending. Empty for strangers.
  const std::vector<Lease>& leases(MemberId member) const;
  std::int64_t batch(MemberId member) const;
  // The first clock that the member holds no lease for.
  Clock next_of(MemberId member) const;
  std::int64_t unleased() const { return pool_.size(); }
  // Drops the members that got nothing; returns them.
  std::vector<MemberId> drop_idle();

 private:
  struct Book {
    Share share;
    std::vector<Lease> leases;
    Clock next;           // first clock without a lease
    bool closed = false;  // lockstep: a clock was cut without it; it gets no more in this view
  };

  std::int64_t allowed_clocks(const Book& book) const;
  bool give(Book& book);
  void extend(Book& book, Clock upto);

  bool lockstep_;
  std::uint64_t next_id_;
  IntervalSet pool_;
  std::int64_t leased_ = 0;  // positions out, kept ones included; shrinks as members report commits
  std::map<MemberId, Book> books_;
};

}  // namespace convoy
