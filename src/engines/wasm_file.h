// Reads a program's file and recognises its kind, the same for every engine.
#pragma once

#include <string>
#include <string_view>

#include "engines/engine.h"

namespace wasinn::engines {

enum class WasmKind {
  kModule,
  kComponent,
  kText,          // perhaps the text format, of either kind; only its parser can decide
  kWamrAot,       // native code from WAMR's compiler
  kWasmtimeCode,  // native code from Wasmtime's
  kUnknownVersion,
  kNotWasm,
};

struct WasmFile {
  WasmKind kind;
  std::string bytes;
  std::string path;  // "": none
};

// By the first bytes.
WasmKind KindOf(std::string_view bytes);

// Fails for a file that cannot be read, and for bytes that are certainly no program.
Result<WasmFile> ReadWasmFile(const std::string& path);

// Converts text to a module or component with Wasmtime's parser, which every wasinn command has. May take long.
Result<std::string> ParseText(const std::string& text, const CompileLimits& limits);

}  // namespace wasinn::engines
