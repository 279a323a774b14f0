// Files of native code, as `wasinn compile` makes them: what Wasmtime wrote of a program, and behind it what has to be known
// before it runs. What changed by accident is found; nothing can tell code that somebody made to look right.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engines/engine.h"
#include "engines/memories.h"

namespace wasinn::wasmtime {

enum class ProgramKind : uint8_t { kModule, kThreads, kComponent };

struct Precompiled {
  ProgramKind kind = ProgramKind::kModule;
  bool interruptible = false, metered = false;
  std::vector<engines::MemoryType> memories;  // its limits are shared out by them
  std::string_view code;                      // Wasmtime's
};

std::string WritePrecompiled(const Precompiled& program);
// `file`, to which the result's code points, has whatever a file may have.
engines::Result<Precompiled> ReadPrecompiled(std::string_view file);

}  // namespace wasinn::wasmtime
