// What `convoy status` prints.
#include "node/record/status_json.h"

#include "tests/unit/record/support.h"

namespace convoy::record {
namespace {

BOOST_AUTO_TEST_CASE(the_json_has_its_agreed_names) {
  MasterStatus status = running_status();
  status.awaited = {"a W-slave"};
  const Json json = Json::parse(status_json(run_title(), status, running_metrics()));
  BOOST_TEST(json["view"] == "v1.2");
  BOOST_TEST(json["clock"] == 701);
  BOOST_TEST(json["epoch"] == 0.75);
  BOOST_REQUIRE(json["members"].size() == 2u);
  BOOST_TEST(json["members"][0]["name"] == "w-slave-0");
  BOOST_TEST(json["members"][0]["state"] == "member");
  BOOST_TEST(json["members"][0]["clock"] == 705);
  BOOST_TEST(json["members"][0]["gap"] == 4);
  BOOST_TEST(json["p_slaves"].size() == 2u);
  BOOST_TEST(json["p_slaves"][1]["address"] == "127.0.0.1:41002");
  BOOST_TEST(json["awaited"][0] == "a W-slave");
}

BOOST_AUTO_TEST_CASE(the_text_is_the_table) {
  const std::string text =
      require(status_text(status_json(run_title(), running_status(), running_metrics())));
  for (const char* part : {"lenet-mnist", "epoch 0.75 of 1.25", "clock 701", "5,312 samples/s", "98.43 %",
                           "w-slave-1", "31 %", "p-slave-1", "127.0.0.1:41002", "v1.2"})
    BOOST_TEST(contains(text, part), part);
}

BOOST_AUTO_TEST_CASE(a_run_that_waits_says_for_what) {
  MasterStatus status;
  status.sample_count = 60'000;
  status.end = 75'000;
  status.awaited = {"1 more W-slave (0 of 1 ready)"};
  const std::string text = require(status_text(status_json(run_title(), status, {}, 30)));
  BOOST_TEST(contains(text, "waiting for 1 more W-slave (0 of 1 ready), for 30 s now"));
  BOOST_TEST(contains(text, "192.0.2.1:7777"));
}

BOOST_AUTO_TEST_CASE(figures_that_are_no_numbers_stay_json) {
  RunMetrics metrics = running_metrics();
  metrics.loss = std::numeric_limits<double>::quiet_NaN();
  MasterStatus status = running_status();
  status.members[0].name = "\xff";
  const std::string json = status_json(run_title(), status, metrics);
  BOOST_TEST(Json::parse(json)["loss"].is_null());
  BOOST_TEST(status_text(json).ok());
}

BOOST_AUTO_TEST_CASE(an_answer_that_is_none_is_an_error) {
  Json strange = Json::parse(status_json(run_title(), running_status(), running_metrics()));
  strange["members"] = 5;
  Json negative = Json::parse(status_json(run_title(), running_status(), running_metrics()));
  negative.erase("p_slaves");
  for (const std::string& text : {std::string(), std::string("hello"), std::string("[]"), std::string("{}"),
                                  strange.dump(), negative.dump()}) {
    const auto shown = status_text(text);
    BOOST_REQUIRE(!shown.ok());
    BOOST_TEST((shown.error().code == ErrorCode::kCorrupt));
  }
}

}  // namespace
}  // namespace convoy::record
