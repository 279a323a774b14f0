#define ORT_API_MANUAL_INIT
#include <dlfcn.h>
#include <onnxruntime_cxx_api.h>

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>

#include "backends/native_place.h"
#include "reference/reference.h"

namespace wasinn::testing {
namespace {

void InitApi() {
  void* handle = dlopen(test::NativeLibrary("onnx").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw std::runtime_error(dlerror());
  auto base = reinterpret_cast<const OrtApiBase* (*)()>(dlsym(handle, "OrtGetApiBase"));
  Ort::InitApi(base()->GetApi(ORT_API_VERSION));
}

void UseGpu(Ort::SessionOptions* options) {
  const OrtApi& api = Ort::GetApi();
  const std::vector<std::string> providers = Ort::GetAvailableProviders();
  if (std::ranges::find(providers, "WebGpuExecutionProvider") != providers.end()) {
    options->AppendExecutionProvider("WebGPU");
    return;
  }
  OrtCUDAProviderOptionsV2* cuda = nullptr;
  Ort::ThrowOnError(api.CreateCUDAProviderOptions(&cuda));
  const std::unique_ptr<OrtCUDAProviderOptionsV2, decltype(api.ReleaseCUDAProviderOptions)> owned(
      cuda, api.ReleaseCUDAProviderOptions);
  options->AppendExecutionProvider_CUDA_V2(*cuda);
}

const std::map<ONNXTensorElementDataType, size_t> kSizes = {
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, 1},   {ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, 1},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, 2}, {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, 4},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, 4},   {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, 8}};

Ort::Value ToNative(const test::Tensor& tensor) {
  static const std::map<wasinn_dtype, ONNXTensorElementDataType> kTypes = {
      {WASINN_DTYPE_U8, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8},
      {WASINN_DTYPE_F32, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT},
      {WASINN_DTYPE_I32, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32},
      {WASINN_DTYPE_I64, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64}};
  static const Ort::MemoryInfo memory = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
  return Ort::Value::CreateTensor(memory, const_cast<char*>(tensor.bytes.data()), tensor.bytes.size(),
                                  tensor.dims.data(), tensor.dims.size(), kTypes.at(tensor.dtype));
}

struct Opened {
  explicit Opened(const std::string& path) {
    Ort::SessionOptions options;
    options.SetIntraOpNumThreads(1);
    if (test::NativeOnGpu()) UseGpu(&options);
    const std::string model = test::ReadFile(path);
    session = Ort::Session(env, model.data(), model.size(), options);
  }
  std::vector<test::Tensor> Run(const std::vector<test::Tensor>& inputs) {
    Ort::AllocatorWithDefaultOptions allocator;
    std::vector<Ort::AllocatedStringPtr> names;
    std::vector<const char*> in, out;
    std::vector<Ort::Value> values;
    for (size_t i = 0; i < inputs.size(); ++i) {
      in.push_back(names.emplace_back(session.GetInputNameAllocated(i, allocator)).get());
      values.push_back(ToNative(inputs[i]));
    }
    for (size_t i = 0; i < session.GetOutputCount(); ++i) {
      out.push_back(names.emplace_back(session.GetOutputNameAllocated(i, allocator)).get());
    }
    std::vector<test::Tensor> outputs;
    for (const Ort::Value& value : session.Run({}, in.data(), values.data(), in.size(), out.data(), out.size())) {
      const auto info = value.GetTensorTypeAndShapeInfo();
      outputs.push_back(OfBytes(value.GetTensorRawData(), info.GetElementCount() * kSizes.at(info.GetElementType())));
    }
    return outputs;
  }

  Ort::Env env{ORT_LOGGING_LEVEL_FATAL, "program"};
  Ort::Session session{nullptr};
};

}  // namespace

Infer OpenModel(const std::string& path, const Names&, const Names&) {
  InitApi();
  return [model = std::make_shared<Opened>(path)](const auto& inputs) { return model->Run(inputs); };
}

}  // namespace wasinn::testing
