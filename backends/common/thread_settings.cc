#include "common/thread_settings.h"

#include <algorithm>
#include <climits>

namespace wasinn::backend {

namespace {

constexpr char kKey[] = "threads";

}  // namespace

int ThreadBudget(uint32_t budget) { return static_cast<int>(std::clamp<uint32_t>(budget, 1, INT_MAX)); }

int BackendThreads(const Config& backend, uint32_t budget) {
  const int most = ThreadBudget(budget);
  return static_cast<int>(backend.Integer(kKey, 1, most).value_or(most));
}

int ModelThreads(const Config& host, const Config& guest, int most, int usual) {
  const int64_t threads = host.Integer(kKey, 1, most).value_or(usual);
  return static_cast<int>(std::min(guest.Integer(kKey, 1, INT_MAX).value_or(threads), threads));
}

}  // namespace wasinn::backend
