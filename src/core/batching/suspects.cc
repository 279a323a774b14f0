#include "core/batching/suspects.h"

#include <algorithm>

namespace wasinn::core {

void Suspects::Set(uint64_t guest, bool suspect) noexcept {
  constexpr uint32_t kMostOffences = 10;
  auto one = std::ranges::find(kept_, guest, &Suspect::guest);
  if (!suspect) {
    if (one != kept_.end() && one->successes_left > 0) --one->successes_left;
    return;
  }
  if (one == kept_.end()) {
    if (kept_.size() == kMost) {  // rather drop a guest that is in batches again
      const auto free = std::ranges::find(kept_, 0u, &Suspect::successes_left);
      kept_.erase(free == kept_.end() ? kept_.begin() : free);
    }
    one = kept_.insert(kept_.end(), Suspect{.guest = guest});
  }
  if (one->successes_left == 0) one->offences = std::min(one->offences + 1, kMostOffences);
  one->successes_left = 1u << (one->offences - 1);
}

bool Suspects::Has(uint64_t guest) const noexcept {
  const auto one = std::ranges::find(kept_, guest, &Suspect::guest);
  return one != kept_.end() && one->successes_left > 0;
}

}  // namespace wasinn::core
