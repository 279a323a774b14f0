#include "core/models/library_search.h"

#include <string>

#include "base/library_folders.h"

namespace wasinn::core {

Status CheckLibrarySearch() {
  static constexpr char kHere = 0;
  for (const std::string& folder : base::LibraryFolders(&kHere)) {
    if (folder.starts_with('/')) continue;
    return Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
                 "no framework is opened: LD_LIBRARY_PATH has a part that is empty or not an absolute path ('{}'). "
                 "The dynamic linker would look for libraries in the working folder, where a guest may have put "
                 "something; start the program without it",
                 folder);
  }
  return {};
}

}  // namespace wasinn::core
