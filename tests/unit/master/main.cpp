#define BOOST_TEST_MODULE master
#include <boost/test/unit_test.hpp>
