// The check of a guest's ONNX model before ONNX Runtime parses it: it never reads outside of its input, ends soon, and
// lets a guest do nothing that a host may not.
#include <cstdint>
#include <optional>
#include <vector>

#include "common/error.h"
#include "fuzz/expect.h"
#include "onnx/model_scan.h"

namespace onnx = wasinn::onnx;

namespace {

std::optional<onnx::ModelScan> Scan(const std::vector<uint8_t>& bytes, onnx::Trust trust) {
  try {
    return onnx::ScanModel(bytes, trust);
  } catch (const wasinn::backend::Error& error) {
    FUZZ_EXPECT(error.code() != WASINN_OK);
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Exactly as large as the input: ASan sees each read beyond it.
  const std::vector<uint8_t> bytes(data, data + size);
  const auto host = Scan(bytes, onnx::Trust::kHost);
  const auto guest = Scan(bytes, onnx::Trust::kGuest);
  FUZZ_EXPECT(!guest || host);
  if (guest) FUZZ_EXPECT(host->external_files.empty());
  return 0;
}
