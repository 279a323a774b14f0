// What reads the bytes of a TensorFlow Lite model before an interpreter is made of it: never reads outside of what it
// is given, though TensorFlow Lite's own verifier is not asked here; ends soon and makes no more of a model than the model
// has; and lets a guest do nothing that a host may not.
#include <cstdint>
#include <optional>
#include <vector>

#include "common/error.h"
#include "fuzz/expect.h"
#include "tflite/model_scan.h"

namespace tflite = wasinn::tflite;

namespace {

std::optional<tflite::ModelScan> Scan(const std::vector<uint8_t>& bytes, const tflite::ScanPolicy& policy) {
  try {
    return tflite::ScanModel(bytes, policy);
  } catch (const wasinn::backend::Error& error) {
    FUZZ_EXPECT(error.code() == WASINN_INVALID_ENCODING || error.code() == WASINN_SECURITY);
    return std::nullopt;
  }
}

void CheckPorts(const std::vector<tflite::ScannedPort>& ports, const tflite::ModelScan& scan, size_t size) {
  size_t made = 0;
  for (const tflite::ScannedPort& port : ports) {
    FUZZ_EXPECT(port.tensor >= 0 && static_cast<uint32_t>(port.tensor) < scan.tensors);
    made += port.name.size() + 4 * port.shape.size();
  }
  // Tables and texts may be shared, and so be small where what is made of them is large.
  FUZZ_EXPECT(made <= 16 * size + (size_t{1} << 20));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Exactly as large as the input: ASan sees each byte that is read past it.
  const std::vector<uint8_t> bytes(data, data + size);
  const auto host = Scan(bytes, {.trust = tflite::Trust::kHost});
  const auto guest = Scan(bytes, {.trust = tflite::Trust::kGuest});
  const auto custom = Scan(bytes, {.trust = tflite::Trust::kGuest, .guest_custom_ops = true});
  FUZZ_EXPECT(!guest || (custom && !guest->has_custom_ops));
  FUZZ_EXPECT(!custom || host);
  if (!host) return 0;
  CheckPorts(host->inputs, *host, size);
  CheckPorts(host->outputs, *host, size);
  return 0;
}
