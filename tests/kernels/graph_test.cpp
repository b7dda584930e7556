#define BOOST_TEST_MODULE kernels_graph
#include "kernels/graph/graph.h"

#include <boost/test/unit_test.hpp>

#include "kernels/graph/choices.h"
#include "kernels/graph/chunks.h"
#include "kernels/graph/zoo.h"

using namespace convoy;

namespace {

std::string error_of(Shape input, int classes, std::vector<Layer> layers) {
  auto graph = Graph::make("g", input, classes, std::move(layers));
  return graph.ok() ? "" : graph.error().message;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_CASE(lenet_is_the_one_of_caffe) {
  const Graph g = lenet();
  BOOST_TEST(g.parameter_count() == 431080);
  BOOST_TEST((g.layer_output(0) == Shape{20, 24, 24}));
  BOOST_TEST((g.layer_output(1) == Shape{20, 12, 12}));
  BOOST_TEST((g.layer_output(2) == Shape{50, 8, 8}));
  BOOST_TEST((g.layer_output(3) == Shape{50, 4, 4}));
  BOOST_TEST((g.layer_output(4) == Shape{800, 1, 1}));
  const std::vector<std::string> names = {"conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias",
                                          "fc1.weight",   "fc1.bias",   "fc2.weight",   "fc2.bias"};
  BOOST_REQUIRE(g.parameters().size() == names.size());
  std::int64_t offset = 0;
  for (std::size_t t = 0; t < names.size(); ++t) {
    BOOST_TEST(g.parameters()[t].name == names[t]);
    BOOST_TEST(g.parameters()[t].offset == offset);
    offset += g.parameters()[t].count;
  }
  BOOST_TEST((g.parameters()[2].shape == std::vector<std::int64_t>{50, 20, 5, 5}));
  BOOST_TEST(g.parameters()[3].fan_in == 500);
  BOOST_TEST((g.parameters()[4].shape == std::vector<std::int64_t>{500, 800}));
  BOOST_TEST((g.layer_parameters(2) == ParameterRange{520, 25050}));
  BOOST_TEST(g.layer_parameters(3).count == 0);
  BOOST_TEST((g.layer_parameters(g.all_layers()) == ParameterRange{0, 431080}));
}

BOOST_AUTO_TEST_CASE(work_and_memory_are_counted_by_hand_figures) {
  const Graph g = lenet();
  BOOST_TEST(g.forward_flops(0) == 20 * 24 * 24 * (2 * 25 + 1));
  BOOST_TEST(g.backward_flops(0) == g.forward_flops(0));
  BOOST_TEST(g.forward_flops(2) == 50 * 8 * 8 * (2 * 500 + 1));
  BOOST_TEST(g.backward_flops(2) == 2 * g.forward_flops(2));
  BOOST_TEST(g.forward_flops(5) == 500 * (2 * 800 + 1));
  BOOST_TEST(g.activation_bytes(0) == 20 * 24 * 24 * 4);
  BOOST_TEST(g.activation_bytes(4) == 0);
  BOOST_TEST(g.total_activation_bytes(8) == 2 * g.total_activation_bytes(4));
}

BOOST_AUTO_TEST_CASE(every_named_model_is_found_under_its_name) {
  BOOST_REQUIRE(!model_names().empty());
  for (const std::string& name : model_names()) {
    auto graph = model_by_name(name);
    BOOST_REQUIRE(graph.ok());
    BOOST_TEST(graph->name() == name);
  }
  BOOST_TEST(model_by_name("tiny-cnn")->parameter_count() == 512);
  BOOST_TEST(model_by_name("tiny-mlp")->parameter_count() == 43);
  BOOST_TEST(model_by_name("linear-mnist")->parameter_count() == 7850);
}

BOOST_AUTO_TEST_CASE(an_unknown_model_is_answered_with_those_that_exist) {
  auto graph = model_by_name("lenett");
  BOOST_REQUIRE(!graph.ok());
  BOOST_TEST((graph.error().code == ErrorCode::kUsage));
  BOOST_TEST(contains(graph.error().message, "lenett"));
  BOOST_TEST(contains(graph.error().message, "lenet,"));
}

BOOST_AUTO_TEST_CASE(layers_that_do_not_fit_are_named) {
  const Layer loss{"loss", SoftmaxCrossEntropy{}, {}};
  BOOST_TEST(contains(error_of({1, 4, 4}, 3, {{"c", Conv2d{2, 5, 5}, {}}, loss}), "layer 0 (c, conv2d)"));
  BOOST_TEST(contains(error_of({1, 4, 4}, 3, {{"l", Linear{3}, {}}, loss}), "put a flatten layer before it"));
  BOOST_TEST(contains(error_of({4, 1, 1}, 3, {{"l", Linear{4}, {}}, loss}), "one input a class (3)"));
  BOOST_TEST(contains(error_of({4, 1, 1}, 3, {{"l", Linear{3}, {}}}), "last layer must be"));
  BOOST_TEST(
      contains(error_of({3, 1, 1}, 3, {{"a", SoftmaxCrossEntropy{}, {}}, loss}), "loss must be the last"));
  BOOST_TEST(contains(error_of({3, 1, 1}, 3, {{"loss", Relu{}, {}}, loss}), "name of its own"));
  BOOST_TEST(
      contains(error_of({3, 1, 1}, 3, {{"r", Relu{}, {}}, {"l", SoftmaxCrossEntropy{}, {0, 0}}}), "chains"));
  BOOST_TEST(
      contains(error_of({3, 4, 4}, 3, {{"c", Conv2d{.out_channels = 3, .groups = 3}, {}}, loss}), "groups"));
  BOOST_TEST(
      contains(error_of({3, 4, 4}, 3, {{"c", Conv2d{.out_channels = 3, .stride = 0}, {}}, loss}), "stride"));
  BOOST_TEST(contains(error_of({3, 4, 4}, 3, {{"p", MaxPool2d{2, 2, 2}, {}}, loss}), "half the kernel"));
  BOOST_TEST(contains(error_of({0, 4, 4}, 3, {loss}), "input shape"));
  BOOST_TEST(contains(error_of({3, 1, 1}, 1, {loss}), "two classes"));
  BOOST_TEST(contains(error_of({3, 1, 1}, 3, {}), "no layers"));
  BOOST_TEST(error_of({3, 1, 1}, 3, {loss}) == "");
}

BOOST_AUTO_TEST_CASE(absurd_sizes_are_refused_before_they_overflow) {
  const Layer loss{"loss", SoftmaxCrossEntropy{}, {}};
  const int big = 1 << 20;
  BOOST_TEST(contains(error_of({big, big, big}, 3, {loss}), "input shape"));
  BOOST_TEST(
      contains(error_of({big, 1, 1}, 3, {{"l", Linear{big}, {}}, {"m", Linear{big}, {}}, loss}), "too many"));
  BOOST_TEST(
      contains(error_of({big, 1000, 1000}, 3, {{"c", Conv2d{big, 1000, 1000}, {}}, loss}), "too many"));
}

BOOST_AUTO_TEST_CASE(the_digest_tells_functions_apart_but_not_names) {
  auto make = [](const char* name, int stride, bool bias) {
    return Graph::make(
        name, {1, 8, 8}, 2,
        {{"c",
          Conv2d{.out_channels = 2, .kernel_height = 7, .kernel_width = 7, .stride = stride, .bias = bias},
          {}},
         {"p", MaxPool2d{2, 2, 0}, {}},
         {"f", Flatten{}, {}},
         {"loss", SoftmaxCrossEntropy{}, {}}});
  };
  const Graph plain = *make("a", 1, true);
  BOOST_TEST(plain.digest() == make("b", 1, true)->digest());
  BOOST_TEST(plain.digest() != make("a", 1, false)->digest());
  BOOST_TEST(plain.digest() != lenet().digest());
}

BOOST_AUTO_TEST_CASE(chunks_cover_each_tensor_without_gaps_or_splinters) {
  const Graph g = lenet();
  for (std::int64_t bytes : {4ll, 1000ll, 64 * 1024ll, 256 * 1024ll, 1ll << 30}) {
    const ChunkTable table = make_chunks(g, bytes);
    BOOST_TEST(table.parameter_count == g.parameter_count());
    std::int64_t next = 0;
    std::vector<std::int64_t> least(g.parameters().size(), 1 << 30), most(g.parameters().size(), 0);
    for (const Chunk& c : table.chunks) {
      const Tensor& t = g.parameters()[c.tensor];
      const bool good = table[c.id] == c && c.offset == next && c.count >= 1 &&
                        c.count <= std::max<std::int64_t>(1, bytes / 4) && c.offset >= t.offset &&
                        c.range().end() <= t.range().end();
      if (!good) BOOST_ERROR("chunk " << c.id.value << " of " << bytes << " bytes is wrong");
      next = c.range().end();
      least[c.tensor] = std::min(least[c.tensor], c.count);
      most[c.tensor] = std::max(most[c.tensor], c.count);
    }
    BOOST_TEST(next == g.parameter_count());
    for (std::size_t t = 0; t < least.size(); ++t) BOOST_TEST(most[t] - least[t] <= 1);
  }
  // 400,000 weights of fc1 need seven chunks of at most 65,536.
  BOOST_TEST(make_chunks(g).size() == 4 + 7 + 1 + 2);
}

BOOST_AUTO_TEST_CASE(the_chunks_of_a_layer_are_found) {
  const Graph g = lenet();
  const ChunkTable table = make_chunks(g);
  BOOST_TEST(table.overlapping(g.layer_parameters(0)).size() == 2u);
  const auto fc1 = table.overlapping(g.layer_parameters(5));
  BOOST_REQUIRE(fc1.size() == 8u);
  BOOST_TEST(fc1.front().value == 4u);
  BOOST_TEST(fc1.back().value == 11u);
  BOOST_TEST(table.overlapping({0, 1}).size() == 1u);
  BOOST_TEST(table.overlapping({499, 2}).size() == 2u);
  BOOST_TEST(table.overlapping({500, 0}).empty());
}

BOOST_AUTO_TEST_CASE(kernel_choices_survive_their_text) {
  KernelChoices choices;
  choices.set("cpu b64 conv1 forward", "onednn any jit:avx2");
  choices.set("cpu b64 conv1 backward_weights", "own");
  auto read = KernelChoices::parse("# made on a Tuesday\n\n" + choices.to_text());
  BOOST_REQUIRE(read.ok());
  BOOST_TEST((*read == choices));
  BOOST_TEST(*read->find("cpu b64 conv1 backward_weights") == "own");
  BOOST_TEST(!read->find("cpu b64 conv2 forward"));
  KernelChoices other;
  other.set("cpu b64 conv1 forward", "other");
  other.set("x", "y");
  choices.merge(other);
  BOOST_TEST(*choices.find("cpu b64 conv1 forward") == "onednn any jit:avx2");
  BOOST_TEST(*choices.find("x") == "y");
}

BOOST_AUTO_TEST_CASE(a_wrong_line_of_kernel_choices_is_numbered) {
  for (const char* text :
       {"a = b\nc\n", "a = b\nc =\n", "a = b\n= c\n", "a = b\na = c\n", "a = b\nc = d = e\n"}) {
    auto read = KernelChoices::parse(text);
    BOOST_REQUIRE(!read.ok());
    BOOST_TEST(contains(read.error().message, "line 2"));
  }
}
