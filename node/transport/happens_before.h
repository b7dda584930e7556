// What ThreadSanitizer cannot see by itself: libzmq and CAF are not built with it, so it does not know that
// handing something to them happens before they hand it on, nor that ZeroMQ's writes to a received message
// are over when we read it. Nothing in other builds.
#pragma once

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
extern "C" void AnnotateIgnoreReadsBegin(const char* file, int line);
extern "C" void AnnotateIgnoreReadsEnd(const char* file, int line);
#endif

namespace convoy {

#if defined(__SANITIZE_THREAD__)
// Received frames are copied by a thread that it sees, so that it watches what we do with them from there on.
inline constexpr bool kCopyAllReceived = true;
#else
inline constexpr bool kCopyAllReceived = false;
#endif

// What this thread did so far happens before what follows taken_over() of the same token elsewhere.
inline void handed_over([[maybe_unused]] void* token) {
#if defined(__SANITIZE_THREAD__)
  __tsan_release(token);
#endif
}

inline void taken_over([[maybe_unused]] void* token) {
#if defined(__SANITIZE_THREAD__)
  __tsan_acquire(token);
#endif
}

// While it lives, reads of this thread are not watched: those of bytes that ZeroMQ wrote.
class ReadsOfZmq {
 public:
  ReadsOfZmq() {
#if defined(__SANITIZE_THREAD__)
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
#endif
  }
  ~ReadsOfZmq() {
#if defined(__SANITIZE_THREAD__)
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#endif
  }
  ReadsOfZmq(const ReadsOfZmq&) = delete;
  ReadsOfZmq& operator=(const ReadsOfZmq&) = delete;
};

}  // namespace convoy
