#include "engines/wamr/aot.h"

#include <cstdint>
#include <cstring>

namespace wasinn::wamr {
namespace {

// The magic number and the version; then the first section, of this type, with its size, type of the machine and
// features.
constexpr size_t kSectionAt = 8, kFeaturesAt = 32;
constexpr uint32_t kTargetSection = 0;
constexpr uint64_t kMultiThread = 1 << 2;

}  // namespace

bool LooksForItsEnd(std::string_view aot) {
  uint32_t section = 0;
  uint64_t features = 0;
  if (aot.size() < kFeaturesAt + sizeof features) return false;
  std::memcpy(&section, aot.data() + kSectionAt, sizeof section);
  std::memcpy(&features, aot.data() + kFeaturesAt, sizeof features);
  return section == kTargetSection && (features & kMultiThread) != 0;
}

}  // namespace wasinn::wamr
