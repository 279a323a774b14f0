#include "native_ort.h"

#include <dlfcn.h>

#include <algorithm>
#include <thread>

#include "support/this_build.h"

namespace wasinn::testing {
namespace {

template <typename T>
using OrtPtr = std::unique_ptr<T, void (*)(T*)>;

// The library, opened once and never closed: it leaves threads behind.
struct Library {
  const OrtApi* api = nullptr;
  std::string version;
  std::string error;
};

Library Open() {
  Library library;
  void* handle = ::dlopen(FrameworkFile("onnx").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    library.error = ::dlerror();
    return library;
  }
  using GetApiBase = const OrtApiBase*(ORT_API_CALL*)();
  const auto get_base = reinterpret_cast<GetApiBase>(::dlsym(handle, "OrtGetApiBase"));
  if (get_base == nullptr) {
    library.error = "it exports no OrtGetApiBase";
    return library;
  }
  library.version = get_base()->GetVersionString();
  library.api = get_base()->GetApi(ORT_API_VERSION);
  if (library.api == nullptr) library.error = "it is older than its headers";
  return library;
}

const Library& TheLibrary() {
  static const Library library = Open();
  return library;
}

const OrtApi& Api() { return *TheLibrary().api; }

// "" if there was no error.
std::string Take(OrtStatus* status) {
  if (status == nullptr) return "";
  const std::string message = Api().GetErrorMessage(status);
  Api().ReleaseStatus(status);
  return message.empty() ? "an error without a message" : message;
}

// Calls in a row, of which the first that fails ends the rest.
class Steps {
 public:
  template <typename Function, typename... Args>
  Steps& Then(Function function, Args... args) {
    if (error_.empty()) error_ = Take(function(args...));
    return *this;
  }
  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }

 private:
  std::string error_;
};

void ORT_API_CALL Silence(void*, OrtLoggingLevel, const char*, const char*, const char*, const char*) {}

// As the backend's environment: one pool of one thread per core for all sessions, whose threads do not spin.
OrtEnv* NewEnv() {
  OrtThreadingOptions* threading = nullptr;
  OrtEnv* env = nullptr;
  const int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  Steps steps;
  steps.Then(Api().CreateThreadingOptions, &threading);
  steps.Then(Api().SetGlobalIntraOpNumThreads, threading, threads);
  steps.Then(Api().SetGlobalInterOpNumThreads, threading, 1);
  steps.Then(Api().SetGlobalSpinControl, threading, 0);
  steps.Then(Api().CreateEnvWithCustomLoggerAndGlobalThreadPools, &Silence, nullptr, ORT_LOGGING_LEVEL_FATAL, "native",
             threading, &env);
  if (threading != nullptr) Api().ReleaseThreadingOptions(threading);
  return env;
}

OrtEnv* Env() {
  static const OrtPtr<OrtEnv> env(NewEnv(), Api().ReleaseEnv);
  return env.get();
}

using Count = decltype(OrtApi::SessionGetInputCount);
using Name = decltype(OrtApi::SessionGetInputName);
using TypeInfo = decltype(OrtApi::SessionGetInputTypeInfo);

std::string ReadIos(const OrtSession* session, Count count, Name name, TypeInfo type_info, std::vector<NativeIo>* out) {
  OrtAllocator* allocator = nullptr;
  size_t n = 0;
  Steps steps;
  steps.Then(Api().GetAllocatorWithDefaultOptions, &allocator).Then(count, session, &n);
  for (size_t i = 0; i < n && steps.ok(); ++i) {
    char* text = nullptr;
    OrtTypeInfo* info = nullptr;
    steps.Then(name, session, i, allocator, &text).Then(type_info, session, i, &info);
    if (!steps.ok()) break;
    const OrtPtr<OrtTypeInfo> owned(info, Api().ReleaseTypeInfo);
    NativeIo& io = out->emplace_back();
    io.name = text;
    allocator->Free(allocator, text);
    const OrtTensorTypeAndShapeInfo* tensor = nullptr;
    steps.Then(Api().CastTypeInfoToTensorInfo, info, &tensor);
    ONNXType kind = ONNX_TYPE_UNKNOWN;
    steps.Then(Api().GetOnnxTypeFromTypeInfo, info, &kind);
    io.is_tensor = kind == ONNX_TYPE_TENSOR;
    if (!io.is_tensor || tensor == nullptr) continue;
    ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    steps.Then(Api().GetTensorElementType, tensor, &type);
    io.type = static_cast<int32_t>(type);
  }
  return steps.error();
}

std::string ToOrt(const OnnxTensor& tensor, const OrtMemoryInfo* memory, OrtPtr<OrtValue>* out) {
  OrtValue* value = nullptr;
  const std::string error = Take(Api().CreateTensorWithDataAsOrtValue(
      memory, const_cast<uint8_t*>(tensor.bytes.data()), tensor.bytes.size(), tensor.dims.data(), tensor.dims.size(),
      static_cast<ONNXTensorElementDataType>(tensor.type), &value));
  out->reset(value);
  return error;
}

std::string FromOrt(OrtValue* value, OnnxTensor* out) {
  int is_tensor = 0;
  Steps steps;
  if (!steps.Then(Api().IsTensor, value, &is_tensor).ok() || is_tensor == 0) return "an output is no tensor";
  OrtTensorTypeAndShapeInfo* raw = nullptr;
  if (!steps.Then(Api().GetTensorTypeAndShape, value, &raw).ok()) return steps.error();
  const OrtPtr<OrtTensorTypeAndShapeInfo> info(raw, Api().ReleaseTensorTypeAndShapeInfo);
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  size_t rank = 0;
  void* data = nullptr;
  steps.Then(Api().GetTensorElementType, raw, &type).Then(Api().GetDimensionsCount, raw, &rank);
  out->dims.resize(rank);
  steps.Then(Api().GetDimensions, raw, out->dims.data(), rank).Then(Api().GetTensorMutableData, value, &data);
  if (!steps.ok()) return steps.error();
  out->type = static_cast<int32_t>(type);
  size_t bytes = 0;
  if (!TensorBytes(out->type, out->dims, &bytes)) return "an output is not a tensor of numbers";
  const auto* begin = static_cast<const uint8_t*>(data);
  if (bytes > 0) out->bytes.assign(begin, begin + bytes);
  return "";
}

}  // namespace

