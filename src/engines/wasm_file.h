// Reading a program's file and telling what it is, the same for every engine.
#pragma once

#include <string>

#include "engines/engine.h"

namespace wasinn::engines {

enum class WasmKind {
  kModule,
  kText,  // may be the text format; only its parser knows
};

struct WasmFile {
  WasmKind kind;
  std::string bytes;
};

// Fails for a file that cannot be read, a component, and bytes that are certainly no module.
Result<WasmFile> ReadWasmFile(const std::string& path);

}  // namespace wasinn::engines
