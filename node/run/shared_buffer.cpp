#include "node/run/shared_buffer.h"

#include <cstring>
#include <new>

namespace convoy {
namespace {

// What other holders did before they let go happens before what follows. use_count(), by which we know that
// they have, reads relaxed.
void after_other_holders([[maybe_unused]] const std::shared_ptr<AlignedBuffer>& ours) {
#if defined(__SANITIZE_THREAD__)
  (void)std::weak_ptr<AlignedBuffer>(ours).lock();  // acquires from the count; it does not understand fences
#else
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
}

}  // namespace

AlignedBuffer::AlignedBuffer(std::size_t size)
    : data_(static_cast<std::byte*>(::operator new[](size, std::align_val_t(kBufferAlignment)))),
      size_(size) {}

void AlignedBuffer::Free::operator()(std::byte* p) const {
  ::operator delete[](p, std::align_val_t(kBufferAlignment));
}

std::shared_ptr<AlignedBuffer> BufferPool::take() {
  for (std::shared_ptr<AlignedBuffer>& b : buffers_) {
    if (b.use_count() == 1) {
      after_other_holders(b);
      return b;
    }
  }
  buffers_.push_back(std::make_shared<AlignedBuffer>(size_));
  return buffers_.back();
}

Bytes CowBuffer::write() {
  // The pool and we ourselves hold the current one; any other holder is a picture.
  if (current_.use_count() > 2) {
    std::shared_ptr<AlignedBuffer> fresh = pool_.take();
    std::memcpy(fresh->bytes().data(), read().data(), read().size());
    current_ = std::move(fresh);
  } else {
    after_other_holders(current_);
  }
  return current_->bytes();
}

}  // namespace convoy
