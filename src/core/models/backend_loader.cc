#include "core/models/backend_loader.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wasinn/wasinn.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/library_folders.h"
#include "core/isolation/isolated_graph.h"
#include "core/text.h"

namespace wasinn::core {
namespace {

// UNSUPPORTED_OPERATION if the dynamic linker searches the working folder or a relative path, because LD_LIBRARY_PATH
// named one when the program started. A framework opens libraries by name at any time, so none may be opened then: a
// guest that can write to that folder could supply its own code.
Status CheckLibrarySearch() {
  static constexpr char kHere = 0;
  for (const std::string& folder : base::LibraryFolders(&kHere)) {
    if (folder.starts_with('/')) continue;
    return Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
                 "no framework is opened: LD_LIBRARY_PATH has a part that is empty or not an absolute path ('{}'). "
                 "The dynamic linker would look for libraries in the working folder, where a guest may have put "
                 "something; start the program without it",
                 folder);
  }
  return {};
}

namespace fs = std::filesystem;
constexpr std::string_view kPrefix = "libwasinn_backend_", kSuffix = ".so";
constexpr std::string_view kLookedFor = "looked for: ";  // the beginning of a line in backends' messages

// Backends of the wasinn project: if one is not built, the error names the command that gets its framework.
struct Known {
  const char* name;
  const char* format;
  const char* install;
};
constexpr Known kKnown[] = {{"onnx", "onnx", "scripts/deps.sh onnxruntime"},
                            {"openvino", "openvino", "scripts/deps.sh openvino"},
                            {"tflite", "tensorflowlite", "scripts/deps.sh tflite"},
                            {"torch", "pytorch", "scripts/deps.sh torch"},
                            {"tensorflow", "tensorflow", "scripts/deps.sh tensorflow"},
                            {"llama", "ggml", "scripts/deps.sh llama"}};

BackendReport ReportOfTable(const wasinn_backend& table) {
  const Result<std::vector<wasinn_format>> formats = ReadFormats(table);
  return {.name = table.name, .encodings = formats ? ListFormats(*formats) : "", .keys = {table.keys, table.n_keys}};
}

// Splits a backend's message about a missing framework: a line for everyone, then the files that it looked for.
std::pair<std::string_view, std::string_view> SplitLine(std::string_view message) {
  const size_t end = message.find('\n');
  if (end == std::string_view::npos) return {message, {}};
  return {message.substr(0, end), message.substr(end + 1)};
}

BackendReport ReportOfMissing(const wasinn_backend& table, const Status& error) {
  BackendReport report = ReportOfTable(table);
  const auto [line, more] = SplitLine(error.message());
  report.missing = line;
  report.looked_for = more.starts_with(kLookedFor) ? more.substr(kLookedFor.size()) : more;
  // If a framework is there and does not open, for example because of a wrong setting, no installation helps.
  report.install = error.code() == WASINN_ERROR_UNSUPPORTED_OPERATION ? table.install : "";
  return report;
}

std::string LibraryIn(const Known& known, const std::string& folders) {
  return fmt::format("{}{}{} in {}", kPrefix, known.name, kSuffix, folders);
}

// A shortage of the system or this process at this moment: the next search may find more.
bool IsShortage(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM || error == EAGAIN; }

std::string HowToGet(const Known& known, const InstallHints& hints) {
  if (hints.Has(known.name)) return fmt::format("it is not here; {} installs it", hints.For(known.name, ""));
  if (*known.install == '\0') return "it is not here; this release of wasinn has no such backend";
  return fmt::format("it is not here; {} fetches what it is built with, then build wasinn again", known.install);
}

}  // namespace

std::string BackendLoader::Folders() const {
  return options_.folders.empty() ? "any backend folder (none is configured)" : Join(options_.folders);
}

Status BackendLoader::AddLibrary(const std::string& path, Entries& entries) const {
  const auto refuse = [&](std::string_view problem) {
    logger_.Write(WASINN_LOG_WARNING, fmt::format("cannot use backend library {}: {}", path, problem));
    return Status();
  };
  errno = 0;
  // RTLD_LOCAL: frameworks carry clashing copies of the same libraries. Never closed: frameworks leave threads behind.
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr && IsShortage(errno)) return Error(WASINN_ERROR_UNAVAILABLE, "{}", ::dlerror());
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
  Result<std::vector<wasinn_format>> formats = ReadFormats(*read);
  if (!formats) return refuse(formats.error().message());
  const bool taken = std::ranges::any_of(
      entries.found, [&](const Entry& entry) { return std::string_view(entry.table.name) == read->name; });
  if (!taken) entries.found.emplace_back(*read, std::move(*formats), path);
  return Status();
}

