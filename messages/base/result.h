// Result<T>: a value, or the reason why there is none. For everything that comes from a peer, a file, a
// device or the network; our own bugs are CONVOY_CHECK's (check.h).
//
// A Result owns its value. Reading the value of an error, or the error of a value, is a bug and aborts.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "messages/base/check.h"

namespace convoy {

enum class ErrorCode {
  kUsage,        // command line or file is wrong: exit status 2
  kIo,           // file, device or network failed: exit status 1
  kCorrupt,      // bytes from outside do not mean what they should
  kRefused,      // a peer or a key refused
  kUnsupported,  // understood, but not to be had here
  kOutOfMemory,
};

// `message` is a full sentence for a person: what is wrong, where, and what to do.
struct Error {
  ErrorCode code = ErrorCode::kIo;
  std::string message;
};

const char* to_string(ErrorCode code);

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  const T& value() const& {
    require_ok();
    return std::get<0>(state_);
  }
  T& value() & {
    require_ok();
    return std::get<0>(state_);
  }
  T&& value() && {
    require_ok();
    return std::get<0>(std::move(state_));
  }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  const Error& error() const {
    CONVOY_CHECK(!ok(), "error() of a Result that holds a value");
    return std::get<1>(state_);
  }

 private:
  void require_ok() const { CONVOY_CHECK(ok(), "value() of an error: ", std::get<1>(state_).message); }
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    CONVOY_CHECK(!ok(), "error() of a Result that is ok");
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace convoy
