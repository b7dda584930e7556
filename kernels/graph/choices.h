// KernelChoices: which implementation computes each operation, so that a run can be repeated bit for bit. A
// back end adds what it chose while compiling and follows what is already there (backend.h). The same
// choices, batch sizes, thread count and machine type give the same bits.
//
// A value; one thread at a time.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "messages/base/result.h"

namespace convoy {

class KernelChoices {
 public:
  // Keys name back end, threads, batch, layer and direction ("cpu t1 b64 conv1 backward_weights"), values the
  // implementation. Neither may hold '=' or a line break.
  void set(std::string key, std::string implementation);
  const std::string* find(const std::string& key) const;  // null: not chosen yet

  bool empty() const { return entries_.empty(); }
  const std::map<std::string, std::string>& entries() const { return entries_; }
  // Adds what `other` knows; what is here stays.
  void merge(const KernelChoices& other);

  // A line "key = implementation" each, sorted: the format of kernels.record and kernels.replay. Empty lines
  // and lines that start with '#' are skipped; an error names the line.
  std::string to_text() const;
  static Result<KernelChoices> parse(std::string_view text);

  friend bool operator==(const KernelChoices&, const KernelChoices&) = default;

 private:
  std::map<std::string, std::string> entries_;
};

}  // namespace convoy
