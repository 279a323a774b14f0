// Recognising model formats from bytes and from file names: it never reads outside of its input, and its answer depends
// on nothing else.
#include <algorithm>
#include <string>
#include <vector>

#include "core/models/formats.h"
#include "core/words.h"
#include "fuzz/expect.h"

namespace core = wasinn::core;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Exactly as large as the input: ASan sees each read beyond it.
  const std::vector<uint8_t> bytes(data, data + size);
  const core::Formats formats = core::StandardFormats();
  const std::string found = core::FormatOfBytes(formats, bytes, size);
  FUZZ_EXPECT(core::FormatOfBytes(formats, bytes, size) == found);
  std::string other;
  if (!found.empty()) {
    FUZZ_EXPECT(core::HasFormat(formats, found) && core::FormatName(found) == found);
    FUZZ_EXPECT(core::MayBeOf(formats, found, bytes, size, other));
  }
  for (size_t cut : {size / 2, size - std::min<size_t>(size, 1)}) {
    const std::vector<uint8_t> shorter(data, data + cut);
    (void)core::FormatOfBytes(formats, shorter, cut);
    (void)core::FormatOfBytes(formats, shorter, size);  // the beginning of it
  }
  const std::string name(reinterpret_cast<const char*>(data), size);
  const std::string by_name = core::FormatOfFileName(formats, name);
  FUZZ_EXPECT(core::FormatOfFileName(formats, "folder/" + name) == by_name);
  // A format that is known by some spelling is also known by its name.
  FUZZ_EXPECT(core::FormatName(core::FormatName(name)) == core::FormatName(name));
  if (const auto target = core::ParseTarget(name)) {
    const auto again = core::ParseTarget(core::TargetName(*target));
    FUZZ_EXPECT(again && *again == *target);
  }
  return 0;
}
