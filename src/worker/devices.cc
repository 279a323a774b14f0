#include "worker/devices.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

#include "base/json.h"

namespace wasinn::worker {
namespace {

namespace fs = std::filesystem;

// Enough for a machine with eight GPUs: NVIDIA's driver opens tens of files for each.
constexpr uint64_t kMaxDescriptors = 512;
// For kernels that are unpacked or compiled at their first use, and buffers for transfers to the device.
constexpr uint64_t kDriverBytes = uint64_t{1} << 30;
// SwiftShader keeps compiled code in a file in memory, of some hundred KiB.
constexpr uint64_t kFileBytes = uint64_t{64} << 20;

// Frameworks and drivers open libraries late: for a model's first operator of a kind, for instance.
constexpr const char* kLibraries[] = {"/usr/lib",        "/usr/lib64",      "/lib",
                                      "/lib64",          "/usr/local/lib",  "/usr/local/nvidia",
                                      "/usr/local/cuda", "/etc/ld.so.cache"};
// The list of drivers, and their settings.
constexpr const char* kSettings[] = {"/etc/vulkan", "/usr/share/vulkan",  "/usr/local/share/vulkan",
                                     "/etc/OpenCL", "/etc/nvidia",        "/usr/share/nvidia",
                                     "/etc/drirc",  "/usr/share/drirc.d", "/usr/share/libdrm"};
// The devices, their connections, and the kernel driver's information.
constexpr const char* kSystem[] = {
    "/proc/devices",      "/proc/driver/nvidia", "/proc/meminfo",         "/proc/modules", "/proc/version",
    "/sys/bus/pci",       "/sys/class/drm",      "/sys/class/kfd",        "/sys/dev/char", "/sys/devices/virtual/kfd",
    "/sys/module/amdgpu", "/sys/module/nvidia",  "/sys/module/nvidia_uvm"};
// The process's own memory map, sizes and names; the whole folder has its descriptors and the network's tables, too.
constexpr const char* kSelf[] = {"/proc/self/cmdline", "/proc/self/comm",  "/proc/self/maps",
                                 "/proc/self/stat",    "/proc/self/statm", "/proc/self/status"};

bool IsNumbered(std::string_view name, std::string_view prefix) {
  return name.size() > prefix.size() && name.starts_with(prefix) &&
         name.find_first_not_of("0123456789", prefix.size()) == name.npos;
}

struct Folder {
  const char* path;
  bool (*has_device)(std::string_view name);
};
constexpr Folder kFolders[] = {
    {"/dev",
     [](std::string_view name) {
       constexpr std::string_view kNames[] = {"kfd", "nvidia-modeset", "nvidia-uvm", "nvidia-uvm-tools", "nvidiactl"};
       return std::ranges::find(kNames, name) != std::end(kNames) || IsNumbered(name, "nvidia");
     }},
    // The file for computing; a card's other file sets screens, and can be another process's master.
    {"/dev/dri", [](std::string_view name) { return IsNumbered(name, "renderD"); }},
    {"/dev/accel", [](std::string_view name) { return IsNumbered(name, "accel"); }},
    {"/dev/nvidia-caps", [](std::string_view name) {
       std::ifstream minors("/proc/driver/nvidia-caps/mig-minors");
       const std::vector<std::string> parts = PartsOfGpus(minors);
       return std::ranges::find(parts, name) != parts.end();
     }}};

std::vector<std::string> DeviceFiles() {
  std::vector<std::string> files;
  for (const Folder& folder : kFolders) {
    std::error_code error;  // a missing file has no devices
    bool has_any = false;
    for (const fs::directory_entry& file : fs::directory_iterator(folder.path, error)) {
      if (!folder.has_device(file.path().filename().native())) continue;
      files.push_back(file.path());
      has_any = true;
    }
    if (has_any && std::string_view(folder.path) != "/dev") files.emplace_back(folder.path);  // to be searched
  }
  return files;
}

std::string TextOf(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Only GPUs' folders: those of other devices have serial numbers, addresses and, for root, all devices' memory.
std::vector<std::string> FoldersOfDevices() {
  std::vector<std::string> folders;
  const auto add = [&](const fs::path& link) {
    std::error_code error;  // missing files are skipped
    if (const fs::path folder = fs::canonical(link, error); !error) folders.push_back(folder);
  };
  std::error_code error;
  for (const fs::directory_entry& device : fs::directory_iterator("/sys/bus/pci/devices", error)) {
    const std::string kind = TextOf(device.path() / "class");
    const auto is = [&kind](const char* begin) { return kind.starts_with(begin); };
    if (is("0x03") || is("0x12") || is("0x0b40")) add(device);  // displays, accelerators, other processors
  }
  for (const auto& [folder, prefix] :
       {std::pair("/sys/class/drm", "renderD"), std::pair("/sys/class/accel", "accel")}) {
    for (const fs::directory_entry& device : fs::directory_iterator(folder, error)) {
      if (IsNumbered(device.path().filename().native(), prefix)) add(device.path() / "device");
    }
  }
  return folders;
}

// The root, its subfolders, and a user's own folder: they contain settings, keys and other files besides libraries.
bool IsBroad(const fs::path& folder) {
  const auto names = std::distance(folder.begin(), folder.end());
  return names <= 2 || (names == 3 && *std::next(folder.begin()) == "home");
}

// Adds a folder with everything below, because frameworks also have other files there; or a broad one's libraries.
void AddLibrariesOf(const std::string& folder, std::vector<std::string>& readable) {
  std::error_code error;
  const fs::path known = fs::weakly_canonical(folder, error);
  if (error) return;
  if (!IsBroad(known)) return readable.push_back(known);
  for (const fs::directory_entry& file : fs::directory_iterator(known, error)) {
    const bool is_library = file.path().filename().native().find(".so") != std::string::npos;
    if (is_library && file.is_regular_file(error)) readable.push_back(file.path());
  }
}

// Only absolute paths: the target of others depends on the working folder.
std::vector<std::string> PathsIn(const char* variable) {
  std::vector<std::string> paths;
  const char* const value = std::getenv(variable);
  std::string_view rest = value == nullptr ? "" : value;
  while (!rest.empty()) {
    const std::string_view path = rest.substr(0, rest.find(':'));
    if (path.starts_with('/') && path.size() > 1) paths.emplace_back(path);
    rest.remove_prefix(std::min(rest.size(), path.size() + 1));
  }
  return paths;
}

// "": it names none, or one of the system's.
std::string LibraryOf(const fs::path& description) {
  const nlohmann::json json = base::ParseJson(TextOf(description));
  if (!json.is_object() || !json.contains("ICD") || !json["ICD"].is_object()) return "";
  const nlohmann::json& icd = json["ICD"];
  const std::string library = icd.contains("library_path") && icd["library_path"].is_string()
                                  ? icd["library_path"].get<std::string>()
                                  : std::string();
  if (library.find('/') == library.npos) return "";
  return (description.parent_path() / library).lexically_normal();
}

}  // namespace

std::vector<std::string> PartsOfGpus(std::istream& minors) {
  std::vector<std::string> files;
  for (std::string name, number; minors >> name >> number;) {
    if (name.ends_with("/access")) files.push_back("nvidia-cap" + number);
  }
  return files;
}

std::vector<std::string> NamedVulkanDrivers() {
  std::vector<std::string> all;
  for (const char* variable : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"}) {
    for (const std::string& path : PathsIn(variable)) {
      all.push_back(path);
      if (std::string library = LibraryOf(path); !library.empty()) all.push_back(std::move(library));
    }
  }
  return all;
}

void AddDevices(SandboxOptions& options, const std::vector<std::string>& libraries) {
  options.has_devices = true;
  options.exec_memory = true;  // for libraries, and for drivers that compile
  options.most_descriptors = kMaxDescriptors;
  options.driver_bytes = kDriverBytes;
  options.file_bytes = kFileBytes;
  options.devices = DeviceFiles();
  std::erase(options.readable, "/proc/self");
  const auto add = [&](const auto& paths) {
    options.readable.insert(options.readable.end(), std::begin(paths), std::end(paths));
  };
  add(kLibraries);
  add(kSettings);
  add(kSystem);
  add(kSelf);
  add(FoldersOfDevices());
  for (const std::string& folder : libraries) AddLibrariesOf(folder, options.readable);
  for (const std::string& folder : PathsIn("LD_LIBRARY_PATH")) AddLibrariesOf(folder, options.readable);
  for (const std::string& path : NamedVulkanDrivers()) {
    std::error_code error;
    const fs::path known = fs::weakly_canonical(path, error);
    if (!error && !(IsBroad(known) && fs::is_directory(known, error))) options.readable.push_back(path);
  }
  // Nothing is written: drivers do without the files that they would keep for the next process. And CUDA's server for
  // several processes would be asked over a socket, before the seal.
  for (const auto& [name, value] :
       {std::pair("CUDA_CACHE_DISABLE", "1"), std::pair("MESA_SHADER_CACHE_DISABLE", "true"),
        std::pair("__GL_SHADER_DISK_CACHE", "0"), std::pair("CUDA_MPS_PIPE_DIRECTORY", "/dev/null")}) {
    options.environment.emplace_back(name, value);
  }
}

}  // namespace wasinn::worker
