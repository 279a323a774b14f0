#include "cli/diagnosis.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/other_programs.h"
#include "engines/engine.h"
#include "settings/text.h"
#ifdef WASINN_HAVE_WORKERS
#include "worker/sandbox_support.h"
#endif

namespace wasinn::cli {
namespace {

namespace fs = std::filesystem;

Finding LimitOf(const char* name, int resource, rlim_t least, const std::string& why, const std::string& remedy) {
  rlimit limit = {};
  getrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
  if (limit.rlim_cur == RLIM_INFINITY) return Finding::Ok("limits", name, "none");
  const std::string found = std::to_string(limit.rlim_cur);
  if (limit.rlim_cur >= least) return Finding::Ok("limits", name, found);
  return Finding::Problem("limits", name, found + ": " + why, remedy);
}

// Whether files can be created in a folder, or the folder itself can.
Finding FolderFinding(const std::string& what, const fs::path& folder, const std::string& without,
                      const std::string& remedy) {
  fs::path there = folder;
  std::error_code ignored;
  while (!there.empty() && !fs::exists(there, ignored) && there.has_relative_path()) there = there.parent_path();
  if (fs::is_directory(there, ignored) && access(there.c_str(), W_OK | X_OK) == 0) {
    return Finding::Ok("folders", what, folder.string());
  }
  return Finding::Missing("folders", what, folder.string() + " cannot be written: " + without, remedy);
}

Finding CodeCache() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  const bool has_cache = cache != nullptr && *cache == '/';
  if (!has_cache && (home == nullptr || *home != '/')) {
    return Finding::Missing("folders", "compiled code",
                            "neither XDG_CACHE_HOME nor HOME is set: each run compiles again",
                            "export XDG_CACHE_HOME=/a/folder");
  }
  const fs::path folder = has_cache ? fs::path(cache) : fs::path(home) / ".cache";
  return FolderFinding("compiled code", folder / "wasinn-code", "each run compiles again",
                       "export XDG_CACHE_HOME=/a/folder");
}

Finding TemporaryFiles() {
  std::error_code failed;
  const fs::path folder = fs::temp_directory_path(failed);
  if (failed) return Finding::Missing("folders", "temporary files", failed.message(), "export TMPDIR=/a/folder");
  return FolderFinding("temporary files", folder, "TensorFlow's models need some", "export TMPDIR=/a/folder");
}

}  // namespace

std::vector<Finding> DiagnoseEngines() {
  std::vector<Finding> findings;
  const auto add = [&findings](const char* name, const engines::EngineVersion& engine, const std::string& missing) {
    if (engine.version.empty())
      return findings.push_back(Finding::Missing("engines", name, "not in this build", missing));
    const std::string where = engine.library.empty() ? "" : ", " + engine.library;
    findings.push_back(Finding::Ok("engines", name, engine.version + where));
  };
  add("Wasmtime", engines::WasmtimeVersion(), "");
  findings.push_back(DiagnoseComponents());
  add("WAMR", engines::WamrVersion(), HowToGetWamr());
  return findings;
}

Finding DiagnoseComponents() {
  if (engines::WasmtimeRunsComponents()) return Finding::Ok("engines", "components", "run on this Wasmtime");
  return Finding::Missing(
      "engines", "components", "this Wasmtime runs no components with wasi:nn",
      HowToInstall("components", "scripts/deps.sh wasmtime-component where wasinn is built, then build it again"));
}

std::vector<Finding> DiagnoseFrameworks(const std::vector<BackendReport>& backends) {
  std::vector<Finding> findings;
  for (const BackendReport& backend : backends) {
    if (backend.available) {
      findings.push_back(Finding::Ok("frameworks", backend.name,
                                     backend.framework + " for " + backend.encodings + " on " + backend.devices));
    } else if (backend.install.empty()) {
      findings.push_back(Finding::Problem("frameworks", backend.name, backend.missing));
    } else {
      findings.push_back(Finding::Missing("frameworks", backend.name, backend.missing, backend.install));
    }
    findings.back().looked_for = backend.looked_for;
  }
  if (std::ranges::none_of(backends, &BackendReport::available)) {
    findings.push_back(Finding::Problem("frameworks", "any", "no model can run without a framework"));
  }
  return findings;
}

#ifdef WASINN_HAVE_WORKERS
namespace {

Finding KernelHas(const worker::SandboxSupport& support) {
  std::string has =
      fmt::format("seccomp {}, sealed memory files {}, executable memory {}, Landlock ", support.seccomp ? "yes" : "no",
                  support.seals ? "yes" : "no", support.exec_memory ? "yes" : "no");
  has += support.landlock > 0 ? std::to_string(support.landlock) : "no";
  if (support.seccomp && support.no_new_privs && support.seals) return Finding::Ok("workers", "kernel", has);
  return Finding::Problem("workers", "kernel", has + ": no worker can have its sandbox",
                          "Linux 5.3 or newer, and a container that allows seccomp; or --nn-load deny");
}

// Tries bytes that are no model in a worker: if there is a worker, its framework refuses them. No value if models of
// this backend are no bytes, so that none has a worker.
std::optional<Finding> TryWorker(Host& host, const BackendReport& backend) {
  static constexpr uint8_t kNoModel[] = {'n', 'o', ' ', 'm', 'o', 'd', 'e', 'l'};
  ModelOptions options;
  options.builders.push_back({kNoModel, sizeof kNoModel});
  options.encoding = settings::Split(backend.encodings, ',')[0];
  options.isolate = true;
  const std::string name = "wasinn-doctor-" + backend.name;
  Status status = host.AddModel(name, options);
  if (status.code() == WASINN_ERROR_UNSUPPORTED_OPERATION) return std::nullopt;
  if (status.ok()) status = host.Inspect(name).status();
  (void)host.RemoveModel(name);
  const bool is_refused = status.ok() || status.code() == WASINN_ERROR_INVALID_ARGUMENT ||
                          status.code() == WASINN_ERROR_INVALID_ENCODING || status.code() == WASINN_ERROR_NOT_FOUND;
  if (is_refused) return Finding::Ok("workers", backend.name, "one started");
  const std::string why = status.message(), named = "model '" + name + ":1': ";
  return Finding::Problem("workers", backend.name, why.starts_with(named) ? why.substr(named.size()) : why,
                          "the setting `worker` (docs/isolation.md), or --nn-load deny");
}

}  // namespace

