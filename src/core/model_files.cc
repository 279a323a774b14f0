#include "core/model_files.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "core/sniff.h"
#include "core/words.h"

namespace wasinn::core {
namespace {

namespace fs = std::filesystem;

// File names inside of a model's folder, as Triton and Wasmtime have them.
struct Layout {
  wasinn_encoding encoding;
  std::vector<const char*> parts;
};
const std::vector<Layout>& Layouts() {
  static const std::vector<Layout> layouts = {
      {WASINN_ONNX, {"model.onnx"}},           {WASINN_OPENVINO, {"model.xml", "model.bin"}},
      {WASINN_OPENVINO, {"model.xml"}},  // without weights
      {WASINN_PYTORCH, {"model.pt"}},          {WASINN_PYTORCH, {"model.pth"}},
      {WASINN_PYTORCH, {"model.torchscript"}}, {WASINN_PYTORCH, {"model.jit"}},
      {WASINN_PYTORCH, {"model.ts"}},          {WASINN_TENSORFLOWLITE, {"model.tflite"}},
      {WASINN_TENSORFLOW, {"model.pb"}},       {WASINN_TENSORFLOW, {"model.graphdef"}},
      {WASINN_TENSORFLOW, {"saved_model.pb"}}, {WASINN_TENSORFLOW, {"model.savedmodel/saved_model.pb"}},
      {WASINN_GGML, {"model.gguf"}},
  };
  return layouts;
}

bool IsFile(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

std::optional<ModelFiles> FilesIn(const fs::path& folder, uint32_t version, wasinn_encoding wanted) {
  for (const Layout& layout : Layouts()) {
    if (wanted != WASINN_AUTODETECT && wanted != layout.encoding) continue;
    if (!std::ranges::all_of(layout.parts, [&](const char* part) { return IsFile(folder / part); })) continue;
    ModelFiles files{.version = version, .encoding = layout.encoding};
    for (const char* part : layout.parts) files.paths.push_back((folder / part).string());
    return files;
  }
  return std::nullopt;
}

ModelFiles SingleFile(const fs::path& path) {
  ModelFiles files{.encoding = EncodingOfFileName(path.filename().string()).value_or(WASINN_AUTODETECT),
                   .paths = {path.string()}};
  // A model without weights has no such file.
  const fs::path weights = fs::path(path).replace_extension(".bin");
  if (files.encoding == WASINN_OPENVINO && IsFile(weights)) files.paths.push_back(weights.string());
  return files;
}

std::optional<uint32_t> VersionOf(const fs::path& folder) {
  const std::string name = folder.filename().string();
  uint32_t version = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), version);
  if (error != std::errc() || end != name.data() + name.size() || version == 0) return std::nullopt;
  return version;
}

}  // namespace

Result<std::vector<ModelFiles>> FindModelFiles(const std::string& path, wasinn_encoding encoding) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return Fail(WASINN_NOT_FOUND, "there is no model at '{}'", path);
  if (!fs::is_directory(status)) return std::vector{SingleFile(path)};

  if (std::optional<ModelFiles> files = FilesIn(path, 1, encoding)) return std::vector{*files};
  std::vector<ModelFiles> versions;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    const std::optional<uint32_t> version = VersionOf(entry.path());
    if (!version) continue;
    if (std::optional<ModelFiles> files = FilesIn(entry.path(), *version, encoding)) versions.push_back(*files);
  }
  if (versions.empty()) {
    return Fail(WASINN_NOT_FOUND, "folder '{}' holds no model{}{}: looked for model.onnx, 1/model.onnx and the like",
                path, encoding == WASINN_AUTODETECT ? "" : " of encoding ",
                encoding == WASINN_AUTODETECT ? "" : EncodingName(encoding));
  }
  std::ranges::sort(versions, {}, &ModelFiles::version);
  return versions;
}

Result<std::vector<std::string>> FindModels(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    std::error_code ignored;
    if (entry.is_directory(ignored) && FindModelFiles(entry.path().string(), WASINN_AUTODETECT)) {
      names.push_back(entry.path().filename().string());
    }
  }
  if (error) return Fail(WASINN_NOT_FOUND, "cannot list the folder of models '{}': {}", folder, error.message());
  std::ranges::sort(names);
  return names;
}

}  // namespace wasinn::core
