#include "onnx/ort_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "common/error.h"

namespace wasinn::onnx {

using backend::Error;

namespace {

constexpr char kInstall[] = "scripts/deps.sh onnxruntime";
constexpr char kSoname[] = "libonnxruntime.so.1";
constexpr char kPlainName[] = "libonnxruntime.so";

// The oldest that our tests pass with: before, external data beside a model that is given as bytes do not work.
constexpr int kOldestMinor = 21;
// The newest API version whose functions we call; each release still serves all older versions.
constexpr int kNewestApi = 24;

// Functions that are younger than our oldest headers. The table of functions is append-only, so their places are fixed.
constexpr size_t kSetLoadCancellationFlag = 293;
constexpr int kSetLoadCancellationFlagSince = 22;
constexpr size_t kHasShape = 390;
constexpr int kHasShapeSince = 24;
static_assert(offsetof(OrtApi, SetEpDynamicOptions) == 284 * sizeof(void*),
              "the table of functions is not as we know it");

// Where the dynamic linker looks for what this library asks for: our own RUNPATH, LD_LIBRARY_PATH, the system's.
std::vector<std::filesystem::path> SearchFolders() {
  Dl_info info = {};
  link_map* self = nullptr;
  static constexpr char kHere = 0;
  if (dladdr1(&kHere, &info, reinterpret_cast<void**>(&self), RTLD_DL_LINKMAP) == 0) return {};
  Dl_serinfo sizes = {};
  if (dlinfo(self, RTLD_DI_SERINFOSIZE, &sizes) != 0) return {};
  std::vector<std::max_align_t> memory(sizes.dls_size / sizeof(std::max_align_t) + 1);
  auto* paths = reinterpret_cast<Dl_serinfo*>(memory.data());
  if (dlinfo(self, RTLD_DI_SERINFOSIZE, paths) != 0 || dlinfo(self, RTLD_DI_SERINFO, paths) != 0) return {};
  std::vector<std::filesystem::path> folders;
  folders.reserve(paths->dls_cnt);
  for (unsigned i = 0; i < paths->dls_cnt; ++i) folders.emplace_back(paths->dls_serpath[i].dls_name);
  return folders;
}

std::vector<std::string> Candidates(const std::string& configured) {
  std::vector<std::string> candidates;
  const auto add_folder = [&candidates](const std::filesystem::path& folder) {
    // Whatever a variable says, never the working folder.
    if (!folder.is_absolute()) return;
    for (const char* name : {kSoname, kPlainName}) candidates.push_back((folder / name).string());
  };
  if (configured.empty()) {
    // By its plain name first, for the program may have it open. The linker does not see our RUNPATH where another
    // library stands between it and us, as a sanitizer's does.
    candidates = {kSoname};
    for (const auto& folder : SearchFolders()) add_folder(folder);
    return candidates;
  }
  const std::filesystem::path path(configured);
  if (!path.is_absolute()) {
    throw Error(WASINN_INVALID_ARGUMENT, fmt::format("library: expected an absolute path, found {}", configured));
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    add_folder(path);
  } else {
    candidates = {configured};
  }
  return candidates;
}

std::string PathOf(const void* address) {
  Dl_info info = {};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return "";
  std::error_code failed;
  const auto real = std::filesystem::canonical(info.dli_fname, failed);
  return failed ? info.dli_fname : real.string();
}

wasinn_code CodeOf(OrtErrorCode code) {
  constexpr int kModelLoadCanceled = 12;  // since 1.22
  switch (static_cast<int>(code)) {
    case ORT_INVALID_PROTOBUF:
    case ORT_NO_MODEL:
      return WASINN_INVALID_ENCODING;
    case ORT_NOT_IMPLEMENTED:
      return WASINN_UNSUPPORTED_OPERATION;
    case ORT_INVALID_ARGUMENT:
    case ORT_INVALID_GRAPH:
      return WASINN_INVALID_ARGUMENT;
    case kModelLoadCanceled:
      return WASINN_TIMEOUT;
    default:
      return WASINN_RUNTIME_ERROR;
  }
}

}  // namespace

OrtLibrary::OrtLibrary(const std::string& configured) { FindApi(OpenLibrary(configured)); }

void* OrtLibrary::OpenLibrary(const std::string& configured) {
  std::vector<std::string> tried;
  for (const std::string& name : Candidates(configured)) {
    void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) return handle;
    // A file that is there and does not open deserves the linker's own words.
    const char* why = dlerror();
    std::error_code ignored;
    tried.push_back(why != nullptr && std::filesystem::exists(name, ignored) ? why : name);
  }
  throw Error(WASINN_UNSUPPORTED_OPERATION,
              fmt::format("ONNX Runtime's library was not found; {} installs it. Looked for: {}", kInstall,
                          fmt::join(tried, ", ")));
}

