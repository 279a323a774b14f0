// From a requested target to a device that serves it.
#pragma once

#include <wasinn/backend.h>

#include <atomic>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/log.h"

namespace wasinn::backend {

// Warns once that a target's device is missing, and the CPU is used instead. Thread-safe.
class FallbackWarning {
 public:
  explicit FallbackWarning(const Log& log) : log_(log) {}

  void Give(const std::string& why) const {
    if (given_.exchange(true)) return;
    log_.Write(WASINN_LOG_WARNING, "using the CPU instead: " + why);
  }

 private:
  const Log log_;
  mutable std::atomic<bool> given_ = false;
};

// Calls `load` with one way to serve the target after another, until it does not throw. `ways()` returns them, the best
// first, and throws WASINN_ERROR_UNSUPPORTED_OPERATION if there is none. If the CPU may replace a missing device, it
// comes last, with a warning. A device that does not really work (it has no driver, for example) is recognised by a
// load that fails.
template <typename Way, typename Ways, typename Load>
void LoadOnTarget(const wasinn_load_options& options, const FallbackWarning& warning, const Way& cpu, Ways&& ways,
                  Load&& load) {
  std::vector<Way> all;
  std::string missing;
  try {
    all = ways();
  } catch (const Error& error) {
    if (options.cpu_fallback == 0 || error.code() != WASINN_ERROR_UNSUPPORTED_OPERATION) throw;
    missing = error.what();
  }
  if (options.cpu_fallback != 0 && (all.empty() || all.back() != cpu)) all.push_back(cpu);
  for (const Way& way : all) {
    const bool is_last = &way == &all.back();
    if (is_last && !missing.empty()) warning.Give(missing);
    try {
      return load(way);
    } catch (const Error& error) {
      // Its time is over on any device.
      if (is_last || error.code() == WASINN_ERROR_TIMEOUT) throw;
      missing = error.what();
    }
  }
}

}  // namespace wasinn::backend
