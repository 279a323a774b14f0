// The check of a TensorFlow Lite model before an interpreter is made of it: it never reads outside of its input, though
// TensorFlow Lite's own verifier is not used here; it ends soon, and makes no more of a model than the model has; and
// it lets a guest do nothing that a host may not.
#include <cstdint>
#include <optional>
#include <vector>

#include "common/error.h"
#include "fuzz/expect.h"
#include "tflite/model_scan.h"

namespace tflite = wasinn::tflite;

namespace {

std::optional<tflite::ModelScan> Scan(const std::vector<uint8_t>& bytes, tflite::Trust trust) {
  try {
    return tflite::ScanModel(bytes, trust);
  } catch (const wasinn::backend::Error& error) {
    FUZZ_EXPECT(error.code() == WASINN_ERROR_INVALID_ENCODING || error.code() == WASINN_ERROR_SECURITY);
    return std::nullopt;
  }
}

void CheckPorts(const std::vector<tflite::ScannedPort>& ports, const tflite::ModelScan& scan) {
  for (const tflite::ScannedPort& port : ports) {
    FUZZ_EXPECT(port.tensor >= 0 && static_cast<uint32_t>(port.tensor) < scan.tensors);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Exactly as large as the input: ASan sees each read beyond it.
  const std::vector<uint8_t> bytes(data, data + size);
  const auto host = Scan(bytes, tflite::Trust::kHost);
  const auto guest = Scan(bytes, tflite::Trust::kGuest);
  FUZZ_EXPECT(!guest || host);
  if (!host) return 0;
  FUZZ_EXPECT(host->lives.size() == host->tensors);
  CheckPorts(host->inputs, *host);
  CheckPorts(host->outputs, *host);
  return 0;
}
