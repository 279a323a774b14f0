// In place of wamr_guest.cc, where there is no WAMR.
#include "bench/guest.h"
#include "engines/engine.h"

namespace wasinn::bench {

Result<std::unique_ptr<GuestProgram>> CompileModuleForWamr(const ModuleBytes&) {
  return std::unexpected(engines::NewWamrEngine({}).error());  // which says how to get it
}

}  // namespace wasinn::bench
