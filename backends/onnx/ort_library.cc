#include "onnx/ort_library.h"

#include <algorithm>
#include <cstdio>

#include "common/library.h"
#include "common/throw.h"

namespace wasinn::onnx {

using backend::Throw;

namespace {

constexpr char kInstall[] = "scripts/deps.sh onnxruntime";
constexpr const char* kNames[] = {"libonnxruntime.so.1", "libonnxruntime.so"};

// The oldest tested version: earlier ones do not load external data of a model that is given as bytes.
constexpr int kOldestMinor = 21;
// The newest API version with functions that are called here; each release still serves all older versions.
constexpr int kNewestApi = 24;

// Functions newer than the oldest supported headers. The table of functions is append-only: their places are fixed.
constexpr size_t kSetLoadCancellationFlag = 293;
constexpr int kSetLoadCancellationFlagSince = 22;
constexpr size_t kHasShape = 390;
constexpr int kHasShapeSince = 24;
static_assert(offsetof(OrtApi, SetEpDynamicOptions) == 284 * sizeof(void*),
              "the table of functions is not as we know it");

wasinn_code CodeOf(OrtErrorCode code) {
  constexpr int kModelLoadCanceled = 12;  // since 1.22
  switch (static_cast<int>(code)) {
    case ORT_INVALID_PROTOBUF:
    case ORT_NO_MODEL:
      return WASINN_ERROR_INVALID_ENCODING;
    case ORT_NOT_IMPLEMENTED:
      return WASINN_ERROR_UNSUPPORTED_OPERATION;
    case ORT_INVALID_ARGUMENT:
    case ORT_INVALID_GRAPH:
      return WASINN_ERROR_INVALID_ARGUMENT;
    case kModelLoadCanceled:
      return WASINN_ERROR_TIMEOUT;
    default:
      return WASINN_ERROR_RUNTIME;
  }
}

}  // namespace

OrtLibrary::OrtLibrary(const std::string& configured) {
  // Since 1.31 a new environment starts a thread, which looks up a host on the internet and writes below ~/.cache;
  // DisableTelemetryEvents needs an environment, so it comes too late for that.
  backend::SetForFramework("ORT_DISABLE_TELEMETRY", "1");
  const backend::Library library(
      {.framework = "ONNX Runtime", .install = kInstall, .names = kNames, .configured = configured});
  using GetApiBase = const OrtApiBase*(ORT_API_CALL*)();
  const auto get_api_base = library.Symbol<GetApiBase>("OrtGetApiBase");
  path_ = library.PathOf(reinterpret_cast<const void*>(get_api_base));
  const OrtApiBase* base = get_api_base();
  version_ = base->GetVersionString();
  int major = 0;
  std::sscanf(version_.c_str(), "%d.%d", &major, &minor_);
  // A release 1.N has API version N. It reports a request for a higher one on stderr.
  const bool good = major == 1 && minor_ >= kOldestMinor;
  api_ = good ? base->GetApi(static_cast<uint32_t>(std::min(minor_, kNewestApi))) : nullptr;
  if (api_ == nullptr) {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
          "ONNX Runtime {} ({}): expected a version of 1.{} or later; {} installs one", version_, path_, kOldestMinor,
          kInstall);
  }
}

void OrtLibrary::Check(OrtStatus* status, const char* doing) const {
  if (status == nullptr) return;
  wasinn_code code = WASINN_ERROR_RUNTIME;
  const std::string message = Message(status, &code);
  Throw(code, "{}: {}", doing, message);
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
