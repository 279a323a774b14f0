// Files that are installed with this command, found by its own place: the build tree has the layout of a prefix, too.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace wasinn::cli {

// This program; empty, and `failed` is set, without /proc.
std::filesystem::path OwnPath(std::error_code& failed);

// The source tree that this program was built in, and still is in; empty: it is in none.
std::filesystem::path SourceFolder();

std::filesystem::path BackendFolder();  // PREFIX/lib/wasinn
std::filesystem::path ShareFolder();    // PREFIX/share/wasinn
std::filesystem::path KitFolder();      // PREFIX/include/wasinn-guest

}  // namespace wasinn::cli
