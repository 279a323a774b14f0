// Where the dynamic linker looks for the libraries of this OS process.
#pragma once

#include "core/status.h"

namespace wasinn::core {

// WASINN_ERROR_UNSUPPORTED_OPERATION where that is the working folder, or a path from it: LD_LIBRARY_PATH was so when the
// program started. A framework asks for libraries by name whenever it likes, so none may be opened then: a guest that
// can write there would bring code of its own.
Status CheckLibrarySearch();

}  // namespace wasinn::core
