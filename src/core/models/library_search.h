// Checks where the dynamic linker of this OS process looks for libraries.
#pragma once

#include "core/status.h"

namespace wasinn::core {

// WASINN_ERROR_UNSUPPORTED_OPERATION if it searches the working folder or a relative path, because LD_LIBRARY_PATH
// named one when the program started. A framework opens libraries by name at any time, so none may be opened then: a
// guest that can write to that folder could supply its own code.
Status CheckLibrarySearch();

}  // namespace wasinn::core
