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

bool LooksLikeText(std::string_view bytes) {
  const size_t start = bytes.find_first_not_of(" \t\r\n");
  return start != bytes.npos && (bytes.substr(start).starts_with("(") || bytes.substr(start).starts_with(";;"));
}

}  // namespace

Result<WasmFile> ReadWasmFile(const std::string& path) {
  Result<std::string> bytes = ReadFile(path);
  if (!bytes) return std::unexpected(bytes.error());
  const std::string_view view(*bytes);
  if (LooksLikeText(view)) return WasmFile{WasmKind::kText, std::move(*bytes)};
  if (!view.starts_with(kMagic) || view.size() < 8) {
    return std::unexpected(fmt::format("{} is not a WebAssembly module", path));
  }
  if (view.substr(4, 4) == kCoreVersion) return WasmFile{WasmKind::kModule, std::move(*bytes)};
  if (view.substr(6, 2) == kComponentLayer) {
    return std::unexpected(fmt::format("{} is a component; this build runs core modules only", path));
  }
  return std::unexpected(fmt::format("{} is WebAssembly of an unknown version", path));
}

}  // namespace wasinn::engines
