// Files that the command writes, beside guests that may write in the same folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engines/engine.h"

namespace wasinn::cli {

// Opens a file for writing, made if it is not there, and not emptied. Where one of the guest's folders is on its way, the path may
// lead through no link: the guest, or one before it, could have made it lead to any file of this user's. -1: errno says why.
int OpenOutput(const std::string& path, const std::vector<engines::Directory>& guest_folders);

// What was in it goes. A pipe has nothing in it.
void Empty(int file);

// Whether all of it was written, there; where the file is no pipe.
bool WriteAt(int file, std::string_view bytes, int64_t at);

}  // namespace wasinn::cli
