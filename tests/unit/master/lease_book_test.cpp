// LeaseBook: by example, and on random requests against a model that holds every position by itself.
#include "master/lease_book.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>
#include <set>

namespace convoy {
namespace {

LeaseBook::Share share(std::uint32_t member, std::int64_t n, std::int64_t batch, std::int64_t ahead) {
  return {MemberId(member), Clock(n), batch, ahead, {}};
}

IntervalSet all_positions(const LeaseBook& book, std::uint32_t members) {
  IntervalSet all;
  for (std::uint32_t m = 0; m < members; ++m) {
    for (const Lease& l : book.leases(MemberId(m))) {
      BOOST_REQUIRE(!all.intersects(l.positions));
      all.insert(l.positions);
    }
  }
  return all;
}

// What holds of any book: leases follow one another, hold something, overlap nothing, and with the pool they
// are what the ledger leaves.
void check_sane(const LeaseBook& book, std::uint32_t members, std::int64_t expected_total) {
  for (std::uint32_t m = 0; m < members; ++m) {
    const std::vector<Lease>& leases = book.leases(MemberId(m));
    for (std::size_t i = 0; i < leases.size(); ++i) {
      BOOST_REQUIRE(!leases[i].positions.empty());
      if (i > 0) BOOST_REQUIRE(leases[i].clock == leases[i - 1].clock + 1);
    }
    if (!leases.empty()) BOOST_REQUIRE(book.next_of(MemberId(m)) == leases.back().clock + 1);
  }
  BOOST_REQUIRE(all_positions(book, members).size() + book.unleased() == expected_total);
}

}  // namespace

BOOST_AUTO_TEST_CASE(leases_are_cut_clock_by_clock_in_member_order) {
  LeaseBook book(true);
  book.begin_view({}, 100, {share(0, 0, 3, 2), share(1, 0, 2, 2)});
  BOOST_REQUIRE(book.leases(MemberId(0)).size() == 2u);
  BOOST_REQUIRE(book.leases(MemberId(1)).size() == 2u);
  BOOST_TEST((book.leases(MemberId(0))[0].positions == IntervalSet{{0, 3}}));
  BOOST_TEST((book.leases(MemberId(1))[0].positions == IntervalSet{{3, 5}}));
  BOOST_TEST((book.leases(MemberId(0))[1].positions == IntervalSet{{5, 8}}));
  BOOST_TEST((book.leases(MemberId(1))[1].positions == IntervalSet{{8, 10}}));
}

BOOST_AUTO_TEST_CASE(lease_ids_are_never_used_twice_and_tell_their_term) {
  LeaseBook book(false, 7);
  std::set<LeaseId> seen;
  for (int view = 0; view < 5; ++view) {
    book.begin_view({}, 100, {share(0, 0, 3, 4), share(1, 0, 2, 4)});
    for (std::uint32_t m = 0; m < 2; ++m) {
      for (const Lease& l : book.leases(MemberId(m))) {
        BOOST_TEST(seen.insert(l.id).second);
        BOOST_TEST((l.id.value >> 32) == 7u);
      }
    }
  }
  BOOST_TEST(seen.size() > 10u);
}

BOOST_AUTO_TEST_CASE(kept_leases_stay_and_the_rest_is_cut_around_them) {
  LeaseBook book(false);
  LeaseBook::Share keeps = share(0, 4, 2, 1);
  keeps.kept = {Lease{LeaseId(99), Clock(4), IntervalSet{{2, 5}}}};
  book.begin_view(IntervalSet{{0, 1}}, 20, {keeps, share(1, 4, 3, 1)});
  BOOST_REQUIRE(book.leases(MemberId(0)).size() == 1u);
  BOOST_TEST(book.leases(MemberId(0))[0].id == LeaseId(99));
  BOOST_TEST((book.leases(MemberId(1))[0].positions == IntervalSet{{1, 2}, {5, 7}}));
  check_sane(book, 2, 19);
}

BOOST_AUTO_TEST_CASE(nobody_gets_more_than_half_of_a_fair_share_ahead) {
  LeaseBook book(false);
  book.begin_view({}, 80, {share(0, 0, 1, 1000), share(1, 0, 1, 1000)});
  BOOST_TEST(book.leases(MemberId(0)).size() == 20u);
  BOOST_TEST(book.leases(MemberId(1)).size() == 20u);
}

BOOST_AUTO_TEST_CASE(who_holds_none_gets_one_while_there_is_any) {
  LeaseBook book(false);
  book.begin_view({}, 3, {share(0, 0, 1, 1), share(1, 0, 1, 1)});
  BOOST_TEST(book.request(MemberId(0), Clock(1), Clock(0)).size() == 1u);
  BOOST_TEST(book.request(MemberId(1), Clock(1), Clock(1)).empty());
  BOOST_TEST(book.unleased() == 0);
}

BOOST_AUTO_TEST_CASE(a_request_repeated_gives_the_same_leases) {
  LeaseBook book(false);
  book.begin_view({}, 100, {share(0, 0, 4, 3)});
  const std::vector<Lease> first = book.request(MemberId(0), Clock(3), Clock(2));
  BOOST_TEST(!first.empty());
  BOOST_TEST((book.request(MemberId(0), Clock(3), Clock(2)) == first));
}

BOOST_AUTO_TEST_CASE(strangers_get_nothing) {
  LeaseBook book(false);
  book.begin_view({}, 100, {share(0, 0, 4, 3)});
  const std::int64_t before = book.unleased();
  BOOST_TEST(book.request(MemberId(5), Clock(0), Clock(0)).empty());
  BOOST_TEST(book.leases(MemberId(5)).empty());
  BOOST_TEST(book.batch(MemberId(5)) == 0);
  BOOST_TEST(book.unleased() == before);
}

BOOST_AUTO_TEST_CASE(members_without_a_lease_are_dropped_and_named) {
  LeaseBook book(false);
  book.begin_view({}, 2, {share(0, 0, 1, 1), share(1, 0, 0, 1), share(2, 0, 1, 1), share(3, 0, 1, 1)});
  BOOST_TEST((book.drop_idle() == std::vector<MemberId>{MemberId(1), MemberId(3)}));
  BOOST_TEST(book.drop_idle().empty());
}

BOOST_AUTO_TEST_CASE(in_lockstep_who_asks_first_changes_nothing) {
  std::vector<std::vector<std::vector<Lease>>> histories;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random(seed);
    LeaseBook book(true);
    constexpr std::uint32_t kMembers = 4;
    std::vector<LeaseBook::Share> shares;
    for (std::uint32_t m = 0; m < kMembers; ++m) shares.push_back(share(m, 0, 1 + m, 3));
    book.begin_view({}, 203, shares);
    std::vector<std::vector<Lease>> history(kMembers);
    for (std::uint32_t m = 0; m < kMembers; ++m) history[m] = book.leases(MemberId(m));
    std::vector<std::int64_t> committed(kMembers, 0);
    for (int step = 0; step < 2000; ++step) {
      // As in a run: nobody is a whole clock ahead of another.
      const auto m = static_cast<std::uint32_t>(random() % kMembers);
      if (committed[m] > *std::min_element(committed.begin(), committed.end())) continue;
      if (committed[m] < static_cast<std::int64_t>(history[m].size())) ++committed[m];
      for (const Lease& l : book.request(MemberId(m), history[m].back().clock + 1, Clock(committed[m])))
        history[m].push_back(l);
      if (std::all_of(history.begin(), history.end(), [&](const auto& h) { return h.size() > 15; })) break;
    }
    for (auto& h : history) {
      h.resize(std::min<std::size_t>(h.size(), 16));
      for (Lease& l : h) l.id = LeaseId(0);  // numbers differ, positions must not
    }
    histories.push_back(std::move(history));
  }
  for (const auto& history : histories) {
    for (const auto& leases : history) BOOST_REQUIRE(leases.size() == 16u);
    BOOST_TEST((history == histories.front()));
  }
}

