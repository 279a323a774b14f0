#include "engines/wasmtime/precompiled.h"

#include <sodium.h>

#include <array>
#include <cstring>
#include <optional>

namespace wasinn::wasmtime {
namespace {

using engines::MemoryType;
using engines::Result;

// A file has the code, then the kind, the settings and the memories with their number, a digest of all that, this mark.
constexpr std::string_view kEnd("wasinn\0\1", 8);
constexpr size_t kDigest = 32;
constexpr uint8_t kInterruptible = 1, kMetered = 2;

template <typename T>
void Put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Reads from the end of bytes, until there are no more.
class Backwards {
 public:
  explicit Backwards(std::string_view bytes) : rest_(bytes) {}
  template <typename T>
  bool Take(T& value) {
    if (rest_.size() < sizeof value) return false;
    std::memcpy(&value, rest_.data() + rest_.size() - sizeof value, sizeof value);
    rest_.remove_suffix(sizeof value);
    return true;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

std::array<char, kDigest> DigestOf(std::string_view bytes) {
  std::array<char, kDigest> digest = {};
  crypto_generichash(reinterpret_cast<uint8_t*>(digest.data()), digest.size(),
                     reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), nullptr, 0);
  return digest;
}

std::optional<Precompiled> Parse(std::string_view bytes) {
  Backwards reader(bytes);
  uint8_t kind = 0, settings = 0;
  uint32_t count = 0;
  if (!reader.Take(kind) || !reader.Take(settings) || !reader.Take(count)) return std::nullopt;
  if (kind > static_cast<uint8_t>(ProgramKind::kAsyncComponent)) return std::nullopt;
  Precompiled program{.kind = static_cast<ProgramKind>(kind),
                      .interruptible = (settings & kInterruptible) != 0,
                      .metered = (settings & kMetered) != 0,
                      .memories = {},
                      .code = {}};
  for (; count > 0; --count) {
    MemoryType memory;
    uint8_t shared = 0;
    if (!reader.Take(shared) || !reader.Take(memory.max) || !reader.Take(memory.min)) return std::nullopt;
    memory.shared = shared != 0;
    program.memories.push_back(memory);
  }
  program.code = reader.rest();
  return program;
}

}  // namespace

std::string WritePrecompiled(const Precompiled& program) {
  std::string bytes(program.code);
  for (const MemoryType& memory : program.memories) {
    Put(bytes, memory.min);
    Put(bytes, memory.max);
    Put(bytes, static_cast<uint8_t>(memory.shared));
  }
  Put(bytes, static_cast<uint32_t>(program.memories.size()));
  Put(bytes, static_cast<uint8_t>((program.interruptible ? kInterruptible : 0) | (program.metered ? kMetered : 0)));
  Put(bytes, static_cast<uint8_t>(program.kind));
  const auto digest = DigestOf(bytes);
  return bytes.append(digest.data(), digest.size()).append(kEnd);
}

Result<Precompiled> ReadPrecompiled(std::string_view file) {
  if (!file.ends_with(kEnd) || file.size() < kEnd.size() + kDigest) {
    return std::unexpected("this is native code that `wasinn compile` of this version did not make, or a part of it");
  }
  file.remove_suffix(kEnd.size());
  const std::string_view bytes = file.substr(0, file.size() - kDigest);
  const auto digest = DigestOf(bytes);
  std::optional<Precompiled> program;
  if (file.ends_with(std::string_view(digest.data(), digest.size()))) program = Parse(bytes);
  if (!program) return std::unexpected("this is native code that is not as `wasinn compile` made it");
  return std::move(*program);
}

}  // namespace wasinn::wasmtime
