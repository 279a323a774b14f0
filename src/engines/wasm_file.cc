#include "engines/wasm_file.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "engines/read_file.h"

namespace wasinn::engines {
namespace {

// "\0asm", then a version and a layer, two bytes each: layer 0 is a core module, 1 a component.
constexpr std::string_view kMagic("\0asm", 4);
constexpr std::string_view kCoreVersion("\1\0\0\0", 4);
constexpr std::string_view kComponentLayer("\1\0", 2);
constexpr std::string_view kWamrAotMagic("\0aot", 4);
constexpr std::string_view kElfMagic(
    "\x7f"
    "ELF");
constexpr size_t kElfSystem = 7;
constexpr uint64_t kMaxBytes = uint64_t{1} << 30;  // of a program, including its text; Wasmtime's own limits are lower
constexpr char kWasmtimesSystem = static_cast<char>(200);

bool LooksLikeText(std::string_view bytes) {
  const size_t start = bytes.find_first_not_of(" \t\r\n");
  return start != bytes.npos && (bytes.substr(start).starts_with("(") || bytes.substr(start).starts_with(";;"));
}

}  // namespace

WasmKind KindOf(std::string_view bytes) {
  if (LooksLikeText(bytes)) return WasmKind::kText;
  if (bytes.starts_with(kWamrAotMagic)) return WasmKind::kWamrAot;
  if (bytes.starts_with(kElfMagic) && bytes.size() > kElfSystem && bytes[kElfSystem] == kWasmtimesSystem) {
    return WasmKind::kWasmtimeCode;
  }
  if (!bytes.starts_with(kMagic) || bytes.size() < 8) return WasmKind::kNotWasm;
  if (bytes.substr(4, 4) == kCoreVersion) return WasmKind::kModule;
  if (bytes.substr(6, 2) == kComponentLayer) return WasmKind::kComponent;
  return WasmKind::kUnknownVersion;
}

Result<WasmFile> ReadWasmFile(const std::string& path) {
  Result<std::string> bytes = ReadFile(path, kMaxBytes);
  if (!bytes) return std::unexpected(bytes.error());
  const WasmKind kind = KindOf(*bytes);
  if (kind == WasmKind::kNotWasm) return std::unexpected(fmt::format("{} is not a WebAssembly module", path));
  if (kind == WasmKind::kUnknownVersion) {
    return std::unexpected(fmt::format("{} is WebAssembly of an unknown version", path));
  }
  return WasmFile{kind, std::move(*bytes), path};
}

}  // namespace wasinn::engines
