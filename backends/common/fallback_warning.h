// A target's device is missing, and the CPU serves in its place: said once.
#ifndef WASINN_BACKENDS_COMMON_FALLBACK_WARNING_H_
#define WASINN_BACKENDS_COMMON_FALLBACK_WARNING_H_

#include <atomic>
#include <string>

#include "common/log.h"

namespace wasinn::backend {

// Any thread.
class FallbackWarning {
 public:
  // `backend` is kept: a literal.
  FallbackWarning(const Log& log, const char* backend) : log_(log), backend_(backend) {}

  void Give(const std::string& why) const {
    if (given_.exchange(true)) return;
    log_.Write(WASINN_LOG_WARNING, std::string(backend_) + ": using the CPU instead: " + why);
  }

 private:
  const Log log_;
  const char* const backend_;
  mutable std::atomic<bool> given_ = false;
};

}  // namespace wasinn::backend

#endif  // WASINN_BACKENDS_COMMON_FALLBACK_WARNING_H_
