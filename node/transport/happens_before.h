// What ThreadSanitizer cannot see by itself: libzmq is not built with it, so that it does not know that
// handing a message to ZeroMQ happens before ZeroMQ gives the message back. Nothing in other builds.
#pragma once

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace convoy {

inline void handed_to_zmq([[maybe_unused]] void* token) {
#if defined(__SANITIZE_THREAD__)
  __tsan_release(token);
#endif
}

inline void back_from_zmq([[maybe_unused]] void* token) {
#if defined(__SANITIZE_THREAD__)
  __tsan_acquire(token);
#endif
}

}  // namespace convoy
