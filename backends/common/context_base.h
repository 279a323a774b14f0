// What contexts of all frameworks have.
#pragma once

#include <wasinn/backend.h>

#include <atomic>
#include <cstdint>

#include "common/error.h"

namespace wasinn::backend {

// There is no output before a compute has succeeded.
inline void CheckComputed(bool computed) {
  if (!computed) throw Error(WASINN_ERROR_INVALID_ARGUMENT, "there is no output before a compute has succeeded");
}

// One thread at a time, but for Cancel.
class ContextBase {
 public:
  ContextBase(const ContextBase&) = delete;
  ContextBase& operator=(const ContextBase&) = delete;

  // Of the next compute; 0: as the slot was told.
  void SetMaxBytes(uint64_t bytes) noexcept { max_bytes_ = bytes != 0 ? bytes : slot_max_bytes_; }
  void Cancel() { cancelled_ = true; }

 protected:
  explicit ContextBase(const wasinn_slot_options& options) : slot_max_bytes_(options.max_bytes) {}
  ~ContextBase() = default;
  // A compute; the core cancels only between its beginning and its end.
  void Begin() { computed_ = cancelled_ = false; }

  const uint64_t slot_max_bytes_;         // 0: no limit
  uint64_t max_bytes_ = slot_max_bytes_;  // of this compute
  bool computed_ = false;
  std::atomic<bool> cancelled_ = false;  // the compute that runs
};

}  // namespace wasinn::backend
