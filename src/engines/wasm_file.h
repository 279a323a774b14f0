// Reading a program's file and telling what it is, the same for every engine.
#pragma once

#include <string>
#include <string_view>

#include "engines/engine.h"

namespace wasinn::engines {

enum class WasmKind {
  kModule,
  kComponent,
  kText,          // may be the text format, of either; only its parser knows
  kWamrAot,       // native code by WAMR's compiler
  kWasmtimeCode,  // native code by Wasmtime's
  kUnknownVersion,
  kNotWasm,
};

struct WasmFile {
  WasmKind kind;
  std::string bytes;
};

// By the first bytes.
WasmKind KindOf(std::string_view bytes);

// Fails for a file that cannot be read, and for bytes that are certainly no program.
Result<WasmFile> ReadWasmFile(const std::string& path);

// The text format as a module or component. Wasmtime's parser, which every wasinn command has, and which may take long.
Result<std::string> ParseText(const std::string& text, const CompileLimits& limits);

}  // namespace wasinn::engines
