// Where the dynamic linker would look for what a library needs.
#pragma once

#include <filesystem>

namespace wasinn::backend {

// To be called before a library is opened. Throws WASINN_ERROR_UNSUPPORTED_OPERATION where the file, or one that it needs
// from a folder that it names, has the dynamic linker look in the working folder: what lies there may be a guest's. A
// file that is not there, or is no library, is the linker's to complain of.
void CheckDependencies(const std::filesystem::path& library);

}  // namespace wasinn::backend
