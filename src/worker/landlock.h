// Landlock: what of the outside a thread, and all that it starts, can name.
#pragma once

#include <expected>
#include <string>
#include <vector>

namespace wasinn::worker {

// The version of the kernel's interface; 0: it has none, or it is switched off.
int LandlockVersion();

// Of the file system only reading of these folders and files stays, and of the network and of other processes what this version of Landlock
// cannot deny. For the calling thread, which has given up new privileges already, and those that it starts. A file that is not there
// is left out.
std::expected<void, std::string> DenyOutside(const std::vector<std::string>& readable);

}  // namespace wasinn::worker
