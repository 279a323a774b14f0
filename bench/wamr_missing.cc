// Replaces wamr_guest.cc in a build without WAMR.
#include "bench/guest.h"
#include "engines/engine.h"

namespace wasinn::bench {

Result<std::unique_ptr<GuestProgram>> CompileModuleForWamr(const ModuleBytes&) {
  return std::unexpected(engines::NewWamrEngine({}).error());  // its message says how to get it
}

}  // namespace wasinn::bench
