// What a W-slave believes, and from whom.
#include "actors/worker.h"

#include <boost/test/unit_test.hpp>

using namespace convoy;

namespace {

constexpr PeerId kStranger{77};

Worker greeted(Effects& effects) {
  WorkerOptions options;
  options.self = PeerId(5);
  options.name = "w";
  Worker worker(options);
  worker.step(Time{}, Started{}, effects);
  return worker;
}

}  // namespace

BOOST_AUTO_TEST_CASE(only_the_master_can_welcome_or_send_a_w_slave_away) {
  const std::vector<Message> words{Welcome{RunId(1), 3, Incarnation(1), {}, "run", {}}, Stop{true, "go home"},
                                   Refuse{RefuseReason::kOtherRun, Incarnation(0), "another run"},
                                   Refuse{RefuseReason::kEnded, Incarnation(0), "over"}};
  for (const Message& word : words) {
    Effects effects;
    Worker worker = greeted(effects);
    effects.clear();
    worker.step(Time{1s}, Envelope{{}, kStranger, {}, word}, effects);
    BOOST_TEST((worker.phase() == Worker::Phase::kGreeting), name_of(word));
    BOOST_TEST(worker.bad_messages() == 1u);
    worker.step(Time{2s}, Envelope{{}, kMasterPeerId, {}, word}, effects);
    BOOST_TEST((worker.phase() != Worker::Phase::kGreeting), name_of(word));
  }
}
