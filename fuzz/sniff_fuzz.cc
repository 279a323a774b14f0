// Recognising model formats from bytes and from file names: never reads outside of what it is given, and its answer
// depends on nothing else.
#include <algorithm>
#include <string>
#include <vector>

#include "core/sniff.h"
#include "core/words.h"
#include "fuzz/expect.h"

namespace core = wasinn::core;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Exactly as large as the input: ASan sees each byte that is read past it.
  const std::vector<uint8_t> bytes(data, data + size);
  const auto found = core::SniffEncoding(bytes);
  FUZZ_EXPECT(core::SniffEncoding(bytes) == found);
  if (found) {
    FUZZ_EXPECT(*found != WASINN_AUTODETECT);
    const auto parsed = core::ParseEncoding(core::EncodingName(*found));
    FUZZ_EXPECT(parsed && *parsed == *found);
  }
  for (size_t cut : {size / 2, size - std::min<size_t>(size, 1)}) {
    const std::vector<uint8_t> shorter(data, data + cut);
    (void)core::SniffEncoding(shorter);
  }
  const std::string name(reinterpret_cast<const char*>(data), size);
  const auto by_name = core::EncodingOfFileName(name);
  FUZZ_EXPECT(core::EncodingOfFileName("folder/" + name) == by_name);
  // What is known in some spelling is known by its name too.
  if (const auto encoding = core::ParseEncoding(name)) {
    const auto again = core::ParseEncoding(core::EncodingName(*encoding));
    FUZZ_EXPECT(again && *again == *encoding);
  }
  if (const auto target = core::ParseTarget(name)) {
    const auto again = core::ParseTarget(core::TargetName(*target));
    FUZZ_EXPECT(again && *again == *target);
  }
  return 0;
}
