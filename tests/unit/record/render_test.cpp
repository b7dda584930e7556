// What a run looks like.
#include "node/record/render.h"

#include "node/record/text.h"
#include "tests/unit/record/support.h"

namespace convoy::record {
namespace {

std::vector<std::string> table(const MasterStatus& status, const RunMetrics& metrics, RenderOptions options,
                               double waiting_s = 0) {
  return render_table(run_title(), status, metrics, waiting_s, options);
}

std::string join(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

BOOST_AUTO_TEST_CASE(a_running_run_shows_where_it_is_and_who_works) {
  const std::vector<std::string> lines = table(running_status(), running_metrics(), {.width = 100});
  BOOST_REQUIRE(lines.size() == 11u);
  BOOST_TEST(lines[0] ==
             " lenet-mnist  lenet on mnist | dsp, bound 4 | batch 64" + std::string(41, ' ') + "v1.2");
  BOOST_TEST(lines[1] ==
             " epoch 0.75 of 1.25  " + std::string(35, '#') + std::string(24, '.') + "  60 %   5.7 s left");
  BOOST_TEST(lines[2] ==
             " clock 701   5,312 samples/s   loss 0.0812   accuracy 98.43 % at epoch 0.50   8.4 s so far");
  BOOST_TEST(lines[3].empty());
  BOOST_TEST(lines[4] == " W-slave    device      batch    clock   gap   waits   samples/s");
  BOOST_TEST(lines[5] == " w-slave-0  alpha/cpu      32      705     4    31 %       3,300");
  BOOST_TEST(lines[6] == " w-slave-1  alpha/cpu      32      701     0     2 %       2,012");
  BOOST_TEST(lines[7].empty());
  BOOST_TEST(lines[8] == " P-slave    address");
  BOOST_TEST(lines[9] == " p-slave-0  127.0.0.1:41001 on alpha");
}

BOOST_AUTO_TEST_CASE(before_the_start_it_says_what_is_awaited_where_and_for_how_long) {
  MasterStatus status = running_status();
  status.started = false;
  status.members.pop_back();
  status.members[0].in_view = false;
  status.awaited = {"1 more P-slave (1 of 2 ready)", "1 more W-slave (1 of 2 ready)"};
  const std::string text = join(table(status, {}, {.width = 100}, 75));
  BOOST_TEST(contains(text, " waiting for 1 more P-slave (1 of 2 ready), for 1 min 15 s now\n"));
  BOOST_TEST(contains(text, " and 1 more W-slave (1 of 2 ready)\n"));
  BOOST_TEST(contains(text, " nodes reach this Master at 192.0.2.1:7777\n"));
  BOOST_TEST(contains(text, "joining"));
  BOOST_TEST(!contains(text, "epoch"));
}

BOOST_AUTO_TEST_CASE(no_line_is_wider_than_the_terminal) {
  MasterStatus status = running_status();
  status.members[0].name = "a-very-long-name-of-a-machine-somewhere-in-the-cluster";
  status.members[1].name = "机器学习机器学习机器学习机器学习";
  status.members[1].silent_for = 8s;
  status.awaited = {"something that takes very many words to be described in full, more than fit"};
  for (int width = 1; width < 130; ++width) {
    for (const bool unicode : {false, true}) {
      for (const std::string& line : table(status, running_metrics(), {.width = width, .unicode = unicode}))
        BOOST_REQUIRE_MESSAGE(columns_of(line) <= width, width << ": " << line);
    }
  }
}

BOOST_AUTO_TEST_CASE(no_table_is_higher_than_the_terminal) {
  MasterStatus status = running_status();
  for (std::uint32_t id = 2; id < 40; ++id) status.members.push_back(status_member(id, 700, 1, 0));
  for (int height = 1; height < 60; ++height) {
    const std::vector<std::string> lines = table(status, running_metrics(), {.width = 100, .height = height});
    BOOST_TEST(lines.size() <= static_cast<std::size_t>(height));
  }
  const std::string text = join(table(status, running_metrics(), {.width = 100, .height = 24}));
  BOOST_TEST(contains(text, "more"));
  BOOST_TEST(contains(text, "p-slave-0"));
}

BOOST_AUTO_TEST_CASE(colour_changes_attributes_only) {
  const std::vector<std::string> plain = table(running_status(), running_metrics(), {.width = 100});
  std::vector<std::string> coloured =
      table(running_status(), running_metrics(), {.width = 100, .colour = true});
  BOOST_TEST(join(coloured) != join(plain));
  for (std::string& line : coloured) {
    for (std::size_t at; (at = line.find('\x1b')) != std::string::npos;)
      line.erase(at, line.find('m', at) - at + 1);
  }
  BOOST_TEST(join(coloured) == join(plain));
}

BOOST_AUTO_TEST_CASE(names_of_peers_cannot_move_the_cursor) {
  MasterStatus status = running_status();
  status.members[0].name = "\x1b[2Jx\r\n";
  status.members[0].host = "h\x9b";
  status.servers[0].address = "a\tb\x7f";
  status.awaited = {"\x1b]0;title\x07"};
  for (const std::string& line : table(status, running_metrics(), {.width = 100})) {
    for (const char c : line) BOOST_REQUIRE(static_cast<unsigned char>(c) >= 0x20);
  }
}

BOOST_AUTO_TEST_CASE(silence_and_stand_by_are_shown) {
  MasterStatus status = running_status();
  status.members[0].silent_for = 3s;
  status.members[1].in_view = false;
  status.members[1].stand_by = true;
  const std::string text = join(table(status, running_metrics(), {.width = 120}));
  BOOST_TEST(contains(text, "silent for 3.0 s"));
  BOOST_TEST(contains(text, "on stand-by"));
}

BOOST_AUTO_TEST_CASE(violations_are_not_overlooked) {
  RunMetrics metrics = running_metrics();
  metrics.violations = 2;
  BOOST_TEST(
      contains(join(table(running_status(), metrics, {.width = 100})), "2 violations of the protocol"));
}

BOOST_AUTO_TEST_CASE(a_run_of_no_samples_divides_by_nothing) {
  MasterStatus status;
  status.started = true;
  BOOST_TEST(contains(join(table(status, {}, {.width = 100})), "100 %"));
  BOOST_TEST(contains(render_line({}, status, {}, 0), "0 members"));
}

BOOST_AUTO_TEST_CASE(the_plain_line_says_the_same) {
  BOOST_TEST(
      render_line(run_title(), running_status(), running_metrics(), 0) ==
      "epoch 0.75 of 1.25, clock 701, 5,312 samples/s, loss 0.0812, accuracy 98.43 %, 2 members, 5.7 s left");
  // Nothing was measured yet.
  BOOST_TEST(!contains(render_line(run_title(), running_status(), {}, 0), "samples/s"));
  MasterStatus status = running_status();
  status.started = false;
  status.awaited = {"1 more W-slave (1 of 2 ready)"};
  BOOST_TEST(render_line(run_title(), status, {}, 12) ==
             "waiting for 1 more W-slave (1 of 2 ready) at 192.0.2.1:7777, for 12 s");
}

BOOST_AUTO_TEST_CASE(a_run_that_was_trained_is_summed_up_in_a_line) {
  RunMetrics metrics = running_metrics();
  metrics.samples = 75'000;
  metrics.elapsed_s = 12.3;
  RunTitle title = run_title();
  title.dir = "runs/lenet";
  BOOST_TEST(
      render_ending(title, metrics) ==
      "trained 75,000 samples in 12 s, test accuracy 98.43 %; summary.json, the model and the logs are in "
      "runs/lenet");
}

}  // namespace
}  // namespace convoy::record
