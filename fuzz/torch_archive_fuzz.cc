// What reads a TorchScript archive before PyTorch does: never reads outside of what it is given, ends soon, and finds
// entries that lie in the archive.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/error.h"
#include "fuzz/expect.h"
#include "torch/archive.h"

namespace torch = wasinn::torch;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Exactly as large as the input: ASan sees each byte that is read past it.
  const std::vector<uint8_t> bytes(data, data + size);
  try {
    const std::vector<torch::ArchiveEntry> entries = torch::ReadArchive(bytes);
    for (const torch::ArchiveEntry& entry : entries) {
      if (!entry.stored || entry.bytes.empty()) continue;
      FUZZ_EXPECT(entry.size == entry.bytes.size());
      FUZZ_EXPECT(entry.bytes.data() >= bytes.data() &&
                  entry.bytes.data() + entry.bytes.size() <= bytes.data() + bytes.size());
    }
    torch::CheckGuestArchive(entries, 1 << 20);
    for (const torch::ArchiveEntry& entry : entries) FUZZ_EXPECT(entry.stored || entry.name.starts_with("code/"));
  } catch (const wasinn::backend::Error& error) {
    FUZZ_EXPECT(error.code() != WASINN_OK && error.code() != WASINN_RUNTIME_ERROR);
  }
  return 0;
}
