// Files of native code, as `wasinn compile` makes them: Wasmtime's output for a program, followed by facts that are
// needed before it runs. Accidental changes are found; forged code cannot be recognised.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engines/engine.h"
#include "engines/memories.h"

namespace wasinn::wasmtime {

// The last one: components of WASI 0.3, whose functions may be asynchronous.
enum class ProgramKind : uint8_t { kModule, kThreads, kComponent, kAsyncComponent };

struct Precompiled {
  ProgramKind kind = ProgramKind::kModule;
  bool interruptible = false, metered = false;
  std::vector<engines::MemoryType> memories;  // for sharing out its limits
  std::string_view code;                      // Wasmtime's
};

std::string WritePrecompiled(const Precompiled& program);
// The result's code points into `file`, which may contain anything.
engines::Result<Precompiled> ReadPrecompiled(std::string_view file);

}  // namespace wasinn::wasmtime
