#include "core/models/model_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>

#include "base/number.h"
#include "core/text.h"

namespace wasinn::core {
namespace {

namespace fs = std::filesystem;

bool IsFile(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

// A second file next to the first is a part of the model if it exists.
ModelFiles WithCompanion(const wasinn_format& format, const fs::path& path, uint32_t version) {
  ModelFiles files{.version = version, .encoding = format.name, .paths = {path.string()}};
  if (format.companion == nullptr) return files;
  const fs::path companion = fs::path(path).replace_extension(format.companion);
  if (companion != path && IsFile(companion)) files.paths.push_back(companion.string());
  return files;
}

std::optional<ModelFiles> FilesOf(const wasinn_format& format, const fs::path& folder, uint32_t version) {
  for (const char* ending : std::span(format.endings, format.n_endings)) {
    const fs::path path = folder / (std::string("model") + ending);
    if (IsFile(path)) return WithCompanion(format, path, version);
  }
  for (const char* name : std::span(format.files, format.n_files)) {
    if (IsFile(folder / name)) return WithCompanion(format, folder / name, version);
  }
  return std::nullopt;
}

std::optional<ModelFiles> FilesIn(const fs::path& folder, uint32_t version, std::string_view wanted, Formats formats) {
  for (const wasinn_format& format : formats) {
    if (!wanted.empty() && wanted != format.name) continue;
    if (std::optional<ModelFiles> files = FilesOf(format, folder, version)) return files;
  }
  return std::nullopt;
}

ModelFiles SingleFile(const fs::path& path, Formats formats) {
  const std::string encoding = FormatOfFileName(formats, path.filename().string());
  for (const wasinn_format& format : formats) {
    if (encoding == format.name && format.companion != nullptr) return WithCompanion(format, path, 1);
  }
  return {.encoding = encoding, .paths = {path.string()}};
}

std::optional<uint32_t> VersionOf(const fs::path& folder) {
  const auto version = base::ParseNumber<uint32_t>(folder.filename().string());
  return version == 0 ? std::nullopt : version;
}

// For messages: models with other names, or in folders of their own.
std::string OthersIn(const fs::path& folder, Formats formats) {
  constexpr size_t kMaxNamed = 20;
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const bool is_model = IsFile(entry.path())
                              ? !FormatOfFileName(formats, name).empty()
                              : FilesIn(entry.path(), 1, "", formats) || FilesIn(entry.path() / "1", 1, "", formats);
    if (is_model) names.push_back(name);
  }
  if (names.empty()) return "";
  std::ranges::sort(names);
  const size_t left_out = names.size() - std::min(names.size(), kMaxNamed);
  names.resize(names.size() - left_out);
  std::string text = "; it has " + Join(names);
  if (left_out > 0) text += fmt::format(" and {} more", left_out);
  return text + (names.size() == 1 ? ": name it" : ": name one of them");
}

}  // namespace

Result<std::vector<ModelFiles>> FindModelFiles(const std::string& path, const std::string& encoding, Formats formats) {
  if (path.starts_with(kRegistry)) {
    return Fail(WASINN_ERROR_NOT_FOUND,
                "there is no model at '{}': `wasinn models pull {}` brings it here, and prints its path", path, path);
  }
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return Fail(WASINN_ERROR_NOT_FOUND, "there is no model at '{}'", path);
  if (!fs::is_directory(status)) return std::vector{SingleFile(path, formats)};

  if (std::optional<ModelFiles> files = FilesIn(path, 1, encoding, formats)) return std::vector{*files};
  std::vector<ModelFiles> versions;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    const std::optional<uint32_t> version = VersionOf(entry.path());
    if (!version) continue;
    if (std::optional<ModelFiles> files = FilesIn(entry.path(), *version, encoding, formats)) {
      versions.push_back(*files);
    }
  }
  if (versions.empty()) {
    return Fail(WASINN_ERROR_NOT_FOUND,
                "folder '{}' holds no model{}{}: looked for model.onnx, 1/model.onnx and the like{}", path,
                encoding.empty() ? "" : " of encoding ", encoding, OthersIn(path, formats));
  }
  std::ranges::sort(versions, {}, &ModelFiles::version);
  return versions;
}

bool NeedsItsFolder(const std::string& file) { return fs::path(file).filename() == "saved_model.pb"; }

uint64_t StampOf(const std::vector<std::string>& files, const std::string& folder) {
  constexpr size_t kMaxFiles = 4096;  // a model has few
  uint64_t stamp = 0;
  const auto add = [&stamp](const std::string& path) {
    struct stat file = {};
    if (::stat(path.c_str(), &file) != 0) return;
    const std::string text = fmt::format("{} {} {}.{} {}", path, file.st_ino, file.st_mtim.tv_sec, file.st_mtim.tv_nsec,
                                         S_ISDIR(file.st_mode) ? 0 : file.st_size);
    stamp += std::hash<std::string>()(text);  // independent of the order in which a folder lists them
  };
  for (const std::string& path : files) add(path);
  std::error_code error;
  size_t n_files = 0;
  auto entry = folder.empty() ? fs::recursive_directory_iterator() : fs::recursive_directory_iterator(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator() && n_files < kMaxFiles; entry.increment(error)) {
    add(entry->path().string());
    ++n_files;
  }
  return stamp;
}

bool HasEntries(const std::string& folder) {
  std::error_code error;
  return fs::directory_iterator(folder, error) != fs::directory_iterator();
}

Result<std::vector<std::string>> FindFolders(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    std::error_code ignored;
    if (entry.is_directory(ignored)) names.push_back(entry.path().filename().string());
  }
  if (error) return Fail(WASINN_ERROR_NOT_FOUND, "cannot list the folder of models '{}': {}", folder, error.message());
  std::ranges::sort(names);
  return names;
}

}  // namespace wasinn::core
