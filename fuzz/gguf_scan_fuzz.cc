// The check of a guest's language model before llama.cpp parses it: it never reads outside of its input, ends soon, and
// lets a guest do nothing that a host may not.
#include <cstdint>
#include <optional>
#include <vector>

#include "common/error.h"
#include "fuzz/expect.h"
#include "llama/gguf_scan.h"

namespace llama = wasinn::llama;

namespace {

// Three types, with ggml's numbers.
llama::GgufBlock BlockOf(uint32_t type) {
  if (type == 2) return {.elements = 32, .bytes = 18, .packs_weights = true};
  return type > 2 ? llama::GgufBlock() : llama::GgufBlock{.elements = 1, .bytes = type == 0 ? 4u : 2u};
}

std::optional<llama::ModelScan> Scan(const std::vector<uint8_t>& bytes, bool of_guest) {
  try {
    return llama::ScanGguf(bytes, {.block_of = BlockOf, .of_guest = of_guest});
  } catch (const wasinn::backend::Error& error) {
    FUZZ_EXPECT(error.code() != WASINN_OK);
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Exactly as large as the input: ASan sees each read beyond it.
  const std::vector<uint8_t> bytes(data, data + size);
  const auto host = Scan(bytes, false);
  const auto guest = Scan(bytes, true);
  FUZZ_EXPECT(!guest || host);
  if (host) FUZZ_EXPECT(host->packed_bytes <= host->tensor_bytes);
  return 0;
}
