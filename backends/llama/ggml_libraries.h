// ggml's libraries for devices, which lie beside llama.cpp's.
#pragma once

#include <filesystem>
#include <vector>

namespace wasinn::llama {

// Of each device that has libraries in the folder the one that suits this machine best; the CPU's last. ggml's own
// search goes on in the working folder for devices that have none (ggml_backend_load_all_from_path, too), where a guest
// may have put something. Throws WASINN_ERROR_UNSUPPORTED_OPERATION where a library has the dynamic linker look there.
std::vector<std::filesystem::path> BestGgmlLibraries(const std::filesystem::path& folder);

}  // namespace wasinn::llama
