// What looks through a guest's IR before OpenVINO parses it: never reads outside of what it is given, ends soon, and
// keeps to the limits that it was given.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>

#include "common/error.h"
#include "fuzz/expect.h"
#include "openvino/ir_scan.h"
#include "openvino/xml_reader.h"

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

// Every view lies in the document, and what was opened is closed.
bool Reads(std::string_view xml) {
  const auto in_document = [&](std::string_view text) {
    return text.data() >= xml.data() && text.data() + text.size() <= xml.data() + xml.size();
  };
  try {
    openvino::XmlReader reader(xml);
    while (const openvino::XmlTag* tag = reader.Next()) {
      FUZZ_EXPECT(!tag->name.empty() && in_document(tag->name) && in_document(reader.rest()));
      FUZZ_EXPECT(tag->opens || tag->closes);
      FUZZ_EXPECT(!reader.path().empty() && reader.path().size() <= openvino::XmlReader::kMostDepth);
      FUZZ_EXPECT(reader.path().back() == tag->name);
      for (const auto& [key, value] : tag->attributes) FUZZ_EXPECT(in_document(key) && in_document(value));
    }
    FUZZ_EXPECT(reader.path().empty());
    return true;
  } catch (const wasinn::backend::Error& error) {
    FUZZ_EXPECT(error.code() == WASINN_INVALID_ENCODING);
    return false;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Exactly as large as the input: ASan sees each byte that is read past it.
  const auto copy = std::make_unique<char[]>(size);
  std::copy_n(data, size, copy.get());
  const std::string_view xml(copy.get(), size);
  const bool reads = Reads(xml);
  const bool strict = Passes(xml, {.weights = 4, .max_bytes = 1000});
  const bool lax = Passes(xml, {.weights = UINT64_MAX});
  FUZZ_EXPECT(!lax || reads);
  FUZZ_EXPECT(!strict || lax);
  openvino::LooksLikeXml(xml);
  return 0;
}
