// Linux's information about this OS process.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/descriptor.h"

namespace wasinn::worker {

// /proc/self/status. It is opened while that is possible, and then always shows the current state.
class SelfStatus {
 public:
  SelfStatus();

  bool is_open() const { return file_.is_open(); }
  void Close() { file_ = base::Descriptor(); }
  // A thread that has been joined may still count for a moment.
  std::optional<uint64_t> threads() const { return Number("\nThreads:"); }
  // Whether there are that many threads, now or within a second.
  bool HasThreads(uint64_t count) const;
  // Private writable memory, which RLIMIT_DATA limits.
  std::optional<uint64_t> data_bytes() const;
  // All used addresses, which RLIMIT_AS limits.
  std::optional<uint64_t> all_bytes() const;

 private:
  std::optional<uint64_t> Bytes(std::string_view name) const;
  std::optional<uint64_t> Number(std::string_view name) const;

  base::Descriptor file_;
};

// Only then a fork is a complete copy. False if it is unknown.
inline bool HasOneThread() { return SelfStatus().threads() == 1; }

}  // namespace wasinn::worker
