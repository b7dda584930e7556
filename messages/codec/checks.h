// Inside the codec: the rules of the schema that are about more than one field, or about what a value may be.
//
// Refusal is thrown and caught within decode and never leaves the library; it stands beside
// kj::Exception, which Cap'n Proto throws at the same places. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "messages/base/interval_set.h"
#include "messages/messages.h"
#include "messages/view_record.h"

namespace convoy::codec {

// What is wrong with a message, as the end of a sentence.
struct Refusal {
  std::string what;
};

[[noreturn]] void refuse(std::string what);

// Within [0, limits::kMaxCount).
std::int64_t checked_count(std::int64_t value, const char* what);
std::uint64_t checked_sequence(std::uint64_t value, const char* what);
// Finite or positive infinity.
double checked_loss(double value);

// A line has no control characters; a text may have line ends and tabs.
enum class TextKind { kLine, kText };
void check_text(std::string_view text, std::size_t max_bytes, TextKind kind, const char* what);
// The nearest text that check_text lets pass.
std::string clean_text(std::string_view text, std::size_t max_bytes);

// Size is right for the encoding, where that can be told without the model.
void check_tensor_size(Encoding encoding, std::size_t bytes);
void check_chunks_unique(std::span<const ChunkData> chunks);
// `what` is their name, in the plural.
void check_chunks_ascend(std::span<const ChunkId> chunks, const char* what);
void check_leases_ascend(std::span<const Lease> leases);
void check_record(const ViewRecord& record);
void check_sources(std::span<const ChunkSource> sources);
void check_replicate(const Replicate& replicate);

}  // namespace convoy::codec
