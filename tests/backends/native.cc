#include "backends/native.h"

#define ORT_API_MANUAL_INIT
#include <dlfcn.h>
#include <onnxruntime_cxx_api.h>

#include <algorithm>

#include "backends/native_place.h"

namespace wasinn::test {

namespace {

constexpr struct {
  ONNXTensorElementDataType ort;
  wasinn_dtype dtype;
  size_t size;
} kTypes[] = {
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, WASINN_F16, 2}, {ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, WASINN_BF16, 2},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, WASINN_F32, 4},   {ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, WASINN_F64, 8},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, WASINN_U8, 1},    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, WASINN_I8, 1},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, WASINN_U16, 2},  {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, WASINN_I16, 2},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, WASINN_U32, 4},  {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, WASINN_I32, 4},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, WASINN_U64, 8},  {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, WASINN_I64, 8},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, WASINN_BOOL, 1},
};

void InitApi() {
  void* handle = dlopen(NativeLibrary("onnx").c_str(), RTLD_NOW | RTLD_LOCAL);
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

Ort::Value ToNative(const Tensor& tensor, const Ort::MemoryInfo& memory) {
  for (const auto& type : kTypes) {
    if (type.dtype != tensor.dtype) continue;
    return Ort::Value::CreateTensor(memory, const_cast<char*>(tensor.bytes.data()), tensor.bytes.size(),
                                    tensor.dims.data(), tensor.dims.size(), type.ort);
  }
  throw std::runtime_error("dtype");
}

Tensor FromNative(const Ort::Value& value) {
  const auto info = value.GetTensorTypeAndShapeInfo();
  for (const auto& type : kTypes) {
    if (type.ort != info.GetElementType()) continue;
    const auto* data = static_cast<const char*>(value.GetTensorRawData());
    return {type.dtype, info.GetShape(), std::string(data, info.GetElementCount() * type.size)};
  }
  throw std::runtime_error("element type");
}

}  // namespace

struct NativeOrt::Impl {
  Ort::Env env{ORT_LOGGING_LEVEL_FATAL, "program"};
};

NativeOrt::NativeOrt() {
  InitApi();
  impl_ = std::make_unique<Impl>();
}

NativeOrt::~NativeOrt() = default;

std::vector<Tensor> NativeOrt::Run(const std::string& model, const std::vector<Tensor>& inputs) const {
  Ort::SessionOptions options;
  options.SetIntraOpNumThreads(1);
  if (NativeOnGpu()) UseGpu(&options);
  Ort::Session session(impl_->env, model.data(), model.size(), options);
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
  Ort::AllocatorWithDefaultOptions allocator;
  std::vector<Ort::AllocatedStringPtr> names;
  std::vector<const char*> in, out;
  std::vector<Ort::Value> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    in.push_back(names.emplace_back(session.GetInputNameAllocated(i, allocator)).get());
    values.push_back(ToNative(inputs[i], memory));
  }
  const size_t n_outputs = session.GetOutputCount();
  out.reserve(n_outputs);
  for (size_t i = 0; i < n_outputs; ++i) {
    out.push_back(names.emplace_back(session.GetOutputNameAllocated(i, allocator)).get());
  }
  const auto results = session.Run(Ort::RunOptions(), in.data(), values.data(), values.size(), out.data(), out.size());
  std::vector<Tensor> tensors;
  tensors.reserve(results.size());
  for (const auto& result : results) tensors.push_back(FromNative(result));
  return tensors;
}

}  // namespace wasinn::test
