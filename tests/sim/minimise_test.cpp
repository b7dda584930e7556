// The minimiser takes away what a failure does not need, and nothing else.
#include <boost/test/unit_test.hpp>

#include <algorithm>

#include "master/sim/minimise.h"

namespace convoy::sim {
namespace {

// A large scenario in which p2 freezes for ever so short after w3 has crashed.
Scenario with_two_faults() {
  Scenario s = random_scenario(7, {});
  s.workers.resize(6);
  s.servers = 5;
  s.more_servers.resize(2);
  s.end_position = 500;
  s.network.loss = 0.05;
  s.faults.resize(3);
  for (Fault& f : s.faults) f = {};
  s.faults[0].worker = 1;
  s.faults[1].worker = 3;
  Fault& freeze = s.faults.emplace_back();
  freeze.kind = FaultKind::kFreeze;
  freeze.on_server = true;
  freeze.server = 2;
  freeze.after_message = "Cut";
  freeze.after_fault = 1;
  return s;
}

bool is_freeze(const Fault& f) {
  return f.kind == FaultKind::kFreeze && f.on_server;
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_a_failure_does_not_need_is_taken_away) {
  const Judge judge = [](const Scenario& s) -> std::string {
    if (s.network.loss == 0 && s.workers.size() > 2) return "other: without loss something else is wrong";
    const bool frozen = std::any_of(s.faults.begin(), s.faults.end(), is_freeze);
    return frozen && s.workers.size() >= 2 && s.end_position > 30 ? "ledger: wrong" : "";
  };
  const Minimised found = minimise(with_two_faults(), judge);
  BOOST_TEST(found.problem == "ledger: wrong");
  BOOST_TEST(found.scenario.faults.size() == 1u);
  BOOST_TEST(is_freeze(found.scenario.faults.front()));
  BOOST_TEST(!found.scenario.faults.front().after_fault.has_value());
  BOOST_TEST(found.scenario.workers.size() == 2u);
  BOOST_TEST(found.scenario.servers == 1u);
  BOOST_TEST(found.scenario.more_servers.empty());
  BOOST_TEST(found.scenario.end_position > 30);
  BOOST_TEST(found.scenario.end_position <= 60);
  BOOST_TEST(found.scenario.network.loss == 0);
}

BOOST_AUTO_TEST_CASE(faults_go_on_naming_whom_they_named) {
  // The freeze needs the crash of the W-slave before it; both are renumbered when others go.
  const Judge judge = [](const Scenario& s) -> std::string {
    for (const Fault& f : s.faults) {
      if (!is_freeze(f) || !f.after_fault) continue;
      const Fault& before = s.faults[*f.after_fault];
      if (before.kind == FaultKind::kCrash && !before.on_server && before.worker < s.workers.size() &&
          *f.server < s.servers + s.more_servers.size())
        return "promise: broken";
    }
    return "";
  };
  const Minimised found = minimise(with_two_faults(), judge);
  BOOST_TEST(found.scenario.faults.size() == 2u);
  BOOST_TEST(found.scenario.workers.size() == 1u);
  BOOST_TEST(found.scenario.servers + found.scenario.more_servers.size() == 1u);
  const std::string code = as_code(found.scenario);
  BOOST_TEST(code.find("f.kind = FaultKind::kFreeze;") != std::string::npos, code);
  BOOST_TEST(code.find("f.after_fault = 0;") != std::string::npos, code);
  BOOST_TEST(code.find("f.server = 0;") != std::string::npos, code);
}

}  // namespace convoy::sim