std::vector<Finding> DiagnoseWorkers(Host& host, const std::vector<BackendReport>& backends) {
  const worker::SandboxSupport support = worker::FindSandboxSupport();
  std::vector<Finding> findings = {KernelHas(support)};
  for (const BackendReport& backend : backends) {
    if (!backend.available) continue;
    const std::string missing = support.Missing(worker::SandboxOptionsOf(backend.name, support.exec_memory));
    std::optional<Finding> finding = Finding::Problem("workers", backend.name, "this is missing: " + missing);
    if (missing.empty()) finding = TryWorker(host, backend);
    if (finding) findings.push_back(std::move(*finding));
  }
  return findings;
}
#else
std::vector<Finding> DiagnoseWorkers(Host&, const std::vector<BackendReport>&) {
  return {Finding::Problem("workers", "any", "this build was made without libseccomp",
                           HowToInstall("worker", "scripts/deps.sh build where wasinn is built, then build it again"))};
}
#endif

// Whether the dynamic linker searches the working folder, in which anyone may have put a library.
static bool SearchesWorkingFolder() {
  const char* const path = std::getenv("LD_LIBRARY_PATH");
  std::string folders = path == nullptr ? "" : path;
  if (folders.empty()) return false;
  std::ranges::replace(folders, ';', ':');  // the linker accepts both separators
  return !std::ranges::all_of(settings::Split(folders, ':'),
                              [](const std::string& folder) { return folder.starts_with('/'); });
}

namespace {

Finding DiagnoseNvidia(const std::vector<BackendReport>& backends) {
  std::error_code ignored;
  if (!fs::exists("/dev/nvidiactl", ignored)) return Finding::Ok("GPU", "NVIDIA", "none");
  if (SearchesWorkingFolder()) {
    return Finding::Problem("GPU", "NVIDIA", "a device; its driver is not looked for in the working folder",
                            "start without LD_LIBRARY_PATH: a part of it is empty or no absolute path");
  }
  if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) == nullptr) {
    return Finding::Problem("GPU", "NVIDIA", "a device, and no libcuda.so.1",
                            "NVIDIA's driver for this system; in a container, --gpus all");
  }
  const bool is_used = std::ranges::any_of(
      backends, [](const BackendReport& backend) { return backend.devices.find("gpu") != std::string::npos; });
  if (is_used) return Finding::Ok("GPU", "NVIDIA", "a device, its driver, and a framework that computes on it");
  return Finding::Missing("GPU", "NVIDIA", "a device and its driver, and no framework that computes on it",
                          "a CUDA build of a framework: docs/gpu.md");
}

// Render nodes are needed for computing by drivers of Vulkan, of any maker.
Finding DiagnoseRenderNodes() {
  std::error_code ignored;
  std::string names;
  for (const fs::directory_entry& node : fs::directory_iterator("/dev/dri", ignored)) {
    const std::string name = node.path().filename();
    if (name.starts_with("renderD")) names += (names.empty() ? "" : ", ") + name;
  }
  return Finding::Ok("GPU", "render nodes", names.empty() ? "none" : names);
}

}  // namespace

std::vector<Finding> DiagnoseGpu(const Host& host, const std::vector<BackendReport>& backends) {
  const char* const in_workers = host.policy().isolated_gpu ? "allowed, in a weaker sandbox (policy.isolated_gpu)"
                                                            : "not allowed (policy.isolated_gpu)";
  return {DiagnoseNvidia(backends), DiagnoseRenderNodes(), Finding::Ok("GPU", "in workers", in_workers)};
}

std::vector<Finding> DiagnoseSystem() {
  constexpr rlim_t kFiles = 1024, kFileBytes = rlim_t{1} << 30, kAddresses = rlim_t{64} << 30;
  utsname name = {};
  uname(&name);
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return {Finding::Ok("system", "Linux", fmt::format("{} on {}", name.release, name.machine)),
          Finding::Ok("system", "processors", std::to_string(sysconf(_SC_NPROCESSORS_ONLN))),
          Finding::Ok("system", "memory",
                      fmt::format("{:.1f} GiB", static_cast<double>(pages) * static_cast<double>(page) / (1 << 30))),
          LimitOf("open files", RLIMIT_NOFILE, kFiles, "each worker and each guest takes some", "ulimit -n 4096"),
          LimitOf("addresses", RLIMIT_AS, kAddresses, "Wasmtime takes 4 GiB for each memory of a guest",
                  "ulimit -v unlimited"),
          LimitOf("bytes of a file", RLIMIT_FSIZE, kFileBytes, "models that guests bring are files in memory",
                  "ulimit -f unlimited"),
          CodeCache(),
          TemporaryFiles()};
}

}  // namespace wasinn::cli
