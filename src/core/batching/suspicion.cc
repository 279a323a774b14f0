#include "core/batching/suspicion.h"

#include <algorithm>
#include <functional>

namespace wasinn::core {
namespace {

using Duration = UsualTimes::Duration;

Duration Longer(Duration took, Duration usual) { return std::max(took, usual - usual / 16); }

}  // namespace

void Suspects::Set(uint64_t guest, bool suspect) noexcept {
  constexpr uint32_t kMaxOffences = 10;
  auto one = std::ranges::find(kept_, guest, &Suspect::guest);
  if (!suspect) {
    if (one != kept_.end() && one->successes_left > 0) --one->successes_left;
    return;
  }
  if (one == kept_.end()) {
    if (kept_.size() == kMax) {  // rather drop a guest that is in batches again
      const auto free = std::ranges::find(kept_, 0u, &Suspect::successes_left);
      kept_.erase(free == kept_.end() ? kept_.begin() : free);
    }
    one = kept_.insert(kept_.end(), Suspect{.guest = guest});
  }
  if (one->successes_left == 0) one->offences = std::min(one->offences + 1, kMaxOffences);
  one->successes_left = 1u << (one->offences - 1);
}

bool Suspects::Has(uint64_t guest) const noexcept {
  const auto one = std::ranges::find(kept_, guest, &Suspect::guest);
  return one != kept_.end() && one->successes_left > 0;
}

// One row may take as long as many together, or time may grow in proportion to the rows.
Duration UsualTimes::Limit(const Usual& usual, uint32_t rows) noexcept {
  constexpr int kLongestOfUsual = 10;
  constexpr std::chrono::milliseconds kShortest{100};
  return std::max<Duration>(std::max(usual.whole, usual.row * rows) * kLongestOfUsual, kShortest);
}

const UsualTimes::Usual* UsualTimes::Find(size_t shape) const noexcept {
  const auto* const found =
      std::ranges::find_if(kept_, [shape](const Usual& one) { return one.learnt != 0 && one.shape == shape; });
  return found == kept_.end() ? nullptr : found;
}

Duration UsualTimes::LimitOf(std::string_view shape, uint32_t rows) const noexcept {
  const Usual* const usual = Find(std::hash<std::string_view>()(shape));
  return usual == nullptr ? kUnknown : Limit(*usual, rows);
}

void UsualTimes::Learn(std::string_view shape, uint32_t rows, Duration took) noexcept {
  const size_t hash = std::hash<std::string_view>()(shape);
  const Usual* const known = Find(hash);
  Usual usual = known == nullptr ? Usual{.shape = hash} : *known;
  if (known != nullptr) took = std::min(took, Limit(usual, rows));
  usual.whole = Longer(took, usual.whole);
  usual.row = Longer(took / rows, usual.row);
  usual.learnt = ++lessons_;
  const size_t place = known == nullptr
                           ? static_cast<size_t>(std::ranges::min_element(kept_, {}, &Usual::learnt) - kept_.begin())
                           : static_cast<size_t>(known - kept_.data());
  kept_[place] = usual;
}

}  // namespace wasinn::core
