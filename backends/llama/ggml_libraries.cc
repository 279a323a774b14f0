#include "llama/ggml_libraries.h"

#include <dlfcn.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <system_error>

#include "common/library.h"

namespace wasinn::llama {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "libggml-", kSuffix = ".so";
constexpr std::string_view kCpu = "cpu";

// "libggml-cpu-haswell.so" → "cpu-haswell". Empty if it is not a device's library.
std::string_view Variant(std::string_view file) {
  if (!file.starts_with(kPrefix) || !file.ends_with(kSuffix) || file == "libggml-base.so") return "";
  file.remove_prefix(kPrefix.size());
  file.remove_suffix(kSuffix.size());
  return file;
}

// 0: unusable on this machine. A library without variants has no such function.
int ScoreOf(const fs::path& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return 0;
  const auto score = reinterpret_cast<int (*)()>(dlsym(handle, "ggml_backend_score"));
  const int result = score == nullptr ? 0 : score();
  dlclose(handle);
  return result;
}

fs::path BestOf(const fs::path& folder, std::string_view device, const std::vector<fs::path>& libraries) {
  fs::path best;
  int best_score = 0;
  for (const fs::path& library : libraries) {
    if (Variant(library.filename().string()) == device) continue;
    const int score = ScoreOf(library);
    if (score > best_score) {
      best = library;
      best_score = score;
    }
  }
  const fs::path plain = folder / (std::string(kPrefix) + std::string(device) + std::string(kSuffix));
  return best.empty() && std::ranges::find(libraries, plain) != libraries.end() ? plain : best;
}

}  // namespace

std::vector<fs::path> BestGgmlLibraries(const fs::path& folder) {
  std::map<std::string, std::vector<fs::path>> of_devices;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string file = entry.path().filename().string();
    const std::string_view variant = Variant(file);
    if (variant.empty()) continue;
    backend::CheckDependencies(entry.path());
    of_devices[std::string(variant.substr(0, variant.find('-')))].push_back(entry.path());
  }
  std::vector<fs::path> best;
  for (auto& [device, libraries] : of_devices) {
    std::ranges::sort(libraries);
    const fs::path library = BestOf(folder, device, libraries);
    if (library.empty()) continue;
    best.insert(device == kCpu ? best.end() : best.begin(), library);
  }
  return best;
}

}  // namespace wasinn::llama