void OrtLibrary::FindApi(void* handle) {
  using GetApiBase = const OrtApiBase*(ORT_API_CALL*)();
  auto get_api_base = reinterpret_cast<GetApiBase>(dlsym(handle, "OrtGetApiBase"));
  if (get_api_base == nullptr) {
    throw Error(WASINN_UNSUPPORTED_OPERATION, "the library that was found as ONNX Runtime has no OrtGetApiBase");
  }
  path_ = PathOf(reinterpret_cast<const void*>(get_api_base));
  const OrtApiBase* base = get_api_base();
  version_ = base->GetVersionString();
  int major = 0;
  std::sscanf(version_.c_str(), "%d.%d", &major, &minor_);
  // A release 1.N has API version N. Asking for a higher one is answered on stderr.
  const bool good = major == 1 && minor_ >= kOldestMinor;
  api_ = good ? base->GetApi(static_cast<uint32_t>(std::min(minor_, kNewestApi))) : nullptr;
  if (api_ == nullptr) {
    throw Error(WASINN_UNSUPPORTED_OPERATION,
                fmt::format("ONNX Runtime {} ({}): expected a version of 1.{} or later; {} installs one", version_,
                            path_, kOldestMinor, kInstall));
  }
}

void OrtLibrary::Check(OrtStatus* status, const char* doing) const {
  if (status == nullptr) return;
  wasinn_code code = WASINN_RUNTIME_ERROR;
  const std::string message = Message(status, &code);
  throw Error(code, fmt::format("{}: {}", doing, message));
}

std::string OrtLibrary::Message(OrtStatus* status, wasinn_code* code) const {
  const OrtPtr<OrtStatus> owned(status, api_->ReleaseStatus);
  if (code != nullptr) *code = CodeOf(api_->GetErrorCode(status));
  std::string message = api_->GetErrorMessage(status);
  while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) message.pop_back();
  return message;
}

void* OrtLibrary::FunctionAt(size_t index) const { return reinterpret_cast<void* const*>(api_)[index]; }

std::optional<bool> OrtLibrary::HasShape(const OrtTensorTypeAndShapeInfo* info) const {
  if (minor_ < kHasShapeSince) return std::nullopt;
  using Function = bool(ORT_API_CALL*)(const OrtTensorTypeAndShapeInfo*);
  return reinterpret_cast<Function>(FunctionAt(kHasShape))(info);
}

bool OrtLibrary::CanCancelLoad() const { return minor_ >= kSetLoadCancellationFlagSince; }

void OrtLibrary::SetLoadCancelled(OrtSessionOptions* options) const {
  if (!CanCancelLoad()) return;
  using Function = OrtStatus*(ORT_API_CALL*)(OrtSessionOptions*, bool);
  OrtStatus* status = reinterpret_cast<Function>(FunctionAt(kSetLoadCancellationFlag))(options, true);
  if (status != nullptr) api_->ReleaseStatus(status);
}

}  // namespace wasinn::onnx
