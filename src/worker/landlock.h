// Landlock: limits the outside objects that a thread, and all its children, can name.
#pragma once

#include <expected>
#include <string>
#include <vector>

namespace wasinn::worker {

// The version of the kernel's interface; 0: it has none, or it is switched off.
int LandlockVersion();

// Afterwards, these folders and files can only be read, and `devices` be used. All else of the file system is denied,
// and as much of the network and other processes as this version of Landlock can deny. For the calling thread, which
// has no new privileges, and its children. Skips missing files and `devices` that are none; lists folders in them.
std::expected<void, std::string> DenyOutside(const std::vector<std::string>& readable,
                                             const std::vector<std::string>& devices);

}  // namespace wasinn::worker
