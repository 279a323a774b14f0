#include "native.h"

#include <onnxruntime_c_api.h>

#include <cstdio>
#include <cstdlib>
#include <functional>

namespace {

const OrtApi* const kApi = OrtGetApiBase()->GetApi(ORT_API_VERSION);

void Must(OrtStatus* status) {
  if (status == nullptr) return;
  std::fprintf(stderr, "ONNX Runtime: %s\n", kApi->GetErrorMessage(status));
  std::exit(1);
}

// Its objects live as long as the program.
class OnnxRuntime final : public Native {
 public:
  explicit OnnxRuntime(const std::string& model) {
    OrtEnv* env = nullptr;
    Must(kApi->CreateEnv(ORT_LOGGING_LEVEL_WARNING, "native", &env));
    OrtSessionOptions* options = nullptr;
    Must(kApi->CreateSessionOptions(&options));
    Must(kApi->SetIntraOpNumThreads(options, 1));
    Must(kApi->SetInterOpNumThreads(options, 1));
    Must(kApi->SetSessionGraphOptimizationLevel(options, ORT_ENABLE_ALL));
    Must(kApi->CreateSession(env, model.c_str(), options, &session_));
    Must(kApi->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &memory_));
    Must(kApi->CreateIoBinding(session_, &binding_));
    size_t count = 0;
    Must(kApi->SessionGetInputCount(session_, &count));
    Describe(count, kApi->SessionGetInputName, kApi->SessionGetInputTypeInfo, inputs_);
    Must(kApi->SessionGetOutputCount(session_, &count));
    Describe(count, kApi->SessionGetOutputName, kApi->SessionGetOutputTypeInfo, outputs_);
    for (NativeTensor& tensor : inputs_) Must(kApi->BindInput(binding_, tensor.name.c_str(), ValueOf(tensor)));
    for (NativeTensor& tensor : outputs_) Must(kApi->BindOutput(binding_, tensor.name.c_str(), ValueOf(tensor)));
  }

  std::vector<NativeTensor>& inputs() override { return inputs_; }
  std::vector<NativeTensor>& outputs() override { return outputs_; }
  void Run() override { Must(kApi->RunWithBinding(session_, nullptr, binding_)); }

 private:
  void Describe(size_t count, decltype(OrtApi::SessionGetInputName) name_of,
                decltype(OrtApi::SessionGetInputTypeInfo) type_of, std::vector<NativeTensor>& tensors) {
    OrtAllocator* allocator = nullptr;
    Must(kApi->GetAllocatorWithDefaultOptions(&allocator));
    tensors.resize(count);
    for (size_t i = 0; i < count; ++i) {
      char* name = nullptr;
      OrtTypeInfo* type = nullptr;
      const OrtTensorTypeAndShapeInfo* info = nullptr;
      size_t rank = 0;
      Must(name_of(session_, i, allocator, &name));
      Must(type_of(session_, i, &type));
      Must(kApi->CastTypeInfoToTensorInfo(type, &info));
      Must(kApi->GetDimensionsCount(info, &rank));
      NativeTensor& tensor = tensors[i];
      tensor.name = name;
      tensor.dims.resize(rank);
      Must(kApi->GetDimensions(info, tensor.dims.data(), rank));
      size_t bytes = sizeof(float);
      for (int64_t& dim : tensor.dims) bytes *= static_cast<size_t>(dim = dim < 1 ? 1 : dim);
      tensor.bytes.resize(bytes);
    }
  }
  OrtValue* ValueOf(NativeTensor& tensor) {
    OrtValue* value = nullptr;
    Must(kApi->CreateTensorWithDataAsOrtValue(memory_, tensor.bytes.data(), tensor.bytes.size(), tensor.dims.data(),
                                              tensor.dims.size(), ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &value));
    return value;
  }

  OrtSession* session_ = nullptr;
  OrtMemoryInfo* memory_ = nullptr;
  OrtIoBinding* binding_ = nullptr;
  std::vector<NativeTensor> inputs_, outputs_;
};

}  // namespace

std::unique_ptr<Native> OpenNative(const std::string& model) { return std::make_unique<OnnxRuntime>(model); }
