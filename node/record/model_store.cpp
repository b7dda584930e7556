#include "node/record/model_store.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>

#include "config/model_file.h"
#include "node/record/files.h"
#include "node/record/json_text.h"
#include "node/record/safetensors.h"

namespace convoy::record {
namespace fs = std::filesystem;
namespace {

constexpr const char* kFormat = "convoy-model";
constexpr int kFormatVersion = 1;
constexpr const char* kTensors = "model.safetensors";
constexpr const char* kManifest = "manifest.json";

Error corrupt(const std::string& path, const std::string& what) {
  return {ErrorCode::kCorrupt, path + ": " + what};
}

// The chunks as one flat buffer.
Result<std::vector<std::byte>> gather(const SaveModel& save, const ChunkTable& chunks, const Graph& graph,
                                      Scalar scalar) {
  const auto element = static_cast<std::size_t>(bytes_of(scalar));
  std::vector<std::byte> flat(static_cast<std::size_t>(chunks.parameter_count) * element);
  std::vector<bool> there(chunks.chunks.size(), false);
  for (const ChunkData& data : save.chunks) {
    if (data.chunk.value >= chunks.chunks.size())
      return Error{ErrorCode::kCorrupt, "the P-slaves sent a chunk " + std::to_string(data.chunk.value) +
                                            ", the model has " + std::to_string(chunks.chunks.size())};
    const Chunk& chunk = chunks[data.chunk];
    const std::size_t size = static_cast<std::size_t>(chunk.count) * element;
    if (data.bytes.size() != size) {
      return Error{ErrorCode::kCorrupt, "the P-slaves sent " + std::to_string(data.bytes.size()) +
                                            " bytes of a chunk of tensor " +
                                            graph.parameters()[static_cast<std::size_t>(chunk.tensor)].name +
                                            " that has " + std::to_string(size)};
    }
    std::memcpy(flat.data() + static_cast<std::size_t>(chunk.offset) * element, data.bytes.data(), size);
    there[data.chunk.value] = true;
  }
  for (const Chunk& chunk : chunks.chunks) {
    if (!there[chunk.id.value]) {
      return Error{ErrorCode::kCorrupt, "the P-slaves sent no chunk " + std::to_string(chunk.id.value) +
                                            ", part of tensor " +
                                            graph.parameters()[static_cast<std::size_t>(chunk.tensor)].name};
    }
  }
  return flat;
}

std::span<const std::byte> bytes_of_tensor(const Tensor& tensor, Scalar scalar,
                                           std::span<const std::byte> flat) {
  const auto element = static_cast<std::size_t>(bytes_of(scalar));
  return flat.subspan(static_cast<std::size_t>(tensor.offset) * element,
                      static_cast<std::size_t>(tensor.count) * element);
}

std::string hex(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

std::string make_manifest(const SaveModel& save, const Graph& graph, const ModelInfo& info, Scalar scalar,
                          std::span<const std::byte> flat, std::span<const std::byte> file) {
  Json json;
  json["format"] = kFormat;
  json["version"] = kFormatVersion;
  json["clock"] = save.clock.value;
  json["samples"] = info.samples;
  json["scalar"] = to_string(scalar);
  json["model"] = {{"name", info.model.name}, {"definition", info.model.definition}};
  json["graph_digest"] = hex(graph.digest());
  json["run"] = info.run_text;
  json["file"] = {{"name", kTensors}, {"bytes", file.size()}, {"sha256", sha256(file)}};
  json["tensors"] = Json::array();
  for (const Tensor& t : graph.parameters()) {
    json["tensors"].push_back(
        {{"name", t.name}, {"shape", t.shape}, {"sha256", sha256(bytes_of_tensor(t, scalar, flat))}});
  }
  return dump(json, 2) + "\n";
}

// Fields of a manifest; throws what nlohmann throws when they are missing.
struct Manifest {
  Clock clock;
  ModelInfo info;
  std::string scalar;
  std::string graph_digest;
  std::string sha256;
  std::map<std::string, std::string> tensors;  // name -> checksum
};

Result<Manifest> read_manifest(const std::string& path) {
  auto text = read_text(path);
  if (!text) return text.error();
  const Json json = Json::parse(*text, nullptr, false);
  if (json.is_discarded()) return corrupt(path, "is no JSON");
  try {
    if (json.at("format").get<std::string>() != kFormat) return corrupt(path, "is no manifest of a model");
    if (json.at("version").get<int>() != kFormatVersion) {
      return Error{ErrorCode::kUnsupported, path + ": is of format version " + json.at("version").dump() +
                                                ", this build knows " + std::to_string(kFormatVersion)};
    }
    Manifest m;
    m.clock = Clock(json.at("clock").get<std::int64_t>());
    m.info.samples = json.at("samples").get<std::int64_t>();
    m.info.run_text = json.at("run").get<std::string>();
    m.info.model.name = json.at("model").at("name").get<std::string>();
    m.info.model.definition = json.at("model").at("definition").get<std::string>();
    m.scalar = json.at("scalar").get<std::string>();
    m.graph_digest = json.at("graph_digest").get<std::string>();
    m.sha256 = json.at("file").at("sha256").get<std::string>();
    for (const Json& t : json.at("tensors"))
      m.tensors[t.at("name").get<std::string>()] = t.at("sha256").get<std::string>();
    return m;
  } catch (const Json::exception& e) {
    return corrupt(path, std::string("is no manifest of a model: ") + e.what());
  }
}

}  // namespace

Result<std::string> write_model(const std::string& checkpoints, const SaveModel& save,
                                const ChunkTable& chunks, const Graph& graph, const ModelInfo& info) {
  if (save.encoding != Encoding::kF32 && save.encoding != Encoding::kF64)
    return Error{ErrorCode::kCorrupt, "the P-slaves sent the model in an encoding that is not its own"};
  const Scalar scalar = save.encoding == Encoding::kF32 ? Scalar::kF32 : Scalar::kF64;
  auto flat = gather(save, chunks, graph, scalar);
  if (!flat) return flat.error();
  const std::vector<std::byte> file = make_safetensors(graph, scalar, *flat, {{"format", "pt"}});
  const std::string manifest = make_manifest(save, graph, info, scalar, *flat, file);

  const std::string name = std::to_string(save.clock.value);
  const std::string folder = checkpoints + "/" + name;
  const std::string temporary = checkpoints + "/.tmp-" + name;
  const std::string replaced = checkpoints + "/.tmp-old-" + name;
  std::error_code error;
  fs::create_directories(checkpoints, error);
  if (error) return system_error(checkpoints, "create the folder", error.value());
  fs::remove_all(temporary, error);
  fs::remove_all(replaced, error);
  fs::create_directory(temporary, error);
  if (error) return system_error(temporary, "create the folder", error.value());
  if (auto done = write_durably(temporary + "/" + kTensors, file); !done) return done.error();
  if (auto done = write_durably(temporary + "/" + kManifest, std::as_bytes(std::span(manifest))); !done)
    return done.error();
  if (auto done = sync_folder(temporary); !done) return done.error();
  // The model of the same clock of an earlier attempt makes room.
  if (fs::exists(folder, error)) fs::rename(folder, replaced, error);
  fs::rename(temporary, folder, error);
  if (error) return system_error(folder, "publish the model", error.value());
  fs::remove_all(replaced, error);
  if (auto done = sync_folder(checkpoints); !done) return done.error();
  return folder;
}

Result<std::string> newest_model(const std::string& checkpoints) {
  std::error_code error;
  std::int64_t newest = -1;
  for (fs::directory_iterator at(checkpoints, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    std::int64_t clock = -1;
    const auto [stop, problem] = std::from_chars(name.data(), name.data() + name.size(), clock);
    if (problem == std::errc{} && stop == name.data() + name.size()) newest = std::max(newest, clock);
  }
  if (newest < 0)
    return Error{ErrorCode::kUsage, checkpoints + ": holds no model: the run has saved none (yet)"};
  return checkpoints + "/" + std::to_string(newest);
}

Result<StoredModel> read_model(const std::string& folder) {
  const std::string manifest_path = folder + "/" + kManifest;
  const std::string path = folder + "/" + kTensors;
  auto manifest = read_manifest(manifest_path);
  if (!manifest) return manifest.error();
  auto graph = config::make_graph(manifest->info.model);
  if (!graph) return corrupt(manifest_path, "its model cannot be made: " + graph.error().message);
  if (hex(graph->digest()) != manifest->graph_digest)
    return corrupt(manifest_path, "was made for another definition of model \"" + manifest->info.model.name +
                                      "\" than this build has");
  auto bytes = read_bytes(path);
  if (!bytes) return bytes.error();
  auto file = parse_safetensors(*graph, *bytes, path);
  if (!file) return file.error();
  for (const Tensor& t : graph->parameters()) {
    const auto expected = manifest->tensors.find(t.name);
    if (expected == manifest->tensors.end())
      return corrupt(manifest_path, "has no checksum for tensor " + t.name);
    if (sha256(bytes_of_tensor(t, file->scalar, file->flat)) != expected->second)
      return corrupt(path, "tensor " + t.name + " was changed: its checksum is another than the manifest's");
  }
  if (manifest->scalar != to_string(file->scalar))
    return corrupt(manifest_path,
                   "says " + manifest->scalar + ", the tensors are " + to_string(file->scalar));
  if (sha256(*bytes) != manifest->sha256)
    return corrupt(path, "was changed: its checksum is another than the manifest's");
  return StoredModel{folder,       manifest->clock,   std::move(manifest->info),
                     file->scalar, std::move(*graph), std::move(file->flat)};
}

}  // namespace convoy::record