Status BackendLoader::AddFolder(const std::string& folder, Entries& entries) const {
  std::vector<std::string> libraries;
  std::error_code error;  // a missing folder holds no backend
  for (const fs::directory_entry& file : fs::directory_iterator(folder, error)) {
    const std::string name = file.path().filename().string();
    if (name.starts_with(kPrefix) && name.ends_with(kSuffix)) libraries.push_back(file.path().string());
  }
  if (IsShortage(error.value())) {
    return Error(WASINN_ERROR_UNAVAILABLE, "cannot look for backends in {}: {}", folder, error.message());
  }
  std::ranges::sort(libraries);
  for (const std::string& library : libraries) {
    RETURN_IF_ERROR(AddLibrary(library, entries));
  }
  return Status();
}

void BackendLoader::Order(Entries& entries) const {
  for (Entry& entry : entries.found) entries.in_order.push_back(&entry);
  const auto place = [this](const Entry* entry) { return std::ranges::find(options_.order, entry->table.name); };
  std::ranges::stable_sort(entries.in_order, {}, place);
  const Formats standard = StandardFormats();
  entries.all.assign(standard.begin(), standard.end());
  for (const Entry* entry : entries.in_order) {
    entries.all.insert(entries.all.end(), entry->formats.begin(), entry->formats.end());
  }
}

void BackendLoader::LogOrder(const Entries& entries) const {
  std::vector<std::string_view> seen;
  for (const Entry* entry : entries.in_order) {
    for (const wasinn_format& format : entry->formats) {
      if (std::ranges::find(seen, format.name) != seen.end()) continue;
      seen.emplace_back(format.name);
      std::vector<std::string> others;
      for (const Entry* other : entries.in_order) {
        if (other != entry && HasFormat(other->formats, format.name)) others.emplace_back(other->table.name);
      }
      if (others.empty()) continue;
      logger_.Write(WASINN_LOG_INFO, fmt::format("encoding {} is served by backend '{}', or by {} if its framework is "
                                                 "missing; backend_order changes the order",
                                                 format.name, entry->table.name, Join(others)));
    }
  }
}

// Warns of paths in the configuration that do not exist. They are no errors, because they may be created later.
void BackendLoader::WarnOfMissingPaths() const {
  for (size_t i = 0; i < options_.named_folders; ++i) {
    struct stat info{};
    const std::string& folder = options_.folders[i];
    if (::stat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) continue;
    logger_.Write(WASINN_LOG_WARNING, fmt::format("backend_dirs: there is no folder '{}'", folder));
  }
  if (!options_.names_worker || ::access(options_.worker.c_str(), X_OK) == 0) return;
  logger_.Write(WASINN_LOG_WARNING, fmt::format("worker: '{}' cannot be run ({}), so no model can run in a worker",
                                                options_.worker, std::strerror(errno)));
}

// The names of the backends that are here, and of those that can be installed.
std::vector<std::string> BackendLoader::NamesOf(const Entries& entries) {
  std::vector<std::string> names;
  for (const Known& known : kKnown) names.emplace_back(known.name);
  for (const Entry& entry : entries.found) {
    if (std::ranges::find(names, entry.table.name) == names.end()) names.emplace_back(entry.table.name);
  }
  return names;
}

void BackendLoader::WarnOfUnknownNames(const Entries& entries) const {
  const std::vector<std::string> names = NamesOf(entries);
  const auto check = [&](const char* what, const std::string& name) {
    if (std::ranges::find(names, name) != names.end()) return;
    logger_.Write(WASINN_LOG_WARNING,
                  fmt::format("{} '{}' names no backend that is here{}", what, name, Suggest(name, names)));
  };
  for (const auto& [name, config] : options_.configs) check("the configuration of backend", name);
  for (const std::string& name : options_.order) check("backend_order's backend", name);
}

Result<std::shared_ptr<BackendLoader::Entries>> BackendLoader::FindEntries(const WaitOptions& wait) {
  return entries_.Get(wait, "the list of backends", [this]() -> Result<std::shared_ptr<Entries>> {
    RETURN_IF_ERROR(CheckLibrarySearch());
    auto entries = std::make_shared<Entries>();
    for (const std::string& folder : options_.folders) {
      RETURN_IF_ERROR(AddFolder(folder, *entries));
    }
    entries->hints = InstallHints(options_.folders);
    Order(*entries);
    LogOrder(*entries);
    WarnOfMissingPaths();
    WarnOfUnknownNames(*entries);
    return entries;
  });
}

