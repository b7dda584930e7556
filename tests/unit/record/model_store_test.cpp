// Trained models on disk: the format as others read it, and what is noticed when bytes change.
#include "node/record/model_store.h"

#include <cstring>

#include "kernels/graph/zoo.h"
#include "tests/unit/record/support.h"

namespace convoy::record {
namespace {

template <class T>
SaveModel make_save(const ChunkTable& table) {
  SaveModel save;
  save.clock = Clock(1234);
  save.encoding = std::is_same_v<T, float> ? Encoding::kF32 : Encoding::kF64;
  for (const Chunk& chunk : table.chunks) {
    std::vector<T> values(static_cast<std::size_t>(chunk.count));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<T>(chunk.offset + static_cast<std::int64_t>(i)) / 7;
    save.chunks.push_back({chunk.id, Frame::copy_of(std::as_bytes(std::span<const T>(values)))});
  }
  return save;
}

struct Saved {
  Saved() {
    folder = require(write_model(home / "checkpoints", make_save<float>(table), table, graph, info));
  }
  TemporaryFolder home;
  Graph graph = tiny_cnn();
  ChunkTable table = make_chunks(graph, 256);
  ModelInfo info{"run.seed = 7\n", {.name = "tiny-cnn"}, 640};
  std::string folder;
};

std::uint64_t header_length(const std::string& file) {
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < 8; ++i) length |= std::uint64_t{static_cast<unsigned char>(file[i])} << (8 * i);
  return length;
}

std::string error_of(const std::string& folder) {
  const auto model = read_model(folder);
  BOOST_REQUIRE(!model.ok());
  BOOST_TEST((model.error().code == ErrorCode::kCorrupt));
  return model.error().message;
}

BOOST_AUTO_TEST_CASE(a_model_comes_back_as_it_was) {
  const Saved saved;
  BOOST_REQUIRE(saved.table.size() >
                static_cast<int>(saved.graph.parameters().size()));  // chunks split tensors
  const StoredModel model = require(read_model(saved.folder));
  BOOST_TEST(model.clock == Clock(1234));
  BOOST_TEST(model.info.samples == 640);
  BOOST_TEST(model.info.run_text == saved.info.run_text);
  BOOST_TEST((model.scalar == Scalar::kF32));
  BOOST_TEST(model.graph.digest() == saved.graph.digest());
  const auto values = elements<float>(ConstBytes(model.flat));
  BOOST_REQUIRE(static_cast<std::int64_t>(values.size()) == saved.graph.parameter_count());
  for (std::size_t i = 0; i < values.size(); ++i) BOOST_REQUIRE(values[i] == static_cast<float>(i) / 7);
}

BOOST_AUTO_TEST_CASE(doubles_stay_doubles) {
  const TemporaryFolder home;
  const Graph graph = tiny_mlp();
  const ChunkTable table = make_chunks(graph);
  const std::string folder = require(
      write_model(home.path(), make_save<double>(table), table, graph, {"", {.name = "tiny-mlp"}, 0}));
  const StoredModel model = require(read_model(folder));
  BOOST_TEST((model.scalar == Scalar::kF64));
  BOOST_TEST(elements<double>(ConstBytes(model.flat))[5] == 5.0 / 7);
}

BOOST_AUTO_TEST_CASE(the_file_is_what_others_call_safetensors) {
  const Saved saved;
  const std::string file = read_file(saved.folder + "/model.safetensors");
  const std::uint64_t length = header_length(file);
  BOOST_REQUIRE(length + 8 < file.size());
  BOOST_TEST((8 + length) % 8 == 0u);
  BOOST_TEST(file[8] == '{');
  const Json header = Json::parse(file.substr(8, length));
  BOOST_TEST(header["__metadata__"]["format"] == "pt");
  BOOST_TEST(header.size() == saved.graph.parameters().size() + 1);
  std::size_t end = 0;
  for (const Tensor& t : saved.graph.parameters()) {
    BOOST_TEST_CONTEXT(t.name) {
      BOOST_REQUIRE(header.contains(t.name));
      const Json& h = header[t.name];
      BOOST_TEST(h["dtype"] == "F32");
      BOOST_TEST(h["shape"].get<std::vector<std::int64_t>>() == t.shape, boost::test_tools::per_element());
      BOOST_TEST(h["data_offsets"][0].get<std::size_t>() == end);  // in order, without gaps
      end = h["data_offsets"][1].get<std::size_t>();
      float last = 0;
      std::memcpy(&last, file.data() + 8 + length + end - 4, 4);
      BOOST_TEST(last == static_cast<float>(t.offset + t.count - 1) / 7);
    }
  }
  BOOST_TEST(8 + length + end == file.size());
}

BOOST_AUTO_TEST_CASE(the_manifest_says_what_the_model_belongs_to) {
  const Saved saved;
  const Json manifest = Json::parse(read_file(saved.folder + "/manifest.json"));
  BOOST_TEST(manifest["clock"] == 1234);
  BOOST_TEST(manifest["scalar"] == "fp32");
  BOOST_TEST(manifest["model"]["name"] == "tiny-cnn");
  BOOST_TEST(manifest["run"] == saved.info.run_text);
  BOOST_TEST(manifest["file"]["bytes"] == std::filesystem::file_size(saved.folder + "/model.safetensors"));
  BOOST_TEST(manifest["file"]["sha256"].get<std::string>().size() == 64u);
}

BOOST_AUTO_TEST_CASE(only_whole_models_have_a_number_for_a_name) {
  const Saved saved;
  for (const auto& e : std::filesystem::directory_iterator(saved.home / "checkpoints"))
    BOOST_TEST(e.path().filename().string() == "1234");
}

BOOST_AUTO_TEST_CASE(saving_the_same_clock_again_replaces_the_model) {
  const Saved saved;
  SaveModel other = make_save<float>(saved.table);
  std::vector<float> twos(static_cast<std::size_t>(saved.table.chunks[0].count), 2.0f);
  other.chunks[0].bytes = Frame::copy_of(std::as_bytes(std::span<const float>(twos)));
  const std::string folder =
      require(write_model(saved.home / "checkpoints", other, saved.table, saved.graph, saved.info));
  BOOST_TEST(folder == saved.folder);
  BOOST_TEST(elements<float>(ConstBytes(require(read_model(folder)).flat))[0] == 2.0f);
}

BOOST_AUTO_TEST_CASE(the_newest_model_is_the_one_of_the_highest_clock) {
  const Saved saved;
  const std::string checkpoints = saved.home / "checkpoints";
  for (const char* name : {"99", "20000", ".tmp-30000", "40000x"})
    std::filesystem::create_directories(checkpoints + "/" + name);
  BOOST_TEST(require(newest_model(checkpoints)) == checkpoints + "/20000");
  const auto none = newest_model(saved.home / "nowhere");
  BOOST_REQUIRE(!none.ok());
  BOOST_TEST((none.error().code == ErrorCode::kUsage));
}

BOOST_AUTO_TEST_CASE(a_changed_byte_is_found_with_its_tensor_and_file) {
  const Saved saved;
  const std::string path = saved.folder + "/model.safetensors";
  const std::string file = read_file(path);
  const std::uint64_t start = 8 + header_length(file);
  for (const Tensor& t : saved.graph.parameters()) {
    std::string damaged = file;
    damaged[start + static_cast<std::size_t>(t.offset) * 4] ^= 1;
    write_file(path, damaged);
    const std::string text = error_of(saved.folder);
    BOOST_TEST(contains(text, path));
    BOOST_TEST(contains(text, "tensor " + t.name + " was changed"), text);
  }
}

BOOST_AUTO_TEST_CASE(a_file_cut_short_anywhere_is_an_error) {
  const Saved saved;
  const std::string path = saved.folder + "/model.safetensors";
  const std::string file = read_file(path);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{5}, std::size_t{8}, std::size_t{40}, file.size() - 1}) {
    write_file(path, file.substr(0, size));
    BOOST_TEST(contains(error_of(saved.folder), path));
  }
  write_file(path, file + "x");
  BOOST_TEST(contains(error_of(saved.folder), path));
}

