// What looks through a guest's IR before OpenVINO parses it: never reads outside of what it is given, ends soon, and
// keeps to the limits that it was given.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>

#include "common/error.h"
#include "fuzz/expect.h"
#include "openvino/ir_scan.h"

namespace openvino = wasinn::openvino;

namespace {

bool Passes(std::string_view xml, const openvino::IrLimits& limits) {
  try {
    openvino::ScanGuestIr(xml, limits);
    return true;
  } catch (const wasinn::backend::Error& error) {
    FUZZ_EXPECT(error.code() != WASINN_OK);
    return false;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Exactly as large as the input: ASan sees each byte that is read past it.
  const auto copy = std::make_unique<char[]>(size);
  std::copy_n(data, size, copy.get());
  const std::string_view xml(copy.get(), size);
  const bool strict = Passes(xml, {.weights = 4, .max_bytes = 1000});
  const bool lax = Passes(xml, {.weights = UINT64_MAX});
  FUZZ_EXPECT(!strict || lax);
  openvino::StateBytes(xml);
  openvino::LooksLikeXml(xml);
  return 0;
}
