// Who has to go when two nodes that the Master hears do not reach each other.
#include <boost/test/unit_test.hpp>

#include "master/complaints.h"

namespace convoy {
namespace {

constexpr Duration kPatience = 2s;
constexpr PeerId kW0{10}, kW1{11}, kW2{12}, kP0{1}, kP1{2};

Time at(double s) {
  return Time{from_seconds(s)};
}

// Three W-slaves and two P-slaves that back each other up, all heard just now.
std::map<PeerId, Complaints::Party> everybody(Time now) {
  std::map<PeerId, Complaints::Party> parties;
  for (std::uint32_t w = 0; w < 3; ++w) parties[PeerId(10 + w)] = {.id = w, .heard = now};
  for (std::uint32_t p = 0; p < 2; ++p)
    parties[PeerId(1 + p)] = {.server = true, .spare = true, .peers = 4, .id = p, .heard = now};
  return parties;
}

std::optional<PeerId> who_goes(const Complaints& complaints, double now,
                               const std::map<PeerId, Complaints::Party>& parties) {
  const auto verdict = complaints.verdict(parties, kPatience, at(now));
  return verdict ? std::optional(verdict->goes) : std::nullopt;
}

std::optional<PeerId> who_goes(const Complaints& complaints, double now) {
  return who_goes(complaints, now, everybody(at(now)));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(complaints_suite)

BOOST_AUTO_TEST_CASE(the_one_w_slave_that_does_not_reach_a_p_slave_goes) {
  Complaints c;
  c.hear(kW1, {kP0}, at(1));
  BOOST_TEST(!who_goes(c, 1));
  c.hear(kW1, {kP0}, at(3));
  BOOST_TEST((who_goes(c, 3) == kW1));
}

BOOST_AUTO_TEST_CASE(the_p_slave_goes_when_most_of_those_that_talk_to_it_complain) {
  Complaints c;
  c.hear(kW0, {kP0}, at(1));
  c.hear(kW1, {kP0}, at(2));
  c.hear(kW0, {kP0}, at(3));
  BOOST_TEST((who_goes(c, 3) == kW0));  // two of four are not most
  c.hear(kP1, {kP0}, at(3));
  BOOST_TEST((who_goes(c, 3) == kP0));
}

BOOST_AUTO_TEST_CASE(a_p_slave_whose_chunks_are_nowhere_else_stays) {
  Complaints c;
  for (PeerId w : {kW0, kW1, kW2}) c.hear(w, {kP0}, at(1));
  for (PeerId w : {kW0, kW1, kW2}) c.hear(w, {kP0}, at(3));
  auto parties = everybody(at(9));
  parties[kP0].spare = false;
  BOOST_TEST((who_goes(c, 3, parties) == kW0));
  c.hear(kP1, {kP0}, at(3));
  parties.erase(kW0);
  parties.erase(kW1);
  parties.erase(kW2);
  BOOST_TEST(!who_goes(c, 4, parties));
  BOOST_TEST((who_goes(c, 5, parties) == kP1));
  parties[kP1].spare = false;
  BOOST_TEST(!who_goes(c, 9, parties));
}

BOOST_AUTO_TEST_CASE(of_two_p_slaves_the_later_one_goes_unless_more_complain_about_the_other) {
  Complaints c;
  c.hear(kP0, {kP1}, at(1));
  c.hear(kP1, {kP0}, at(1));
  c.hear(kP0, {kP1}, at(3));
  c.hear(kP1, {kP0}, at(3));
  BOOST_TEST((who_goes(c, 3) == kP1));
  c.hear(kW0, {kP0}, at(3));
  BOOST_TEST((who_goes(c, 3) == kP0));
}

BOOST_AUTO_TEST_CASE(whoever_is_not_heard_by_the_master_either_is_the_failure_detectors) {
  Complaints c;
  c.hear(kW1, {kP0}, at(1));
  c.hear(kW1, {kP0}, at(3));
  auto parties = everybody(at(3));
  parties[kP0].heard = at(1);
  BOOST_TEST(!who_goes(c, 3, parties));
}

BOOST_AUTO_TEST_CASE(a_complaint_that_is_not_repeated_is_over) {
  Complaints c;
  c.hear(kW1, {kP0}, at(1));
  c.hear(kW1, {}, at(2));
  c.hear(kW1, {kP0}, at(3));
  BOOST_TEST(!who_goes(c, 3));
  c.hear(kW1, {kP0}, at(5));
  BOOST_TEST((who_goes(c, 5) == kW1));
  c.forget(kP0);
  BOOST_TEST(!who_goes(c, 9));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace convoy
