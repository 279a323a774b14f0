#include "engines/wasm_sections.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engines/wasm_file.h"
#include "engines/wasm_reader.h"

namespace wasinn::engines {
namespace {

constexpr uint8_t kCoreModule = 1, kNestedComponent = 4, kComponentImports = 10,
                  kComponentExports = 11;  // its sections
constexpr int kMaxNested = 100;            // the limit of engines
constexpr char kFunction = 0;              // an export of a function

std::string Number(uint64_t number) {
  std::string bytes;
  for (; number >= 0x80; number >>= 7) bytes += static_cast<char>(0x80 | (number & 0x7f));
  return bytes += static_cast<char>(number);
}

// An export section with one more function; no value if it has a program's or a library's already.
std::optional<std::string> WithStart(std::string_view exports, uint64_t function) {
  Reader reader(exports);
  const uint64_t count = exports.empty() ? 0 : reader.Number();
  const std::string_view items = reader.rest();
  for (uint64_t i = 0; i < count && reader.ok(); ++i) {
    const std::string_view name = reader.Name();
    if (name == "_start" || name == "_initialize") return std::nullopt;
    reader.Byte();
    reader.Number();
  }
  if (!reader.ok() || reader.more()) return std::nullopt;
  constexpr std::string_view kName("\x06_start");
  const std::string body = Number(count + 1) + std::string(items) + std::string(kName) + kFunction + Number(function);
  return static_cast<char>(kExports) + Number(body.size()) + body;
}

void SkipLimits(Reader& reader) {
  const uint8_t flags = reader.Byte();
  reader.Number();
  if ((flags & 1) != 0) reader.Number();
}

// False: an unknown kind, so the beginning of the next import is unknown.
bool SkipImportOfModule(Reader& reader) {
  switch (reader.Byte()) {
    case 0:  // a function
      reader.Number();
      return true;
    case 1:  // a table
      reader.Byte();
      SkipLimits(reader);
      return true;
    case 2:  // a memory
      SkipLimits(reader);
      return true;
    case 3:  // a global
      reader.Bytes(2);
      return true;
    case 4:  // a tag
      reader.Byte();
      reader.Number();
      return true;
    default:
      return false;
  }
}

bool SkipImportOfComponent(Reader& reader) {
  switch (reader.Byte()) {
    case 0:  // a core module
      reader.Byte();
      reader.Number();
      return true;
    case 3:  // a type, equal to another or a resource
      if (reader.Byte() == 0) reader.Number();
      return true;
    case 1:  // a function
    case 4:  // a component
    case 5:  // an instance
      reader.Number();
      return true;
    default:  // a value
      return false;
  }
}

void AddImports(std::string_view body, bool component, std::vector<Import>& imports) {
  constexpr size_t kMax = 1'000'000;  // a limit of WebAssembly
  Reader reader(body);
  for (uint64_t left = reader.Number(); left > 0 && reader.ok() && imports.size() < kMax; --left) {
    if (component) reader.Byte();  // the form of the name
    Import import;
    import.module = reader.Name();
    if (!component) import.name = reader.Name();
    if (!reader.ok()) return;
    imports.push_back(import);
    if (component ? !SkipImportOfComponent(reader) : !SkipImportOfModule(reader)) return;
  }
}

void AddExports(std::string_view body, std::vector<std::string_view>& names) {
  Reader reader(body);
  for (uint64_t left = reader.Number(); left > 0 && reader.ok(); --left) {
    reader.Byte();  // the form of the name
    const std::string_view name = reader.Name();
    if (!reader.ok()) return;
    names.push_back(name);
    if (reader.Byte() == 0) reader.Byte();  // the kind of the exported item; a core item's kind has two bytes
    reader.Number();
    if (reader.Byte() == 1 && !SkipImportOfComponent(reader)) return;  // its type
  }
}

void EachCoreModule(std::string_view wasm, int nested, const std::function<void(std::string_view module)>& use) {
  const WasmKind kind = KindOf(wasm);
  if (kind == WasmKind::kModule) return use(wasm);
  if (kind != WasmKind::kComponent || nested > kMaxNested) return;
  for (Reader reader(wasm.substr(kHeader)); reader.more();) {
    const Section section = NextSection(reader);
    if (!reader.ok()) return;
    if (section.id == kCoreModule || section.id == kNestedComponent) EachCoreModule(section.body, nested + 1, use);
  }
}

uint64_t InstanceOf(std::string_view module) {
  // Wasmtime's sizes: each is a few pointers, a global a value.
  constexpr uint64_t kItself = 4096, kOfImport = 64, kOfFunction = 32, kOfGlobal = 16;
  uint64_t bytes = kItself;
  for (Reader reader(module.substr(kHeader)); reader.more();) {
    const Section section = NextSection(reader);
    if (!reader.ok()) return bytes;
    const uint64_t each = section.id == kImports     ? kOfImport
                          : section.id == kFunctions ? kOfFunction
                          : section.id == kGlobals   ? kOfGlobal
                                                     : 0;
    if (each != 0) bytes += each * std::min<uint64_t>(Reader(section.body).Number(), section.body.size());
  }
  return bytes;
}

}  // namespace

void EachCoreModule(std::string_view wasm, const std::function<void(std::string_view module)>& use) {
  EachCoreModule(wasm, 0, use);
}

MemoryForms MemoryFormsOf(std::string_view module) {
  constexpr uint8_t kIs64 = 4, kImportedMemory = 2;
  MemoryForms forms;
  const auto add = [&forms](uint8_t flags) {
    ++forms.count;
    forms.any_64 |= (flags & kIs64) != 0;
  };
  if (KindOf(module) != WasmKind::kModule) return forms;
  for (Reader reader(module.substr(kHeader)); reader.more();) {
    const Section section = NextSection(reader);
    if (!reader.ok()) break;
    Reader body(section.body);
    if (section.id != kMemories && section.id != kImports) continue;
    for (uint64_t left = body.Number(); left > 0 && body.ok(); --left) {
      if (section.id == kMemories) {
        Reader flags = body;
        add(flags.Byte());
        SkipLimits(body);
        continue;
      }
      body.Name();
      body.Name();
      Reader item = body;
      if (item.Byte() == kImportedMemory) add(item.Byte());
      if (!SkipImportOfModule(body)) break;
    }
  }
  return forms;
}

uint64_t TableElements(std::string_view module) {
  if (KindOf(module) != WasmKind::kModule) return 0;
  uint64_t elements = 0;
  for (Reader reader(module.substr(kHeader)); reader.more();) {
    const Section section = NextSection(reader);
    if (!reader.ok() || section.id != kTables) continue;
    Reader body(section.body);
    for (uint64_t left = body.Number(); left > 0 && body.ok(); --left) {
      body.Byte();  // the type
      Reader limits = body;
      limits.Byte();
      elements += std::min<uint64_t>(limits.Number(), UINT32_MAX);
      SkipLimits(body);
    }
  }
  return elements;
}

uint64_t TablesOf(std::string_view wasm) {
  uint64_t tables = 0;
  EachCoreModule(wasm, [&](std::string_view module) {
    for (Reader reader(module.substr(kHeader)); reader.more();) {
      const Section section = NextSection(reader);
      if (!reader.ok() || section.id != kTables) continue;
      Reader body(section.body);
      tables += std::min<uint64_t>(body.Number(), UINT32_MAX);
    }
  });
  return tables;
}

uint64_t LargestInstance(std::string_view wasm) {
  uint64_t largest = 0;
  EachCoreModule(wasm, [&](std::string_view module) { largest = std::max(largest, InstanceOf(module)); });
  return largest;
}

std::optional<std::string> StartAsExport(std::string_view module) {
  if (KindOf(module) != WasmKind::kModule) return std::nullopt;
  std::string_view exports;  // the body
  std::optional<uint64_t> start;
  for (Reader reader(module.substr(kHeader)); reader.more();) {
    const Section section = NextSection(reader);
    if (!reader.ok()) return std::nullopt;
    if (section.id == kExports) exports = section.body;
    if (section.id != kStart) continue;
    Reader function(section.body);
    start = function.Number();
    if (!function.ok() || function.more()) return std::nullopt;
  }
  const std::optional<std::string> with_start = start ? WithStart(exports, *start) : std::nullopt;
  if (!with_start) return std::nullopt;
  // Replaces the export section or, if there is none, the start section, which is next.
  const uint8_t replaced = exports.empty() ? kStart : kExports;
  std::string result(module.substr(0, kHeader));
  for (Reader reader(module.substr(kHeader)); reader.more();) {
    const Section section = NextSection(reader);
    if (section.id == replaced) {
      result += *with_start;
    } else if (section.id != kStart) {
      result += section.whole;
    }
  }
  return result;
}

std::vector<Import> ImportsOf(std::string_view wasm) {
  const WasmKind kind = KindOf(wasm);
  std::vector<Import> imports;
  if (kind != WasmKind::kModule && kind != WasmKind::kComponent) return imports;
  const bool component = kind == WasmKind::kComponent;
  for (Reader reader(wasm.substr(kHeader)); reader.more();) {
    const Section section = NextSection(reader);
    if (reader.ok() && section.id == (component ? kComponentImports : kImports)) {
      AddImports(section.body, component, imports);
    }
  }
  return imports;
}

std::vector<std::string_view> ExportsOfComponent(std::string_view wasm) {
  std::vector<std::string_view> names;
  if (KindOf(wasm) != WasmKind::kComponent) return names;
  for (Reader reader(wasm.substr(kHeader)); reader.more();) {
    const Section section = NextSection(reader);
    if (reader.ok() && section.id == kComponentExports) AddExports(section.body, names);
  }
  return names;
}

}  // namespace wasinn::engines
