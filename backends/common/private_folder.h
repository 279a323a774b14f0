// A folder that nobody but this user can read or change.
#pragma once

#include <string>

namespace wasinn::backend {

// Whether nobody else may do anything with the file or folder.
bool IsMineAlone(int descriptor);

// Its descriptor, the caller's. It is made, with what leads to it, where it is not there. Throws Error that names it where
// that cannot be, or where others may use it.
int OpenPrivateFolder(const std::string& path);

}  // namespace wasinn::backend
