// ONNX Runtime through its C API. It has the settings of backends/onnx: one thread, or the pool that the backend made;
// all graph optimisations; no spinning.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstring>
#include <stdexcept>
#include <utility>

#include "bench/native.h"
// Looked up and not linked: linking would bind a symbol version that other releases lack.
#define ORT_API_MANUAL_INIT
#include <onnxruntime_c_api.h>

namespace wasinn::bench {
namespace {

// The oldest release that wasinn's backend takes; every newer one still has its functions.
constexpr uint32_t kApiVersion = 21;

template <typename T>
using OrtPtr = std::unique_ptr<T, void (*)(T*)>;

class Library {
 public:
  explicit Library(const std::string& path) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed
    if (handle == nullptr) throw std::runtime_error(dlerror());
    using GetApiBase = const OrtApiBase*(ORT_API_CALL*)();
    const auto get_api_base = reinterpret_cast<GetApiBase>(dlsym(handle, "OrtGetApiBase"));
    api_ = get_api_base == nullptr ? nullptr : get_api_base()->GetApi(kApiVersion);
    if (api_ == nullptr)
      throw std::runtime_error(fmt::format("{} is not an ONNX Runtime of 1.{} or later", path, kApiVersion));
  }

  const OrtApi* operator->() const { return api_; }
  void Check(OrtStatus* status) const {
    if (status == nullptr) return;
    const std::string message = api_->GetErrorMessage(status);
    api_->ReleaseStatus(status);
    throw std::runtime_error("ONNX Runtime: " + message);
  }

 private:
  const OrtApi* api_;
};

// The parts that runners share.
struct Session {
  Session(const NativeOptions& options, const std::vector<Tensor>& model_inputs, std::vector<Tensor>* model_outputs)
      : api(options.library), inputs(model_inputs), outputs(model_outputs) {
    // An OS process has one environment, which wasinn's backend has made.
    OrtEnv* raw_env = nullptr;
    api.Check(api->CreateEnv(ORT_LOGGING_LEVEL_WARNING, "bench", &raw_env));
    env = {raw_env, api->ReleaseEnv};
    OrtSessionOptions* raw_options = nullptr;
    api.Check(api->CreateSessionOptions(&raw_options));
    const OrtPtr<OrtSessionOptions> session_options(raw_options, api->ReleaseSessionOptions);
    if (options.threads > 1) {
      api.Check(api->DisablePerSessionThreads(raw_options));
    } else {
      api.Check(api->SetIntraOpNumThreads(raw_options, 1));
    }
    api.Check(api->SetInterOpNumThreads(raw_options, 1));
    api.Check(api->SetSessionGraphOptimizationLevel(raw_options, ORT_ENABLE_ALL));
    OrtSession* raw_session = nullptr;
    api.Check(api->CreateSession(raw_env, options.path.c_str(), raw_options, &raw_session));
    session = {raw_session, api->ReleaseSession};
    OrtMemoryInfo* raw_memory = nullptr;
    api.Check(api->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &raw_memory));
    cpu = {raw_memory, api->ReleaseMemoryInfo};
  }

  const Library api;
  const std::vector<Tensor>& inputs;
  std::vector<Tensor>* const outputs;
  OrtPtr<OrtEnv> env{nullptr, nullptr};
  OrtPtr<OrtSession> session{nullptr, nullptr};
  OrtPtr<OrtMemoryInfo> cpu{nullptr, nullptr};
};

ONNXTensorElementDataType ToOrt(Dtype dtype) {
  switch (dtype) {
    case WASINN_DTYPE_F16:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16;
    case WASINN_DTYPE_BF16:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16;
    case WASINN_DTYPE_F32:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
    case WASINN_DTYPE_F64:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE;
    case WASINN_DTYPE_U8:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8;
    case WASINN_DTYPE_I8:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8;
    case WASINN_DTYPE_U16:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16;
    case WASINN_DTYPE_I16:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16;
    case WASINN_DTYPE_U32:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32;
    case WASINN_DTYPE_I32:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32;
    case WASINN_DTYPE_U64:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64;
    case WASINN_DTYPE_I64:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64;
    case WASINN_DTYPE_BOOL:
      return ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL;
    case WASINN_DTYPE_UNKNOWN:
      break;
  }
  return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
}

class OnnxRunner final : public NativeRunner {
 public:
  explicit OnnxRunner(const Session& session)
      : session_(session), api_(session.api), binding_(nullptr, nullptr), options_(nullptr, nullptr) {
    OrtIoBinding* raw_binding = nullptr;
    api_.Check(api_->CreateIoBinding(session.session.get(), &raw_binding));
    binding_ = {raw_binding, api_->ReleaseIoBinding};
    OrtRunOptions* raw_options = nullptr;
    api_.Check(api_->CreateRunOptions(&raw_options));
    options_ = {raw_options, api_->ReleaseRunOptions};
    for (const Tensor& input : session.inputs) {
      inputs_.emplace_back(input.data.size());
      std::memcpy(inputs_.back().data(), input.data.bytes().data(), input.data.size());
      Bind(api_->BindInput, input, inputs_.back());
    }
  }

