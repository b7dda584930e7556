// The thin layer over oneDNN that the nodes of this folder share: buffers, prepared calls, reorders. The only
// header here that knows dnnl.hpp; no header outside this folder includes it.
//
// Everything below belongs to one plan and is used by its thread. oneDNN's exceptions pass through these;
// compile() turns them into errors, while a step cannot meet one except by a bug of ours.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <oneapi/dnnl/dnnl.hpp>
#include <utility>
#include <vector>

#include "kernels/graph/graph.h"
#include "messages/base/check.h"

namespace convoy::cpu {

using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;

// Floats on a border of 64 bytes, zero at first, with room behind the end for a whole vector to be read or
// added to.
class Buffer {
 public:
  Buffer() = default;
  // `colour`: large buffers would all begin at the same place of a page, and a load is held up by an earlier
  // store that differs from it in the page alone. Buffers of different colours begin at different places.
  explicit Buffer(std::int64_t count, int colour = 0) : count_(count) {
    constexpr std::size_t kBorder = 64;
    const std::size_t shift = static_cast<std::size_t>(colour) * 11 * kBorder % 4096;
    // calloc: pages that are never touched cost nothing.
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(float) + shift + 2 * kBorder;
    memory_.reset(static_cast<std::byte*>(std::calloc(bytes, 1)));
    if (!memory_) throw std::bad_alloc();
    const std::size_t past = reinterpret_cast<std::uintptr_t>(memory_.get()) % kBorder;
    data_ = reinterpret_cast<float*>(memory_.get() + shift + (kBorder - past) % kBorder);
  }

  float* data() const { return data_; }
  std::int64_t bytes() const { return count_ * static_cast<std::int64_t>(sizeof(float)); }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  float* data_ = nullptr;
  std::int64_t count_ = 0;
};

// What the nodes of one plan share. Buffers live as long as the context.
struct Context {
  dnnl::engine engine;
  dnnl::stream stream;
  int threads = 1;
  int batch = 0;
  bool training = true;

  Buffer scratchpad;  // shared by all primitives of the plan; set by reserve_scratchpad
  std::int64_t scratchpad_count = 0;
  std::int64_t memory_bytes = 0;
  int buffers = 0;

  Buffer allocate(std::int64_t count) {
    Buffer buffer(count, buffers++);
    memory_bytes += buffer.bytes();
    return buffer;
  }
  Buffer allocate(const Desc& desc) {
    return allocate(static_cast<std::int64_t>(desc.get_size() / sizeof(float)));
  }
};

// All of a plan's primitives take their scratchpad from the context.
inline dnnl::primitive_attr user_scratchpad() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

// A primitive with its arguments in place: running it allocates nothing of ours.
class Call {
 public:
  Call() = default;
  Call(Context& context, dnnl::primitive primitive, const Desc& scratchpad,
       std::vector<std::pair<int, dnnl::memory>> args)
      : context_(&context), primitive_(std::move(primitive)), memories_(std::move(args)) {
    // Two primitives of a plan never run at once, so one scratchpad serves all; it grows here, before the
    // first run.
    const auto count = static_cast<std::int64_t>(scratchpad.get_size() / sizeof(float) + 1);
    if (scratchpad.get_size() > 0) {
      scratchpad_ = dnnl::memory(scratchpad, context.engine, nullptr);
      memories_.emplace_back(DNNL_ARG_SCRATCHPAD, scratchpad_);
      context.scratchpad_count = std::max(context.scratchpad_count, count);
    }
    for (auto& [index, memory] : memories_) args_.push_back({index, memory.get()});
  }

  explicit operator bool() const { return context_ != nullptr; }

  void set(int index, float* data) {
    for (auto& [at, memory] : memories_) {
      if (at == index) return memory.set_data_handle(data);
    }
    CONVOY_CHECK(false, index);
  }

  void run() {
    if (scratchpad_) scratchpad_.set_data_handle(context_->scratchpad.data());
    const auto status = dnnl_primitive_execute(primitive_.get(), context_->stream.get(),
                                               static_cast<int>(args_.size()), args_.data());
    CONVOY_CHECK(status == dnnl_success, "oneDNN failed to execute: ", static_cast<int>(status));
  }

 private:
  Context* context_ = nullptr;
  dnnl::primitive primitive_;
  std::vector<std::pair<int, dnnl::memory>> memories_;
  std::vector<dnnl_exec_arg_t> args_;
  dnnl::memory scratchpad_;
};

// Allocates the scratchpad that the calls made so far ask for.
inline void reserve_scratchpad(Context& context) {
  if (context.scratchpad_count * static_cast<std::int64_t>(sizeof(float)) > context.scratchpad.bytes()) {
    context.memory_bytes -= context.scratchpad.bytes();
    context.scratchpad = context.allocate(context.scratchpad_count);
  }
}

inline dnnl::memory at(Context& context, const Desc& desc, const float* data) {
  return dnnl::memory(desc, context.engine, const_cast<float*>(data));
}

inline Call reorder(Context& context, const Desc& from, const float* source, const Desc& to, float* target) {
  const dnnl::reorder::primitive_desc pd(context.engine, from, context.engine, to, user_scratchpad());
  return Call(context, dnnl::reorder(pd), pd.scratchpad_desc(),
              {{DNNL_ARG_FROM, at(context, from, source)}, {DNNL_ARG_TO, at(context, to, target)}});
}

inline dnnl::memory::dims dims_of(int batch, Shape shape) {
  return {batch, shape.channels, shape.height, shape.width};
}
inline Desc image_desc(int batch, Shape shape, Tag tag) {
  return Desc(dims_of(batch, shape), dnnl::memory::data_type::f32, tag);
}

}  // namespace convoy::cpu
