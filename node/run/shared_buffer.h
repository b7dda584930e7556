// Buffers that are sent without a copy and written again when nobody reads them any more.
//
// BufferPool hands out aligned buffers of one size; one that is out as frames comes back when the last frame
// goes. CowBuffer is a value that others may hold a picture of: writing while a picture exists moves to a
// fresh buffer. Each is used by one thread; frames made from them may go to any.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/graph/scalar.h"
#include "messages/frame.h"

namespace convoy {

inline constexpr std::size_t kBufferAlignment = 64;

class AlignedBuffer {
 public:
  explicit AlignedBuffer(std::size_t size);
  Bytes bytes() { return {data_.get(), size_}; }
  ConstBytes bytes() const { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  std::unique_ptr<std::byte[], Free> data_;
  std::size_t size_;
};

class BufferPool {
 public:
  explicit BufferPool(std::size_t size) : size_(size) {}

  // One that nobody holds; content undefined. Grows when all are out.
  std::shared_ptr<AlignedBuffer> take();

 private:
  std::size_t size_;
  std::vector<std::shared_ptr<AlignedBuffer>> buffers_;
};

class CowBuffer {
 public:
  explicit CowBuffer(std::size_t size) : pool_(size), current_(pool_.take()) {}

  ConstBytes read() const { return std::as_const(*current_).bytes(); }
  // What is there now, for as long as the frame lives.
  Frame picture() const { return Frame(current_, read()); }
  // The same content, free to be changed.
  Bytes write();

 private:
  BufferPool pool_;
  std::shared_ptr<AlignedBuffer> current_;
};

}  // namespace convoy
