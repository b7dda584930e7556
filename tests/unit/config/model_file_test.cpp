// Model files: what they give, and what a wrong one says.
#include "config/model_file.h"

#include <boost/test/unit_test.hpp>

#include "config/run_file.h"
#include "kernels/graph/zoo.h"

namespace convoy::config {
namespace {

// LeNet as in the zoo.
constexpr const char* kLenet = R"(input = [1, 28, 28]
classes = 10
[[layer]]
kind = "conv2d"
out_channels = 20
kernel = 5
[[layer]]
kind = "max_pool2d"
kernel = 2
[[layer]]
kind = "conv2d"
out_channels = 50
kernel = [5, 5]
[[layer]]
kind = "max_pool2d"
[[layer]]
kind = "flatten"
[[layer]]
kind = "linear"
out_features = 500
[[layer]]
kind = "relu"
[[layer]]
kind = "linear"
name = "last"
out_features = 10
[[layer]]
kind = "softmax_cross_entropy"
)";

std::string error_of(const std::string& text) {
  const auto graph = parse_model_file(text, "net.toml");
  BOOST_REQUIRE(!graph.ok());
  BOOST_TEST((graph.error().code == ErrorCode::kUsage));
  return graph.error().message;
}

std::string changed(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  BOOST_REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

BOOST_AUTO_TEST_CASE(a_model_file_describes_the_same_network_as_the_zoo) {
  const auto graph = parse_model_file(kLenet, "my-lenet.toml");
  BOOST_REQUIRE_MESSAGE(graph.ok(), (graph.ok() ? std::string() : graph.error().message));
  BOOST_TEST(graph->digest() == lenet().digest());
  BOOST_TEST(graph->name() == "my-lenet");
  BOOST_TEST(graph->layers()[0].name == "conv2d-1");
  BOOST_TEST(graph->layers()[7].name == "last");
}

BOOST_AUTO_TEST_CASE(wrong_layers_are_named_with_their_line) {
  BOOST_TEST(error_of(changed(kLenet, "max_pool2d", "max_pool"))
                 .starts_with("net.toml:8:8: layer[1].kind: `max_pool` is not one of them, did you mean "
                              "`max_pool2d`?; allowed: conv2d, "));
  BOOST_TEST(
      error_of(changed(kLenet, "out_channels = 20", "out = 20")) ==
      "net.toml:3:1: layer[0].out_channels: is missing\n"
      "net.toml:5:1: layer[0].out: unknown key; allowed: bias, groups, kernel, kind, name, out_channels, "
      "padding, stride");
  BOOST_TEST(error_of(changed(kLenet, "[5, 5]", "[5, 5, 5]")) ==
             "net.toml:13:10: layer[2].kernel: is not understood; allowed: one or a list of 2 whole numbers "
             "from 1 to "
             "1048576");
  const std::string too_big = error_of(changed(kLenet, "kernel = 5", "kernel = 29"));
  BOOST_TEST(
      too_big.starts_with("net.toml:3:1: layer[0]: model net: layer 0 (conv2d-1, conv2d): input height 28"),
      too_big);
}

BOOST_AUTO_TEST_CASE(what_every_model_file_needs_is_asked_for) {
  const std::string message = error_of("name = \"x\"\n");
  for (const char* key : {"input", "classes", "layer"}) {
    BOOST_TEST(message.find(std::string("net.toml:1:1: ") + key + ": is missing") != std::string::npos,
               message);
  }
}

BOOST_AUTO_TEST_CASE(a_run_file_takes_its_model_file_along_over_the_wire) {
  RunOptions o;
  {
    auto file = parse_run_file("model.name = \"lenet\"\ndata.name = \"mnist\"\n", "run.toml");
    BOOST_REQUIRE(file.ok());
    o = file->options;
  }
  o.model = {.name = {}, .file = "net.toml", .definition = kLenet, .onnx = {}};
  const auto back = parse_run_file(serialise(o), "wire");
  BOOST_REQUIRE_MESSAGE(back.ok(), (back.ok() ? std::string() : back.error().message));
  BOOST_TEST((back->options == o));
  const auto graph = make_graph(back->options.model);
  BOOST_REQUIRE(graph.ok());
  BOOST_TEST(graph->digest() == lenet().digest());
}

BOOST_AUTO_TEST_CASE(errors_of_a_model_file_come_with_those_of_the_run_file) {
  const auto file = parse_run_file(
      "model.definition = \"classes = 1\"\ndata.name = \"mnist\"\ntrain.batch = 0\n", "run.toml");
  BOOST_REQUIRE(!file.ok());
  const std::string& message = file.error().message;
  BOOST_TEST(message.find("run.toml:3:15: train.batch: 0 is out of range") != std::string::npos, message);
  BOOST_TEST(message.find("model.definition:1:11: classes: 1 is out of range") != std::string::npos, message);
}

BOOST_AUTO_TEST_CASE(an_unknown_model_name_is_refused_with_what_there_is) {
  const auto file = parse_run_file("model.name = \"lenett\"\ndata.name = \"mnist\"\n", "run.toml");
  BOOST_REQUIRE(!file.ok());
  BOOST_TEST(file.error().message.starts_with(
                 "run.toml:1:14: model.name: `lenett` is not known, did you mean `lenet`?; allowed: lenet, "),
             file.error().message);
}

BOOST_AUTO_TEST_CASE(an_absent_model_file_is_named_where_the_run_file_names_it) {
  const auto file =
      parse_run_file("data.name = \"mnist\"\nmodel.file = \"nonexistent.toml\"\n", "dir/run.toml");
  BOOST_REQUIRE(!file.ok());
  BOOST_TEST(file.error().message ==
             "dir/run.toml:2:14: model.file: dir/nonexistent.toml: cannot be read: No such file or "
             "directory; allowed: "
             "a file of layers, named relative to the run file");
}

}  // namespace
}  // namespace convoy::config