  // Runs once with outputs that ONNX Runtime allocates, and describes them.
  void Discover(std::vector<Tensor>* outputs) {
    for (const Tensor& output : *outputs) {
      api_.Check(api_->BindOutputToDevice(binding_.get(), output.name.c_str(), session_.cpu.get()));
    }
    if (!Run()) throw std::runtime_error(error_);
    OrtAllocator* allocator = nullptr;
    api_.Check(api_->GetAllocatorWithDefaultOptions(&allocator));
    OrtValue** values = nullptr;
    size_t count = 0;
    api_.Check(api_->GetBoundOutputValues(binding_.get(), allocator, &values, &count));
    std::vector<OrtPtr<OrtValue>> owned;
    owned.reserve(count);
    for (size_t i = 0; i < count; ++i) owned.emplace_back(values[i], api_->ReleaseValue);
    allocator->Free(allocator, static_cast<void*>(values));
    for (size_t i = 0; i < count; ++i) Describe(owned[i].get(), &(*outputs)[i]);
    api_->ClearBoundOutputs(binding_.get());
  }

  // From here on, outputs have fixed places.
  void BindOutputs() {
    for (const Tensor& output : *session_.outputs) {
      outputs_.emplace_back(output.data.size());
      Bind(api_->BindOutput, output, outputs_.back());
    }
  }

  bool Run() override {
    OrtStatus* status = api_->RunWithBinding(session_.session.get(), options_.get(), binding_.get());
    if (status == nullptr) [[likely]]
      return true;
    error_ = std::string("ONNX Runtime: ") + api_->GetErrorMessage(status);
    api_->ReleaseStatus(status);
    return false;
  }

  std::string error() const override { return error_; }
  std::span<uint8_t> input(size_t i) override { return inputs_[i].bytes(); }
  std::span<const uint8_t> output(size_t i) const override { return outputs_[i].bytes(); }

 private:
  void Bind(decltype(OrtApi::BindInput) bind, const Tensor& tensor, Buffer& buffer) {
    OrtValue* value = nullptr;
    api_.Check(api_->CreateTensorWithDataAsOrtValue(session_.cpu.get(), buffer.data(), buffer.size(),
                                                    tensor.dims.data(), tensor.dims.size(), ToOrt(tensor.dtype),
                                                    &value));
    const OrtPtr<OrtValue> owned(value, api_->ReleaseValue);  // the binding keeps its own reference
    api_.Check(bind(binding_.get(), tensor.name.c_str(), value));
  }

  void Describe(const OrtValue* value, Tensor* tensor) const {
    OrtTensorTypeAndShapeInfo* raw = nullptr;
    api_.Check(api_->GetTensorTypeAndShape(value, &raw));
    const OrtPtr<OrtTensorTypeAndShapeInfo> info(raw, api_->ReleaseTensorTypeAndShapeInfo);
    size_t rank = 0, elements = 0;
    api_.Check(api_->GetDimensionsCount(raw, &rank));
    tensor->dims.resize(rank);
    api_.Check(api_->GetDimensions(raw, tensor->dims.data(), rank));
    api_.Check(api_->GetTensorShapeElementCount(raw, &elements));
    tensor->data = Buffer(elements * ElementSize(tensor->dtype));
  }

  const Session& session_;
  const Library& api_;
  OrtPtr<OrtIoBinding> binding_;
  OrtPtr<OrtRunOptions> options_;
  std::vector<Buffer> inputs_, outputs_;
  std::string error_;
};

class OnnxModel final : public NativeModel {
 public:
  OnnxModel(const NativeOptions& options, const std::vector<Tensor>& inputs, std::vector<Tensor>* outputs)
      : session_(options, inputs, outputs) {
    OnnxRunner(session_).Discover(outputs);
  }

  Result<std::unique_ptr<NativeRunner>> NewRunner() const override try {
    auto runner = std::make_unique<OnnxRunner>(session_);
    runner->BindOutputs();
    return runner;
  } catch (const std::runtime_error& error) {
    return std::unexpected(error.what());
  }

 private:
  const Session session_;
};

Result<std::unique_ptr<NativeModel>> LoadNativeOnnx(const NativeOptions& options, const std::vector<Tensor>& inputs,
                                                    std::vector<Tensor>* outputs) try {
  return std::make_unique<OnnxModel>(options, inputs, outputs);
} catch (const std::runtime_error& error) {
  return std::unexpected(error.what());
}

const NativeFramework kOnnx("onnx", LoadNativeOnnx);

}  // namespace
}  // namespace wasinn::bench