Result<std::string> BackendLoader::ConfigOf(const Entry& entry) const {
  auto found = options_.configs.find(entry.table.name);
  std::string config = found == options_.configs.end() ? "{}" : found->second;
  RETURN_IF_ERROR(CheckBackendKeys(entry.table, WASINN_KEY_BACKEND, config));
  return config;
}

// Guests get the error, so paths are only logged.
Result<std::shared_ptr<Backend>> BackendLoader::Open(Entry& entry, const InstallHints& hints, const WaitOptions& wait,
                                                     const Place& place) {
  Result<std::shared_ptr<Backend>> opened = OpenWithDetails(entry, hints, wait, place);
  if (opened) return opened;
  const Status& why = opened.error();
  const auto [line, more] = SplitLine(why.message());
  if (more.empty()) return opened;
  logger_.Write(WASINN_LOG_DEBUG, fmt::format("{}: {}", entry.table.name, more));
  return std::unexpected(why.With(std::string(line)));
}

Result<std::shared_ptr<Backend>> BackendLoader::OpenWithDetails(Entry& entry, const InstallHints& hints,
                                                                const WaitOptions& wait, const Place& place) {
  Result<std::shared_ptr<Backend>> opened =
      place.workers == nullptr ? OpenInHost(entry, wait) : OpenIsolated(entry, wait, place);
  if (opened || opened.error().code() != WASINN_ERROR_UNSUPPORTED_OPERATION) return opened;
  const Status& why = opened.error();
  return std::unexpected(why.With(hints.WithBetterCommand(why.message(), entry.table.name, entry.table.install)));
}

Result<std::shared_ptr<Backend>> BackendLoader::OpenInHost(Entry& entry, const WaitOptions& wait) {
  const std::string what = fmt::format("backend '{}'", entry.table.name);
  return entry.backend.Get(wait, what, [&]() -> Result<std::shared_ptr<Backend>> {
    ASSIGN_OR_RETURN(const std::string config, ConfigOf(entry));
    return Backend::Open(entry.table, logger_, options_.threads, config);
  });
}

Result<std::shared_ptr<Backend>> BackendLoader::OpenIsolated(const Entry& entry, const WaitOptions& wait,
                                                             const Place& place) const {
  Workers& workers = *place.workers;
  return workers.Get(entry.table.name, place.has_devices, wait, [&]() -> Result<std::shared_ptr<Backend>> {
    ASSIGN_OR_RETURN(std::string config, ConfigOf(entry));
    const isolation::Setting setting{.worker = options_.worker,
                                     .backend = entry.table.name,
                                     .library = entry.path,
                                     .config = std::move(config),
                                     .owner = workers.owner(),
                                     .has_devices = place.has_devices,
                                     .threads = options_.threads,
                                     .log_level = logger_.level(),
                                     .spin_us = options_.worker_spin_us,
                                     .cgroup = options_.workers_cgroup,
                                     .op_libraries = workers.op_libraries(),
                                     .max_model_bytes = workers.max_model_bytes(),
                                     .max_tensor_bytes = workers.max_tensor_bytes()};
    return Backend::OpenBy(
        isolation::IsolatedTable(entry.table), logger_, options_.threads,
        [&](const wasinn_host_services& services) {
          return isolation::IsolatedBackend::Open(zygotes_, setting, services);
        },
        {.abandon = [](wasinn_backend_state* state) { isolation::IsolatedBackend::Of(state).Abandon(); },
         .is_lost =
             [](wasinn_backend_graph* graph) { return isolation::IsolatedGraph::Of(graph).connection().gone(); }});
  });
}

Result<Formats> BackendLoader::AllFormats(const WaitOptions& wait) {
  ASSIGN_OR_RETURN(std::shared_ptr<Entries> entries, FindEntries(wait));
  return entries->all;
}

Status BackendLoader::CheckFormat(std::string_view name, wasinn_code code, const WaitOptions& wait) {
  if (name.empty() || HasFormat(StandardFormats(), name)) return Status();
  const Result<Formats> all = AllFormats(wait);
  const Formats formats = all ? *all : StandardFormats();  // the error is reported when a model is loaded
  if (HasFormat(formats, name)) return Status();
  return Error(code, "unknown encoding '{}'; known are {}", name, ListFormats(formats));
}

