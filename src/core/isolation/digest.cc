#include "core/isolation/digest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sodium.h>

#include <array>

namespace wasinn::isolation {

std::string DigestOf(std::span<const uint8_t> bytes) {
  std::array<uint8_t, crypto_generichash_BYTES> digest = {};
  crypto_generichash(digest.data(), digest.size(), bytes.data(), bytes.size(), nullptr, 0);
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace wasinn::isolation
