// Whole runs: Master, P-slaves and W-slaves as processes of this machine.
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/system/process.h"
#include "tests/system/world.h"

using namespace convoy::test;

namespace {

std::string only_model(const World& world, const std::string& run) {
  for (const auto& entry : std::filesystem::directory_iterator(world.path("runs/" + run + "/checkpoints"))) {
    return world.read("runs/" + run + "/checkpoints/" + entry.path().filename().string() +
                      "/model.safetensors");
  }
  return {};
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_mode_trains_each_sample_exactly_once) {
  for (const std::string mode : {"bsp", "dsp", "dynamic", "asp"}) {
    const World world;
    const Finished trained = run(world.folder(), {"train", "small.toml", "--set", "sync.mode=" + mode});
    BOOST_TEST_CONTEXT(mode << ": " << trained.err) {
      BOOST_REQUIRE(trained.status == 0);
      const auto summary = world.summary();
      BOOST_TEST(summary["samples"] == 1200);
      BOOST_TEST(summary["samples_lost"] == 0);
      BOOST_TEST(summary["samples_duplicated"] == 0);
      BOOST_TEST(summary["violations"] == 0);
      BOOST_TEST(summary["test_accuracy"].get<double>() > 0.5);
      const std::size_t shown = summary["staleness_histogram"].size();
      if (mode == "bsp") BOOST_TEST(shown == 1u);
      if (mode == "dsp" || mode == "dynamic") BOOST_TEST(shown <= 5u);
      BOOST_TEST(run(world.folder(), {"verify", "runs/small"}).status == 0);
      BOOST_TEST(run(world.folder(), {"eval", "runs/small"}).status == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_few_images_among_more_w_slaves_are_trained_exactly_once) {
  for (const int images : {7, 2, 1}) {
    const World world(images, 5);
    const Finished trained =
        run(world.folder(), {"train", "small.toml", "--workers", "3", "--set", "train.batch=4"});
    BOOST_TEST_CONTEXT(images << " images: " << trained.err) {
      BOOST_TEST(trained.status == 0);
      BOOST_TEST(run(world.folder(), {"verify", "runs/small"}).status == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(sizes_that_no_batch_divides_are_trained_to_the_last_sample) {
  // 101 images in batches of 16 for 1.3 epochs, cut among three.
  for (const std::string mode : {"bsp", "dsp"}) {
    const World world(101, 7);
    const Finished trained = run(world.folder(), {"train", "small.toml", "--workers", "3", "--servers", "2",
                                                  "--set", "train.epochs=1.3", "--set", "sync.mode=" + mode});
    BOOST_TEST_CONTEXT(mode << ": " << trained.err) {
      BOOST_REQUIRE(trained.status == 0);
      BOOST_TEST(world.summary()["samples"] == 131);
      BOOST_TEST(run(world.folder(), {"verify", "runs/small"}).status == 0);
    }
  }
}

// With equal batches, who is slowed has work left when the other has none: each of the two is once the first
// to finish and once the last.
BOOST_AUTO_TEST_CASE(either_w_slave_may_be_the_first_or_the_last_to_finish_in_every_mode) {
  for (const std::string mode : {"bsp", "dsp", "dynamic", "asp"}) {
    for (const std::string slow : {"0", "1"}) {
      const World world(200, 20);
      const Finished trained =
          run(world.folder(), {"train", "small.toml", "--set", "sync.mode=" + mode, "--set",
                               "sync.partition=equal", "--set", "local.w_slave[" + slow + "].slowdown=40"});
      BOOST_TEST_CONTEXT(mode << ", w-slave-" << slow << " is slow: " << trained.err) {
        BOOST_REQUIRE(trained.status == 0);
        BOOST_TEST(world.summary()["samples"] == 400);
        BOOST_TEST(world.summary()["violations"] == 0);
        BOOST_TEST(run(world.folder(), {"verify", "runs/small"}).status == 0);
        if (mode == "asp") {
          const std::string fast = slow == "0" ? "1" : "0";
          BOOST_TEST(trained.err.find("(w-slave-" + fast + " has nothing left to do") <
                     trained.err.find("(w-slave-" + slow + " has nothing left to do"));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(bsp_gives_the_same_bits_again_and_for_any_number_of_p_slaves) {
  const World world;
  std::string first;
  for (const std::string servers : {"1", "1", "2", "3"}) {
    const Finished trained = run(
        world.folder(), {"train", "small.toml", "--overwrite", "--servers", servers, "--set", "sync.mode=bsp",
                         "--set", "sync.partition=equal", "--set",
                         std::string(first.empty() ? "kernels.record" : "kernels.replay") + "=choices.txt"});
    BOOST_TEST_CONTEXT(servers << " P-slaves: " << trained.err) {
      BOOST_REQUIRE(trained.status == 0);
      const std::string model = only_model(world, "small");
      BOOST_REQUIRE(!model.empty());
      if (first.empty()) first = model;
      BOOST_TEST((model == first));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_run_that_is_there_is_not_overwritten_by_accident) {
  const World world(40, 10);
  BOOST_REQUIRE(run(world.folder(), {"train", "small.toml"}).status == 0);
  const Finished again = run(world.folder(), {"train", "small.toml"});
  BOOST_TEST(again.status == 2);
  BOOST_TEST(again.err.find("--overwrite") != std::string::npos);
  BOOST_TEST(run(world.folder(), {"train", "small.toml", "--overwrite"}).status == 0);
}
