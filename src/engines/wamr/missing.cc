// Replaces the WAMR engine if wasinn is built without it.
#include "engines/engine.h"

namespace wasinn::engines {

Result<std::unique_ptr<Engine>> NewWamrEngine(const EngineOptions&) {
  return std::unexpected("this wasinn was built without WAMR");
}

EngineVersion WamrVersion() { return {}; }

}  // namespace wasinn::engines
