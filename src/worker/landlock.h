// Landlock: what of the outside a thread, and all that it starts, can name.
#pragma once

#include <expected>
#include <string>
#include <vector>

namespace wasinn::worker {

// The version of the kernel's interface; 0: it has none, or it is switched off.
int LandlockVersion();

// Of the file system only reading of these folders and files stays, and all that is done with an open device for `devices`; of the network
// and of other processes what this version of Landlock cannot deny. For the calling thread, which has given up new privileges already, and
// those that it starts. A file that is not there is left out, and among the devices what is none; a folder among them can be looked through.
std::expected<void, std::string> DenyOutside(const std::vector<std::string>& readable,
                                             const std::vector<std::string>& devices);

}  // namespace wasinn::worker
