// What Linux says of this OS process.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/descriptor.h"

namespace wasinn::worker {

// /proc/self/status, opened while that can be: then it tells what is so at each moment.
class SelfStatus {
 public:
  SelfStatus();

  bool is_open() const { return file_.is_open(); }
  void Close() { file_ = base::Descriptor(); }
  // A thread that has been joined may count for a moment longer.
  std::optional<uint64_t> threads() const { return Number("\nThreads:"); }
  // Whether there are so many, or are within a second.
  bool HasThreads(uint64_t count) const;
  // Private memory that can be written to, of which RLIMIT_DATA is the limit.
  std::optional<uint64_t> data_bytes() const;
  // All addresses that are in use, of which it is RLIMIT_AS.
  std::optional<uint64_t> all_bytes() const;

 private:
  std::optional<uint64_t> Bytes(std::string_view name) const;
  std::optional<uint64_t> Number(std::string_view name) const;

  base::Descriptor file_;
};

// Only then is a fork a whole copy. False where nothing can tell.
inline bool HasOneThread() { return SelfStatus().threads() == 1; }

}  // namespace wasinn::worker
