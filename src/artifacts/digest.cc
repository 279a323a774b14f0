#include "artifacts/digest.h"

#include <sodium.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

namespace wasinn::artifacts {
namespace {

constexpr std::string_view kSha256 = "sha256:";
constexpr size_t kPart = 1 << 20;

std::string TextOf(crypto_hash_sha256_state& state) {
  std::array<uint8_t, crypto_hash_sha256_BYTES> hash;
  crypto_hash_sha256_final(&state, hash.data());
  std::string hex(2 * hash.size() + 1, '\0');
  sodium_bin2hex(hex.data(), hex.size(), hash.data(), hash.size());
  hex.pop_back();
  return std::string(kSha256) + hex;
}

}  // namespace

bool IsDigest(std::string_view text) {
  if (!text.starts_with(kSha256)) return false;
  const std::string_view hex = HexOf(text);
  return hex.size() == 2 * crypto_hash_sha256_BYTES && hex.find_first_not_of("0123456789abcdef") == hex.npos;
}

std::string_view HexOf(std::string_view digest) { return digest.substr(std::min(kSha256.size(), digest.size())); }

std::string DigestOf(std::string_view bytes) {
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  crypto_hash_sha256_update(&state, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  return TextOf(state);
}

std::string DigestOfFile(int fd) {
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  std::vector<uint8_t> part(kPart);
  for (off_t at = 0;;) {
    const ssize_t size = pread(fd, part.data(), part.size(), at);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return "";
    if (size == 0) return TextOf(state);
    crypto_hash_sha256_update(&state, part.data(), static_cast<unsigned long long>(size));
    at += size;
  }
}

}  // namespace wasinn::artifacts
