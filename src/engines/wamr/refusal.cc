#include "engines/wamr/refusal.h"

#include <fmt/format.h>

#include "engines/wasm_file.h"
#include "engines/wasm_reader.h"
#include "engines/wasm_sections.h"

namespace wasinn::wamr {
namespace {

using engines::NextSection;
using engines::Reader;
using engines::Section;

constexpr uint8_t kTypes = 1, kTags = 13;  // sections
constexpr uint8_t kIs64 = 4;               // a flag of a memory or a table
constexpr uint8_t kFunctionType = 0x60;

// The features of a module's memories, imported ones included.
const char* FeatureOfMemories(std::string_view module) {
  const engines::MemoryForms forms = engines::MemoryFormsOf(module);
  if (forms.any_64) return "a memory of 64-bit addresses";
  return forms.count > 1 ? "several memories" : nullptr;
}

const char* FeatureOfSection(const Section& section) {
  Reader body(section.body);
  const bool has_any = body.Number() > 0;
  if (section.id == kTags) return "exceptions";
  if (section.id == kTypes && has_any && body.Byte() != kFunctionType) return "types of garbage collection";
  if (section.id != engines::kTables || !has_any) return nullptr;
  body.Byte();  // the type of the first one
  return (body.Byte() & kIs64) != 0 ? "a table of 64-bit indices" : nullptr;
}

}  // namespace

const char* FeatureBeyondWamr(std::string_view module) {
  if (engines::KindOf(module) != engines::WasmKind::kModule) return nullptr;
  for (Reader reader(module.substr(engines::kHeader)); reader.more();) {
    const Section section = NextSection(reader);
    if (!reader.ok()) return nullptr;  // it is broken in any case
    if (const char* feature = FeatureOfSection(section)) return feature;
  }
  return FeatureOfMemories(module);
}

std::string RefusalOf(const char* feature, const std::string& error) {
  if (feature == nullptr && error.find("opcode") != error.npos) feature = "an instruction that it does not know";
  if (feature == nullptr) return error;
  return fmt::format("it has {}, which WAMR does not run: --engine wasmtime does ({})", feature, error);
}

}  // namespace wasinn::wamr