bool BackendLoader::IsMapped(std::string_view format, const WaitOptions& wait) {
  const auto is_mapped = [&](const wasinn_format& one) {
    return format == one.name && (one.flags & WASINN_FORMAT_MAPPED) != 0;
  };
  if (std::ranges::any_of(StandardFormats(), is_mapped)) return true;
  if (format.empty() || HasFormat(StandardFormats(), format)) return false;
  const Result<Formats> all = AllFormats(wait);
  return all && std::ranges::any_of(*all, is_mapped);
}

void BackendLoader::ReportMissing(Entry& entry, std::string_view format, const Entry& next, const Status& why) const {
  if (entry.is_missing_reported.exchange(true, std::memory_order_relaxed)) return;
  logger_.Write(WASINN_LOG_WARNING, fmt::format("encoding {} goes to backend '{}', since '{}' has no framework: {}",
                                                format, next.table.name, entry.table.name, why.message()));
}

Result<std::shared_ptr<Backend>> BackendLoader::ForFormat(std::string_view format, const WaitOptions& wait,
                                                          const Place& place) {
  ASSIGN_OR_RETURN(std::shared_ptr<Entries> entries, FindEntries(wait));
  Entry* missing = nullptr;
  Status why;  // for the first backend that serves the format
  for (Entry* entry : entries->in_order) {
    if (!HasFormat(entry->formats, format)) continue;
    if (missing != nullptr) ReportMissing(*missing, format, *entry, why);
    Result<std::shared_ptr<Backend>> backend = Open(*entry, entries->hints, wait, place);
    // If a framework is broken or wrongly configured, no other one silently replaces it.
    if (backend || backend.error().code() != WASINN_ERROR_UNSUPPORTED_OPERATION) return backend;
    if (missing == nullptr) why = std::move(backend.error());
    if (missing == nullptr) missing = entry;
  }
  if (missing != nullptr) return std::unexpected(std::move(why));
  for (const Known& known : kKnown) {
    if (known.format != format) continue;
    logger_.Write(WASINN_LOG_DEBUG, fmt::format("{}{}", kLookedFor, LibraryIn(known, Folders())));
    return Fail(WASINN_ERROR_UNSUPPORTED_OPERATION, "encoding {} needs the backend '{}': {}", format, known.name,
                HowToGet(known, entries->hints));
  }
  return Fail(WASINN_ERROR_UNSUPPORTED_OPERATION, "no backend serves encoding {}; known are {}", format,
              ListFormats(entries->all));
}

Result<std::shared_ptr<Backend>> BackendLoader::ByName(std::string_view name, const WaitOptions& wait,
                                                       const Place& place) {
  ASSIGN_OR_RETURN(std::shared_ptr<Entries> entries, FindEntries(wait));
  for (Entry& entry : entries->found) {
    if (name == entry.table.name) return Open(entry, entries->hints, wait, place);
  }
  const auto known = std::ranges::find(kKnown, name, &Known::name);
  if (known != std::end(kKnown)) {
    logger_.Write(WASINN_LOG_DEBUG, fmt::format("{}{}", kLookedFor, LibraryIn(*known, Folders())));
    return Fail(WASINN_ERROR_UNSUPPORTED_OPERATION, "backend '{}': {}", name, HowToGet(*known, entries->hints));
  }
  return Fail(WASINN_ERROR_INVALID_ARGUMENT, "there is no backend '{}'{}", name, Suggest(name, NamesOf(*entries)));
}

BackendReport BackendLoader::ReportOf(Entry& entry, const InstallHints& hints) {
  Result<std::shared_ptr<Backend>> backend = OpenWithDetails(entry, hints, {}, {});
  if (backend) return Describe(**backend);
  BackendReport report = ReportOfMissing(entry.table, backend.error());
  if (!report.install.empty()) report.install = hints.For(report.name, report.install);
  return report;
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
    for (Entry& entry : (*entries)->found) reports.push_back(ReportOf(entry, (*entries)->hints));
  }
  for (const Known& known : kKnown) {
    if (std::ranges::any_of(reports, [&](const BackendReport& report) { return report.name == known.name; })) continue;
    reports.push_back({.name = known.name,
                       .encodings = known.format,
                       .missing = entries ? HowToGet(known, (*entries)->hints) : std::string(entries.error().message()),
                       .install = entries ? (*entries)->hints.For(known.name, known.install) : "",
                       .looked_for = LibraryIn(known, Folders())});
  }
  return reports;
}

}  // namespace wasinn::core
