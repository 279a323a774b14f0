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

BackendReport ReportOfTable(const wasinn_backend& table) {
  std::vector<std::string> encodings;
  for (wasinn_encoding encoding : EncodingsOf(table)) encodings.emplace_back(EncodingName(encoding));
  return {.name = table.name, .encodings = Join(encodings), .keys = {table.keys, table.n_keys}};
}

BackendReport ReportOfMissing(const wasinn_backend& table, const Status& error) {
  BackendReport report = ReportOfTable(table);
  report.missing = error.message();
  report.install = table.install;
  return report;
}

std::string MissingLibrary(const Known& known, const std::string& folders) {
  std::string text = fmt::format("{}{}{} is not in {}", kPrefix, known.name, kSuffix, folders);
  if (*known.install == '\0') text += "; this release of wasinn has no such backend";
  return text;
}

std::string HowToGet(const Known& known) {
  if (*known.install == '\0') return "";
  return fmt::format("; {} fetches what it is built with, then build wasinn again", known.install);
}

}  // namespace

std::string BackendLoader::Folders() const {
  return options_.folders.empty() ? "any backend folder (none is configured)" : Join(options_.folders);
}

void BackendLoader::AddLibrary(const std::string& path, Entries& entries) const {
  const auto refuse = [&](std::string_view problem) {
    logger_.Write(WASINN_LOG_WARNING, fmt::format("cannot use backend library {}: {}", path, problem));
  };
  // RTLD_LOCAL: frameworks carry clashing copies of the same libraries. Never closed: frameworks leave threads behind.
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return refuse(::dlerror());
  auto query = reinterpret_cast<decltype(&wasinn_backend_query)>(::dlsym(library, "wasinn_backend_query"));
  if (query == nullptr) return refuse("it exports no wasinn_backend_query");
  const wasinn_backend* table = query(WASINN_BACKEND_ABI_MAJOR, WASINN_BACKEND_ABI_MINOR);
  if (table == nullptr) {
    return refuse(fmt::format("it does not serve version {}.{} of the backend ABI, which is this wasinn's",
                              WASINN_BACKEND_ABI_MAJOR, WASINN_BACKEND_ABI_MINOR));
  }
  const Result<wasinn_backend> read = Backend::ReadTable(*table);
  if (!read) return refuse(read.error().message());
  const bool taken = std::ranges::any_of(
      entries, [&](const Entry& entry) { return std::string_view(entry.table.name) == read->name; });
  if (!taken) entries.emplace_back(*read, path);
}

void BackendLoader::WarnOfUnknownConfigs(const Entries& entries) const {
  std::vector<std::string> names;
  for (const Known& known : kKnown) names.emplace_back(known.name);
  for (const Entry& entry : entries) names.emplace_back(entry.table.name);
  for (const auto& [name, config] : options_.configs) {
    if (std::ranges::find(names, name) != names.end()) continue;
    logger_.Write(WASINN_LOG_WARNING, fmt::format("the configuration of backend '{}' is for none that is here{}", name,
                                                  Suggest(name, names)));
  }
}

Result<std::shared_ptr<BackendLoader::Entries>> BackendLoader::FindEntries(const Patience& patience) {
  return entries_.Get(patience, "the list of backends", [this]() -> Result<std::shared_ptr<Entries>> {
    if (Status status = CheckLibrarySearch(); !status.ok()) return std::unexpected(std::move(status));
    auto entries = std::make_shared<Entries>();
    for (const std::string& folder : options_.folders) {
      std::vector<std::string> libraries;
      std::error_code ignored;  // a folder that is not there holds no backend
      for (const fs::directory_entry& file : fs::directory_iterator(folder, ignored)) {
        const std::string name = file.path().filename().string();
        if (name.starts_with(kPrefix) && name.ends_with(kSuffix)) libraries.push_back(file.path().string());
      }
      std::ranges::sort(libraries);
      for (const std::string& library : libraries) AddLibrary(library, *entries);
    }
    WarnOfUnknownConfigs(*entries);
    return entries;
  });
}

Result<std::shared_ptr<Backend>> BackendLoader::Open(Entry& entry, const Patience& patience) {
  const std::string what = fmt::format("backend '{}'", entry.table.name);
  return entry.backend.Get(patience, what, [&]() -> Result<std::shared_ptr<Backend>> {
    auto found = options_.configs.find(entry.table.name);
    const std::string config = found == options_.configs.end() ? "{}" : found->second;
    if (Status status = CheckBackendKeys(entry.table, WASINN_KEY_BACKEND, config); !status.ok()) {
      return std::unexpected(std::move(status));
    }
    return Backend::Open(entry.table, logger_, options_.threads, config);
  });
}

Result<std::shared_ptr<Backend>> BackendLoader::ForEncoding(wasinn_encoding encoding, const Patience& patience) {
  Result<std::shared_ptr<Entries>> entries = FindEntries(patience);
  if (!entries) return std::unexpected(std::move(entries.error()));
  for (Entry& entry : **entries) {
    if (Serves(entry.table, encoding)) return Open(entry, patience);
  }
  for (const Known& known : kKnown) {
    if (known.encoding != encoding) continue;
    return Fail(WASINN_UNSUPPORTED_OPERATION, "encoding {} needs the backend '{}': {}", EncodingName(encoding),
                known.name, MissingLibrary(known, Folders()) + HowToGet(known));
  }
  return Fail(WASINN_UNSUPPORTED_OPERATION, "no backend serves encoding {}", EncodingName(encoding));
}

Result<std::shared_ptr<Backend>> BackendLoader::ByName(std::string_view name, const Patience& patience) {
  Result<std::shared_ptr<Entries>> entries = FindEntries(patience);
  if (!entries) return std::unexpected(std::move(entries.error()));
  for (Entry& entry : **entries) {
    if (name == entry.table.name) return Open(entry, patience);
  }
  const auto known = std::ranges::find(kKnown, name, &Known::name);
  if (known != std::end(kKnown)) {
    return Fail(WASINN_UNSUPPORTED_OPERATION, "backend '{}': {}", name,
                MissingLibrary(*known, Folders()) + HowToGet(*known));
  }
  return Fail(WASINN_INVALID_ARGUMENT, "there is no backend '{}'", name);
}

BackendReport BackendLoader::ReportOf(Entry& entry) {
  Result<std::shared_ptr<Backend>> backend = Open(entry, {});
  return backend ? Describe(**backend) : ReportOfMissing(entry.table, backend.error());
}

BackendReport Describe(const Backend& backend) {
  Result<wasinn_backend_info> info = backend.Info();
  if (!info) return ReportOfMissing(backend.table(), info.error());
  BackendReport report = ReportOfTable(backend.table());
  report.available = true;
  report.framework = fmt::format("{} {}", info->framework, info->version);
  report.devices = info->devices;
  report.library = info->library;
  return report;
}

std::vector<BackendReport> BackendLoader::Report() {
  std::vector<BackendReport> reports;
  Result<std::shared_ptr<Entries>> entries = FindEntries({});
  if (entries) {
    for (Entry& entry : **entries) reports.push_back(ReportOf(entry));
  }
  for (const Known& known : kKnown) {
    if (std::ranges::any_of(reports, [&](const BackendReport& report) { return report.name == known.name; })) continue;
    reports.push_back({.name = known.name,
                       .encodings = EncodingName(known.encoding),
                       .missing = entries ? MissingLibrary(known, Folders()) + HowToGet(known)
                                          : std::string(entries.error().message()),
                       .install = entries ? known.install : ""});
  }
  return reports;
}

}  // namespace wasinn::core
