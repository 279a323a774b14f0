// ggml's libraries for devices, next to llama.cpp's.
#pragma once

#include <filesystem>
#include <vector>

namespace wasinn::llama {

// For each device with libraries in the folder, the best one for this machine; the CPU's last. ggml's own search
// (ggml_backend_load_all_from_path, too) also reads the working folder, where guests may put files. Throws
// WASINN_ERROR_UNSUPPORTED_OPERATION if a library makes the dynamic linker search there.
std::vector<std::filesystem::path> BestGgmlLibraries(const std::filesystem::path& folder);

}  // namespace wasinn::llama
