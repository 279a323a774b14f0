#include "onnx/external_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/throw.h"

namespace wasinn::onnx {

using backend::MappedFile;
using backend::Throw;

namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kMaxKept = uintmax_t{1} << 30;

// ONNX Runtime refuses a file that is not below the model's folder, so it is not opened here either.
bool IsBelow(const fs::path& name) {
  const fs::path normal = name.lexically_normal();
  return normal.is_relative() && !normal.empty() && *normal.begin() != "..";
}

uintmax_t SizeOf(const fs::path& path) {
  std::error_code failed;
  const uintmax_t size = fs::file_size(path, failed);
  if (failed) Throw(WASINN_ERROR_NOT_FOUND, "the model keeps weights in '{}': {}", path.string(), failed.message());
  return size;
}

std::shared_ptr<MappedFile> Map(const fs::path& path, uintmax_t size) {
  errno = 0;
  auto mapped = std::make_shared<MappedFile>(path);
  if (mapped->bytes().size() == size) return mapped;
  Throw(WASINN_ERROR_RUNTIME, "cannot map '{}': {}", path.string(), std::strerror(errno));
}

bool LeavesItsFolder(const fs::path& path, const fs::path& folder) {
  std::error_code failed;
  const fs::path real = fs::canonical(path, failed), real_folder = fs::canonical(folder.empty() ? "." : folder, failed);
  return !failed && !IsBelow(real.lexically_relative(real_folder));
}

}  // namespace

ExternalFiles::ExternalFiles(const std::set<std::string>& names, const std::string& folder) {
  if (!std::ranges::all_of(names, [](const std::string& name) { return IsBelow(name); })) return;
  for (const std::string& name : names) {
    const fs::path path = fs::path(folder) / name;
    File& file = files_.emplace_back(name, path, SizeOf(path), nullptr);
    if (LeavesItsFolder(path, folder)) file.mapping = Map(path, file.size);
  }
}

std::span<uint8_t> ExternalFiles::BytesOf(const File& file) const {
  if (file.mapping != nullptr) return file.mapping->bytes();
  return looked_at_.emplace_back(Map(file.path, file.size))->bytes();
}

void ExternalFiles::AddTo(const OrtLibrary& library, OrtSessionOptions* options, bool all) const {
  std::vector<const ORTCHAR_T*> names;
  std::vector<char*> buffers;
  std::vector<size_t> sizes;
  for (const File& file : files_) {
    if (file.mapping == nullptr && !all) continue;
    names.push_back(file.name.c_str());
    buffers.push_back(reinterpret_cast<char*>(BytesOf(file).data()));  // only for reading
    sizes.push_back(file.size);
  }
  if (names.empty()) return;
  library.Check(library.api().AddExternalInitializersFromFilesInMemory(options, names.data(), buffers.data(),
                                                                       sizes.data(), names.size()),
                "weights in other files");
}

std::vector<std::span<const uint8_t>> ExternalFiles::contents() const {
  std::vector<std::span<const uint8_t>> contents;
  uintmax_t total = 0;
  for (const File& file : files_) total += file.size;
  if (total > kMaxKept) return contents;
  for (const File& file : files_) contents.emplace_back(BytesOf(file));
  return contents;
}

}  // namespace wasinn::onnx
