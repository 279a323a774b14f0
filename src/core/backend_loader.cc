#include "core/backend_loader.h"

#include <dlfcn.h>
#include <wasinn/wasinn.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "core/backend_keys.h"
#include "core/library_search.h"
#include "core/text.h"
#include "core/words.h"

namespace wasinn::core {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kPrefix = "libwasinn_backend_", kSuffix = ".so";

// Backends of the wasinn project, so that one which is not built can be named with the command that gets its framework.
struct Known {
  const char* name;
  wasinn_encoding encoding;
  const char* install;
};
constexpr Known kKnown[] = {{"onnx", WASINN_ONNX, "scripts/deps.sh onnxruntime"},
                            {"openvino", WASINN_OPENVINO, "scripts/deps.sh openvino"},
                            {"tflite", WASINN_TENSORFLOWLITE, "scripts/deps.sh tflite"},
                            {"torch", WASINN_PYTORCH, "scripts/deps.sh torch"},
                            {"tensorflow", WASINN_TENSORFLOW, "scripts/deps.sh tensorflow"},
                            {"llama", WASINN_GGML, "scripts/deps.sh llama"}};

std::span<const wasinn_encoding> EncodingsOf(const wasinn_backend& table) {
  return {table.encodings, table.n_encodings};
}

bool Serves(const wasinn_backend& table, wasinn_encoding encoding) {
  const std::span<const wasinn_encoding> encodings = EncodingsOf(table);
  return std::ranges::find(encodings, encoding) != encodings.end();
}

std::string MissingLibrary(const Known& known, const std::string& folders) {
  std::string text = fmt::format("{}{}{} is not in {}", kPrefix, known.name, kSuffix, folders);
  if (*known.install == '\0') text += "; this release of wasinn has no such backend";
  return text;
}

}  // namespace

std::string BackendLoader::Folders() const {
  return options_.folders.empty() ? "any backend folder (none is configured)" : Join(options_.folders);
}

void BackendLoader::AddLibrary(const std::string& path) {
  // RTLD_LOCAL: frameworks carry clashing copies of the same libraries. Never closed: frameworks leave threads behind.
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const char* problem = library == nullptr ? ::dlerror() : nullptr;
  auto query = library == nullptr
                   ? nullptr
                   : reinterpret_cast<decltype(&wasinn_backend_query)>(::dlsym(library, "wasinn_backend_query"));
  const wasinn_backend* table = query == nullptr ? nullptr : query(WASINN_BACKEND_ABI_MAJOR, WASINN_BACKEND_ABI_MINOR);
  if (table == nullptr || table->abi_major != WASINN_BACKEND_ABI_MAJOR) {
    if (problem == nullptr) problem = "it is no backend of this version of wasinn";
    logger_.Write(WASINN_LOG_WARNING, fmt::format("cannot use backend library {}: {}", path, problem));
    return;
  }
  const bool taken = std::ranges::any_of(
      entries_, [&](const Entry& entry) { return std::string_view(entry.table->name) == table->name; });
  if (!taken) entries_.push_back({table, path, nullptr});
}

Status BackendLoader::ScanOnce() {
  if (scanned_) return {};
  if (Status status = CheckLibrarySearch(); !status.ok()) return status;
  scanned_ = true;
  for (const std::string& folder : options_.folders) {
    std::vector<std::string> libraries;
    std::error_code ignored;  // a folder that is not there holds no backend
    for (const fs::directory_entry& file : fs::directory_iterator(folder, ignored)) {
      const std::string name = file.path().filename().string();
      if (name.starts_with(kPrefix) && name.ends_with(kSuffix)) libraries.push_back(file.path().string());
    }
    std::ranges::sort(libraries);
    for (const std::string& library : libraries) AddLibrary(library);
  }
  return {};
}

Result<std::shared_ptr<Backend>> BackendLoader::Open(Entry& entry) {
  if (entry.backend) return entry.backend;
  auto found = options_.configs.find(entry.table->name);
  const std::string config = found == options_.configs.end() ? "{}" : found->second;
  if (Status status = CheckBackendKeys(*entry.table, WASINN_KEY_BACKEND, config); !status.ok()) {
    return std::unexpected(std::move(status));
  }
  Result<std::shared_ptr<Backend>> backend = Backend::Open(*entry.table, logger_, options_.threads, config);
  if (backend) entry.backend = *backend;
  return backend;
}

Result<std::shared_ptr<Backend>> BackendLoader::ForEncoding(wasinn_encoding encoding) {
  std::lock_guard lock(mutex_);
  if (Status status = ScanOnce(); !status.ok()) return std::unexpected(std::move(status));
  for (Entry& entry : entries_) {
    if (Serves(*entry.table, encoding)) return Open(entry);
  }
  for (const Known& known : kKnown) {
    if (known.encoding != encoding) continue;
    return Fail(WASINN_UNSUPPORTED_OPERATION, "encoding {} needs the backend '{}': {}", EncodingName(encoding),
                known.name, MissingLibrary(known, Folders()));
  }
  return Fail(WASINN_UNSUPPORTED_OPERATION, "no backend serves encoding {}", EncodingName(encoding));
}

Result<std::shared_ptr<Backend>> BackendLoader::ByName(std::string_view name) {
  std::lock_guard lock(mutex_);
  if (Status status = ScanOnce(); !status.ok()) return std::unexpected(std::move(status));
  for (Entry& entry : entries_) {
    if (name == entry.table->name) return Open(entry);
  }
  const auto known = std::ranges::find(kKnown, name, &Known::name);
  if (known != std::end(kKnown)) {
    return Fail(WASINN_UNSUPPORTED_OPERATION, "backend '{}': {}", name, MissingLibrary(*known, Folders()));
  }
  return Fail(WASINN_INVALID_ARGUMENT, "there is no backend '{}'", name);
}

BackendReport BackendLoader::ReportOf(Entry& entry) {
  BackendReport report{.name = entry.table->name};
  report.keys = {entry.table->keys, entry.table->n_keys};
  std::vector<std::string> encodings;
  for (wasinn_encoding encoding : EncodingsOf(*entry.table)) encodings.emplace_back(EncodingName(encoding));
  report.encodings = Join(encodings);
  Result<std::shared_ptr<Backend>> backend = Open(entry);
  Result<const wasinn_backend_info*> info =
      backend ? (*backend)->Info() : Result<const wasinn_backend_info*>(std::unexpected(std::move(backend.error())));
  if (!info) {
    report.missing = info.error().message();
    report.install = entry.table->install;
    return report;
  }
  report.available = true;
  report.framework = fmt::format("{} {}", (*info)->framework, (*info)->version);
  report.devices = (*info)->devices;
  report.library = (*info)->library;
  return report;
}

std::vector<BackendReport> BackendLoader::Report() {
  std::lock_guard lock(mutex_);
  const Status status = ScanOnce();
  std::vector<BackendReport> reports;
  reports.reserve(entries_.size() + std::size(kKnown));
  for (Entry& entry : entries_) reports.push_back(ReportOf(entry));
  for (const Known& known : kKnown) {
    if (std::ranges::any_of(reports, [&](const BackendReport& report) { return report.name == known.name; })) continue;
    reports.push_back({.name = known.name,
                       .encodings = EncodingName(known.encoding),
                       .missing = status.ok() ? MissingLibrary(known, Folders()) : std::string(status.message()),
                       .install = status.ok() ? known.install : ""});
  }
  return reports;
}

}  // namespace wasinn::core
