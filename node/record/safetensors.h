// The safetensors format: 8 bytes of little-endian header length, a JSON header that says where each tensor
// lies, then the bytes. Read by PyTorch, numpy and others. Internal to node/record.
//
// Pure functions; any thread. Parsing believes nothing: every size is checked before it is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "kernels/graph/graph.h"
#include "kernels/graph/scalar.h"
#include "messages/base/result.h"

namespace convoy::record {

// The graph's parameters in their order. REQUIRES: flat.size() == parameter_count x bytes_of(scalar).
std::vector<std::byte> make_safetensors(const Graph& graph, Scalar scalar, std::span<const std::byte> flat,
                                        const std::map<std::string, std::string>& metadata);

struct TensorFile {
  Scalar scalar = Scalar::kF32;
  std::vector<std::byte> flat;  // as graph.h lays it out
};

// Exactly the graph's tensors, in any order, all of one scalar type. kCorrupt names `path` and the tensor.
Result<TensorFile> parse_safetensors(const Graph& graph, std::span<const std::byte> bytes,
                                     const std::string& path);

}  // namespace convoy::record
