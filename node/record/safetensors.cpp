#include "node/record/safetensors.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "messages/base/check.h"
#include "node/record/json_text.h"

namespace convoy::record {
namespace {

constexpr std::size_t kLengthBytes = 8;

const char* dtype_of(Scalar scalar) {
  return scalar == Scalar::kF32 ? "F32" : "F64";
}

Error corrupt(const std::string& path, const std::string& what) {
  return {ErrorCode::kCorrupt, path + ": " + what};
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (const std::int64_t n : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(n);
  return text + "]";
}

struct Entry {
  Scalar scalar = Scalar::kF32;
  std::vector<std::int64_t> shape;
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::optional<Entry> parse_entry(const Json& json) {
  if (!json.is_object() || !json.contains("dtype") || !json.contains("shape") ||
      !json.contains("data_offsets"))
    return std::nullopt;
  Entry entry;
  if (json["dtype"] == "F32") {
    entry.scalar = Scalar::kF32;
  } else if (json["dtype"] == "F64") {
    entry.scalar = Scalar::kF64;
  } else {
    return std::nullopt;
  }
  if (!json["shape"].is_array()) return std::nullopt;
  for (const Json& n : json["shape"]) {
    if (!n.is_number_unsigned()) return std::nullopt;
    entry.shape.push_back(n.get<std::int64_t>());
  }
  const Json& offsets = json["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned()) {
    return std::nullopt;
  }
  entry.begin = offsets[0].get<std::size_t>();
  entry.end = offsets[1].get<std::size_t>();
  return entry;
}

}  // namespace

std::vector<std::byte> make_safetensors(const Graph& graph, Scalar scalar, std::span<const std::byte> flat,
                                        const std::map<std::string, std::string>& metadata) {
  const std::int64_t element = bytes_of(scalar);
  CONVOY_CHECK(static_cast<std::int64_t>(flat.size()) == graph.parameter_count() * element, flat.size());
  Json header;
  header["__metadata__"] = metadata;
  for (const Tensor& tensor : graph.parameters()) {
    header[tensor.name] = {
        {"dtype", dtype_of(scalar)},
        {"shape", tensor.shape},
        {"data_offsets", {tensor.offset * element, (tensor.offset + tensor.count) * element}}};
  }
  std::string text = dump(header);
  // Spaces, so that the tensors start at a multiple of 8.
  text.resize((text.size() + kLengthBytes - 1) / kLengthBytes * kLengthBytes, ' ');
  std::vector<std::byte> out(kLengthBytes + text.size() + flat.size());
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    out[i] = static_cast<std::byte>((std::uint64_t{text.size()} >> (8 * i)) & 0xff);
  std::memcpy(out.data() + kLengthBytes, text.data(), text.size());
  if (!flat.empty()) std::memcpy(out.data() + kLengthBytes + text.size(), flat.data(), flat.size());
  return out;
}

Result<TensorFile> parse_safetensors(const Graph& graph, std::span<const std::byte> bytes,
                                     const std::string& path) {
  if (bytes.size() < kLengthBytes)
    return corrupt(path, "is cut short: " + std::to_string(bytes.size()) + " bytes are no safetensors file");
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    length |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  if (length > bytes.size() - kLengthBytes) {
    return corrupt(path, "is cut short: its header of " + std::to_string(length) + " bytes does not fit in " +
                             std::to_string(bytes.size()));
  }
  const auto* text = reinterpret_cast<const char*>(bytes.data() + kLengthBytes);
  const Json header = Json::parse(text, text + length, nullptr, false);
  if (!header.is_object()) return corrupt(path, "its header is no JSON object");
  const std::span<const std::byte> data = bytes.subspan(kLengthBytes + static_cast<std::size_t>(length));

  TensorFile file;
  std::optional<Scalar> scalar;
  std::size_t used = 0;
  for (const Tensor& tensor : graph.parameters()) {
    const std::string name = "tensor " + tensor.name;
    if (!header.contains(tensor.name)) return corrupt(path, name + " is missing");
    const auto entry = parse_entry(header[tensor.name]);
    if (!entry) return corrupt(path, name + " is not described as F32 or F64 with shape and data_offsets");
    if (entry->shape != tensor.shape) {
      return corrupt(path, name + " has shape " + shape_text(entry->shape) + ", the model needs " +
                               shape_text(tensor.shape));
    }
    if (scalar && *scalar != entry->scalar)
      return corrupt(path, name + " is " + dtype_of(entry->scalar) + ", the others are " + dtype_of(*scalar));
    if (!scalar) {
      scalar = file.scalar = entry->scalar;
      file.flat.resize(static_cast<std::size_t>(graph.parameter_count() * bytes_of(*scalar)));
    }
    const auto element = static_cast<std::size_t>(bytes_of(*scalar));
    const std::size_t size = static_cast<std::size_t>(tensor.count) * element;
    if (entry->begin > entry->end || entry->end > data.size() || entry->end - entry->begin != size) {
      return corrupt(path, name + " is said to lie at bytes " + std::to_string(entry->begin) + " to " +
                               std::to_string(entry->end) + " of " + std::to_string(data.size()) +
                               ", and has " + std::to_string(size));
    }
    std::memcpy(file.flat.data() + static_cast<std::size_t>(tensor.offset) * element,
                data.data() + entry->begin, size);
    used += size;
  }
  const std::size_t known = graph.parameters().size() + (header.contains("__metadata__") ? 1 : 0);
  if (header.size() != known) {
    for (const auto& item : header.items()) {
      const std::string& name = item.key();
      const auto is_name = [&](const Tensor& t) { return t.name == name; };
      const auto& all = graph.parameters();
      if (name != "__metadata__" && std::none_of(all.begin(), all.end(), is_name))
        return corrupt(path, "tensor " + name + " is none of the model's");
    }
  }
  if (used != data.size())
    return corrupt(
        path, std::to_string(data.size()) + " bytes of tensors where the model has " + std::to_string(used));
  return file;
}

}  // namespace convoy::record
