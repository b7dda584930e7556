// Trained models on disk: checkpoints/<clock>/model.safetensors (tensors by PyTorch's names in PyTorch's
// layouts) beside manifest.json (what they belong to, and checksums).
//
// Free functions; any thread. A model is written beside its place, made durable and published by a rename, so
// a folder with a number for a name is always complete. Reading believes nothing: sizes, shapes and checksums
// are compared first, and an error names file and tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "actors/role.h"
#include "config/run_options.h"
#include "kernels/graph/chunks.h"
#include "kernels/graph/graph.h"
#include "kernels/graph/scalar.h"
#include "messages/base/result.h"

namespace convoy::record {

struct ModelInfo {
  std::string run_text;        // config::serialise() of the run
  config::ModelOptions model;  // name, or definition
  std::int64_t samples = 0;    // trained
};

struct StoredModel {
  std::string folder;
  Clock clock;
  ModelInfo info;
  Scalar scalar = Scalar::kF32;
  Graph graph;                  // made from info.model, its digest compared with the manifest's
  std::vector<std::byte> flat;  // the parameters, as graph.h lays them out
};

// Gives the folder that was published. kCorrupt when `save` does not hold every chunk of the table in one
// scalar type: chunks came from P-slaves.
Result<std::string> write_model(const std::string& checkpoints, const SaveModel& save,
                                const ChunkTable& chunks, const Graph& graph, const ModelInfo& info);

// The folder of the highest clock. kUsage when there is none.
Result<std::string> newest_model(const std::string& checkpoints);

Result<StoredModel> read_model(const std::string& folder);

}  // namespace convoy::record
