// From the text of a run file to what a node computes with: graph, chunk table, scalar type, schedule,
// protocol options.
//
// Pure functions of options and data; any thread.
#pragma once

#include <memory>
#include <string>

#include "config/run_options.h"
#include "kernels/graph/backend.h"
#include "kernels/graph/chunks.h"
#include "kernels/graph/graph.h"
#include "kernels/graph/scalar.h"
#include "kernels/reference/schedule.h"
#include "messages/base/result.h"
#include "messages/messages.h"

namespace convoy {

// What every node derives from the run alone, the same everywhere.
struct RunSetup {
  config::RunOptions options;
  Graph graph;
  ChunkTable chunks;
  Scalar scalar = Scalar::kF32;
};

Result<RunSetup> make_setup(const config::RunOptions& options);
// Of the text that Welcome carries.
Result<RunSetup> parse_setup(const std::string& run_text);

// `sample_count`: N of the data set.
SyncOptions protocol_options(const config::RunOptions& options, std::int64_t sample_count);
Schedule schedule_of(const config::RunOptions& options);
Encoding encoding_of(Scalar scalar);

// The device's back end, or why this machine or run cannot have it.
Result<std::unique_ptr<Backend>> make_backend(const config::WSlaveOptions& device, Scalar scalar,
                                              bool measure);

// Whether the tensor frames of a message are those that the chunk table promises. Roles trust it.
Result<void> check_tensors(const Message& message, const RunSetup& setup);

// Of how many tensors of its size a chunk's whole state consists: parameters, momentum, weight average.
std::size_t state_parts(const config::RunOptions& options);

}  // namespace convoy