std::string NativeOrtVersion() { return TheLibrary().version; }

std::expected<NativeModel, std::string> NativeModel::Load(const std::string& path) {
  if (!TheLibrary().error.empty()) return std::unexpected(FrameworkFile("onnx") + ": " + TheLibrary().error);
  if (Env() == nullptr) return std::unexpected("no environment");
  OrtSessionOptions* raw = nullptr;
  OrtSession* session = nullptr;
  Steps steps;
  if (!steps.Then(Api().CreateSessionOptions, &raw).ok()) return std::unexpected(steps.error());
  const OrtPtr<OrtSessionOptions> options(raw, Api().ReleaseSessionOptions);
  steps.Then(Api().SetSessionGraphOptimizationLevel, raw, ORT_ENABLE_ALL);
  steps.Then(Api().SetSessionExecutionMode, raw, ORT_SEQUENTIAL);
  steps.Then(Api().DisablePerSessionThreads, raw);
  steps.Then(Api().CreateSession, Env(), path.c_str(), raw, &session);
  if (!steps.ok()) return std::unexpected(steps.error());
  NativeModel model(SessionPtr(session, Api().ReleaseSession));
  std::string error = ReadIos(session, Api().SessionGetInputCount, Api().SessionGetInputName,
                              Api().SessionGetInputTypeInfo, &model.inputs_);
  // Inputs with a default come behind the others, as the backend counts them.
  if (error.empty()) {
    error = ReadIos(session, Api().SessionGetOverridableInitializerCount, Api().SessionGetOverridableInitializerName,
                    Api().SessionGetOverridableInitializerTypeInfo, &model.inputs_);
  }
  if (error.empty()) {
    error = ReadIos(session, Api().SessionGetOutputCount, Api().SessionGetOutputName, Api().SessionGetOutputTypeInfo,
                    &model.outputs_);
  }
  if (!error.empty()) return std::unexpected(error);
  return model;
}

std::expected<std::vector<OnnxTensor>, std::string> NativeModel::Run(std::span<const OnnxTensor> inputs) const {
  if (inputs.size() > inputs_.size()) return std::unexpected("more inputs than the model has");
  OrtMemoryInfo* raw = nullptr;
  Steps steps;
  if (!steps.Then(Api().CreateCpuMemoryInfo, OrtDeviceAllocator, OrtMemTypeDefault, &raw).ok()) {
    return std::unexpected(steps.error());
  }
  const OrtPtr<OrtMemoryInfo> memory(raw, Api().ReleaseMemoryInfo);
  std::vector<OrtPtr<OrtValue>> owned;
  std::vector<const OrtValue*> values;
  std::vector<const char*> input_names, output_names;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string error = ToOrt(inputs[i], raw, &owned.emplace_back(nullptr, Api().ReleaseValue));
    if (!error.empty()) return std::unexpected(error);
    values.push_back(owned.back().get());
    input_names.push_back(inputs_[i].name.c_str());
  }
  for (const NativeIo& io : outputs_) output_names.push_back(io.name.c_str());
  std::vector<OrtValue*> results(outputs_.size(), nullptr);
  steps.Then(Api().Run, session_.get(), nullptr, input_names.data(), values.data(), values.size(), output_names.data(),
             output_names.size(), results.data());
  std::vector<OnnxTensor> tensors(results.size());
  std::string error = steps.error();
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i] == nullptr) continue;
    const OrtPtr<OrtValue> result(results[i], Api().ReleaseValue);
    if (error.empty()) error = FromOrt(results[i], &tensors[i]);
  }
  if (!error.empty()) return std::unexpected(error);
  return tensors;
}

}  // namespace wasinn::testing
