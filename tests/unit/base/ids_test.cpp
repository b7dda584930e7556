// Ids, clocks, views and times: how they compare and what they print, which transcripts rely on.
#include "messages/base/ids.h"

#include <boost/test/unit_test.hpp>
#include <sstream>
#include <type_traits>

#include "messages/base/time.h"

namespace convoy {
namespace {

template <class T>
std::string printed(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

// One kind of id is no other kind, and no number.
static_assert(!std::is_convertible_v<MemberId, ServerId>);
static_assert(!std::is_convertible_v<int, MemberId>);
static_assert(!std::is_convertible_v<MemberId, std::uint32_t>);
static_assert(!std::is_convertible_v<std::int64_t, Clock>);

BOOST_AUTO_TEST_CASE(ids_print_with_their_kind) {
  BOOST_TEST(printed(MemberId(3)) == "m3");
  BOOST_TEST(printed(ServerId(1)) == "p1");
  BOOST_TEST(printed(MemberKey{MemberId(3), Incarnation(2)}) == "m3#2");
  BOOST_TEST(printed(View{2, 5}) == "v2.5");
  BOOST_TEST(printed(Clock(7)) == "7");
  BOOST_TEST(printed(Time{1500ms}) == "1.5s");
}

BOOST_AUTO_TEST_CASE(a_later_term_supersedes_every_attempt_of_an_earlier_one) {
  BOOST_TEST((View{1, 9} < View{2, 0}));
  BOOST_TEST((View{2, 0} < View{2, 1}));
  BOOST_TEST((View{} < View{0, 1}));
}

BOOST_AUTO_TEST_CASE(clocks_count) {
  Clock c(4);
  BOOST_TEST((++c == Clock(5)));
  BOOST_TEST((c + 3 == Clock(8)));
  BOOST_TEST(c - Clock(2) == 3);
}

BOOST_AUTO_TEST_CASE(seconds_and_durations_convert) {
  BOOST_TEST((from_seconds(0.25) == 250ms));
  BOOST_TEST(seconds(1500ms) == 1.5);
  BOOST_TEST((Time{2s} - Time{500ms} == 1500ms));
  BOOST_TEST((Time{2s} < Time::never()));
}

}  // namespace
}  // namespace convoy