BOOST_AUTO_TEST_CASE(random_requests_hand_out_each_position_once_smallest_first) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    LeaseBook book(seed % 2 == 0);
    const auto members = static_cast<std::uint32_t>(1 + random() % 6);
    const auto end = static_cast<std::int64_t>(1 + random() % 300);
    IntervalSet ledger;
    for (std::int64_t p = 0; p < end; ++p) {
      if (random() % 4 == 0) ledger.insert({p, p + 1});
    }
    std::vector<LeaseBook::Share> shares;
    for (std::uint32_t m = 0; m < members; ++m)
      shares.push_back(
          share(m, 0, static_cast<std::int64_t>(random() % 5), static_cast<std::int64_t>(1 + random() % 6)));
    book.begin_view(ledger, end, shares);
    check_sane(book, members, end - ledger.size());

    std::set<std::int64_t> pool;  // the model
    for (std::int64_t p = 0; p < end; ++p) {
      if (!ledger.contains(p)) pool.insert(p);
    }
    std::vector<std::int64_t> committed(members, 0);
    IntervalSet seen;
    std::set<LeaseId> counted;
    const auto take = [&](const std::vector<Lease>& leases) {
      for (const Lease& l : leases) {
        if (!counted.insert(l.id).second) continue;
        for (const Interval& i : l.positions.intervals()) {
          for (std::int64_t p = i.begin; p < i.end; ++p) BOOST_REQUIRE(pool.erase(p) == 1u);
        }
        seen.insert(l.positions);
      }
    };
    for (std::uint32_t m = 0; m < members; ++m) take(book.leases(MemberId(m)));
    for (int step = 0; step < 400; ++step) {
      const auto m = static_cast<std::uint32_t>(random() % members);
      const Clock next = book.next_of(MemberId(m));
      if (committed[m] < next.value) ++committed[m];
      (void)book.request(MemberId(m), next, Clock(committed[m]));
      for (std::uint32_t other = 0; other < members; ++other)
        take(book.leases(MemberId(other)));  // lockstep cuts for all
      BOOST_REQUIRE(book.unleased() == static_cast<std::int64_t>(pool.size()));
      // Smallest first: nothing that is left lies before what was handed out.
      if (!pool.empty() && !seen.empty()) BOOST_REQUIRE(*pool.begin() > seen.intervals().back().end - 1);
    }
    const bool anybody_works =
        std::any_of(shares.begin(), shares.end(), [](const auto& s) { return s.batch > 0; });
    if (seed % 2 == 1 && anybody_works) BOOST_REQUIRE(pool.empty());
  }
}

}  // namespace convoy
