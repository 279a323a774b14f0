// What goes through the pickles and the code of a guest's TorchScript archive before PyTorch runs them: never reads
// outside of what it is given, ends soon, and passes no class but those that it knows.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "fuzz/expect.h"
#include "torch/code_scan.h"
#include "torch/pickle_scan.h"

namespace torch = wasinn::torch;

namespace {

template <typename Scan>
bool Passes(Scan scan) {
  try {
    scan();
    return true;
  } catch (const wasinn::backend::Error& error) {
    FUZZ_EXPECT(error.code() == WASINN_SECURITY || error.code() == WASINN_INVALID_ENCODING);
    return false;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Exactly as large as the input: ASan sees each byte that is read past it.
  const std::vector<uint8_t> bytes(data, data + size);
  const std::string name = "data.pkl";
  const bool passes = Passes([&] { torch::ScanPickle(name, bytes); });
  // It ends with its first STOP: without one it is broken.
  if (passes) FUZZ_EXPECT(std::ranges::find(bytes, uint8_t{'.'}) != bytes.end());
  // What passes has no instruction before the class that asks for one.
  std::vector<uint8_t> asks = {0x80, 2};
  for (const char c : std::string_view("cos\nsystem\n")) asks.push_back(static_cast<uint8_t>(c));
  asks.insert(asks.end(), bytes.begin(), bytes.end());
  FUZZ_EXPECT(!Passes([&] { torch::ScanPickle(name, asks); }));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const bool code = Passes([&] { torch::ScanCode("code/model.py", text); });
  if (code) FUZZ_EXPECT(text.find("__setstate__") == std::string_view::npos);
  return 0;
}
