// Numbers, times and foreign texts as people read them.
#include "node/record/text.h"

#include <limits>

#include "tests/unit/record/support.h"

namespace convoy::record {
namespace {

BOOST_AUTO_TEST_CASE(numbers_are_grouped_in_threes) {
  BOOST_TEST(grouped(0) == "0");
  BOOST_TEST(grouped(999) == "999");
  BOOST_TEST(grouped(1000) == "1,000");
  BOOST_TEST(grouped(-1234567) == "-1,234,567");
  BOOST_TEST(grouped(-123) == "-123");
}

BOOST_AUTO_TEST_CASE(durations_are_said_as_precisely_as_they_matter) {
  BOOST_TEST(duration_text(0) == "0.0 s");
  BOOST_TEST(duration_text(9.94) == "9.9 s");
  BOOST_TEST(duration_text(9.96) == "10 s");
  BOOST_TEST(duration_text(59.97) == "1 min 00 s");
  BOOST_TEST(duration_text(65.2) == "1 min 05 s");
  BOOST_TEST(duration_text(7620) == "2 h 07 min");
  BOOST_TEST(duration_text(-3) == "0.0 s");
  BOOST_TEST(duration_text(std::numeric_limits<double>::infinity()) == "-");
}

BOOST_AUTO_TEST_CASE(shares_are_percentages) {
  BOOST_TEST(percent(0.98912, 2) == "98.91 %");
  BOOST_TEST(percent(std::numeric_limits<double>::quiet_NaN(), 2) == "-");
  BOOST_TEST(fixed(1e300, 2).size() < 20u);
}

BOOST_AUTO_TEST_CASE(what_could_move_a_cursor_becomes_a_question_mark) {
  BOOST_TEST(printable("a\x1b[2J\n\x7f") == "a?[2J??");
  BOOST_TEST(printable("grün 机器") == "grün 机器");
  BOOST_TEST(printable("\xc2\x9b") == "?");        // C1: one character
  BOOST_TEST(printable("\xe2\x80\xae") == "?");    // right to left override
  BOOST_TEST(printable("\xff\xc3") == "??");       // no UTF-8
  BOOST_TEST(printable("\xc0\x8a") == "??");       // a line break, overlong
  BOOST_TEST(printable("\xed\xa0\x80") == "???");  // a surrogate
  BOOST_TEST(printable("\xf5\x80\x80\x80") == "????");
}

BOOST_AUTO_TEST_CASE(columns_are_those_of_a_terminal) {
  BOOST_TEST(columns_of("abc") == 3);
  BOOST_TEST(columns_of("grün") == 4);
  BOOST_TEST(columns_of("机器") == 4);
  BOOST_TEST(columns_of("e\xcc\x81") == 1);
  BOOST_TEST(fitting("机器", 3) == "机");
  BOOST_TEST(fitting("abc", 0).empty());
  BOOST_TEST(fitting("abc", -2).empty());
}

}  // namespace
}  // namespace convoy::record