BOOST_AUTO_TEST_CASE(a_hostile_header_is_refused_before_it_is_used) {
  const Saved saved;
  const std::string path = saved.folder + "/model.safetensors";
  const std::string file = read_file(path);
  const std::string name = saved.graph.parameters()[0].name;
  const auto with_header = [&](const Json& header) {
    std::string text = header.dump();
    std::string out;
    for (int i = 0; i < 8; ++i) out += static_cast<char>((text.size() >> (8 * i)) & 0xff);
    return out + text + file.substr(8 + header_length(file));
  };
  const Json good = Json::parse(file.substr(8, header_length(file)));
  std::vector<Json> bad(8, good);
  bad[0][name]["data_offsets"] = {0, 18446744073709551615ull};
  bad[1][name]["data_offsets"] = {16, 8};
  bad[2][name]["data_offsets"] = {-8, 8};
  bad[3][name]["shape"] = {1};
  bad[4][name]["dtype"] = "I8";
  bad[5].erase(name);
  bad[6]["stranger"] = good[name];
  bad[7] = Json::array();
  for (const Json& header : bad) {
    write_file(path, with_header(header));
    BOOST_TEST(contains(error_of(saved.folder), path), header.dump());
  }
  write_file(path, std::string(8, '\xff') + file.substr(8));
  BOOST_TEST(contains(error_of(saved.folder), "cut short"));
}

BOOST_AUTO_TEST_CASE(a_manifest_that_is_not_one_is_an_error) {
  const Saved saved;
  const std::string path = saved.folder + "/manifest.json";
  const Json good = Json::parse(read_file(path));
  Json other = good;
  other["graph_digest"] = "0000000000000000";
  Json empty = good;
  empty["tensors"] = Json::array();
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{\"format\": 3}"), other.dump(), empty.dump()}) {
    write_file(path, text);
    BOOST_TEST(contains(error_of(saved.folder), path), text);
  }
}

BOOST_AUTO_TEST_CASE(a_model_that_misses_a_chunk_is_not_published) {
  const TemporaryFolder home;
  const Graph graph = tiny_cnn();
  const ChunkTable table = make_chunks(graph, 256);
  const auto write = [&](const SaveModel& save) {
    auto written = write_model(home / "checkpoints", save, table, graph, {"", {.name = "tiny-cnn"}, 0});
    BOOST_REQUIRE(!written.ok());
    BOOST_TEST((written.error().code == ErrorCode::kCorrupt));
    BOOST_TEST(!std::filesystem::exists(home / "checkpoints/1234"));
  };
  SaveModel missing = make_save<float>(table);
  missing.chunks.pop_back();
  write(missing);
  SaveModel short_one = make_save<float>(table);
  short_one.chunks[1].bytes = Frame::of(std::vector<std::byte>(4));
  write(short_one);
  SaveModel stranger = make_save<float>(table);
  stranger.chunks[0].chunk = ChunkId(10'000);
  write(stranger);
  SaveModel half = make_save<float>(table);
  half.encoding = Encoding::kF16;
  write(half);
}

}  // namespace
}  // namespace convoy::record
