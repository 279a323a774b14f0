#include "onnx/external_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "common/error.h"

namespace wasinn::onnx {

using backend::Error;

namespace {

constexpr uintmax_t kMostBytes = uintmax_t{1} << 30;

// ONNX Runtime refuses a file that is not below the model's folder, so it is not read for it either.
bool IsBelow(const std::filesystem::path& name) {
  const std::filesystem::path normal = name.lexically_normal();
  return normal.is_relative() && !normal.empty() && *normal.begin() != "..";
}

uintmax_t SizeOf(const std::filesystem::path& path) {
  std::error_code failed;
  const uintmax_t size = std::filesystem::file_size(path, failed);
  if (failed) {
    throw Error(WASINN_NOT_FOUND, fmt::format("the model keeps weights in '{}': {}", path.string(), failed.message()));
  }
  return size;
}

std::vector<char> ReadWhole(const std::filesystem::path& path, uintmax_t size) {
  std::vector<char> bytes(size);
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  if (!file) throw Error(WASINN_RUNTIME_ERROR, fmt::format("cannot read '{}' whole", path.string()));
  return bytes;
}

}  // namespace

ExternalFiles::ExternalFiles(const std::set<std::string>& names, const std::string& folder) {
  if (!std::ranges::all_of(names, [](const std::string& name) { return IsBelow(name); })) return;
  uintmax_t total = 0;
  for (const std::string& name : names) total += SizeOf(std::filesystem::path(folder) / name);
  if (total > kMostBytes) return;
  for (const std::string& name : names) {
    const std::filesystem::path path = std::filesystem::path(folder) / name;
    files_.push_back({name, ReadWhole(path, SizeOf(path))});
  }
}

void ExternalFiles::AddTo(const OrtLibrary& library, OrtSessionOptions* options) const {
  if (files_.empty()) return;
  std::vector<const ORTCHAR_T*> names;
  std::vector<char*> buffers;
  std::vector<size_t> sizes;
  for (const File& file : files_) {
    names.push_back(file.name.c_str());
    buffers.push_back(const_cast<char*>(file.bytes.data()));  // only read
    sizes.push_back(file.bytes.size());
  }
  library.Check(library.api().AddExternalInitializersFromFilesInMemory(options, names.data(), buffers.data(),
                                                                       sizes.data(), names.size()),
                "weights in other files");
}

std::vector<std::span<const uint8_t>> ExternalFiles::contents() const {
  std::vector<std::span<const uint8_t>> contents;
  contents.reserve(files_.size());
  for (const File& file : files_) {
    contents.emplace_back(reinterpret_cast<const uint8_t*>(file.bytes.data()), file.bytes.size());
  }
  return contents;
}

}  // namespace wasinn::onnx
