#include "backends/tflite_native.h"

#include <dlfcn.h>
#include <tensorflow/lite/c/c_api.h>

#include <memory>
#include <stdexcept>

#include "support/this_build.h"

namespace wasinn::test {

namespace {

template <typename Function>
Function Symbol(const char* name) {
  static void* const handle = dlopen(testing::FrameworkFile("tflite").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw std::runtime_error(dlerror());
  void* symbol = dlsym(handle, name);
  if (symbol == nullptr) throw std::runtime_error(name);
  return reinterpret_cast<Function>(symbol);
}
#define TFLITE(function) Symbol<decltype(&(function))>(#function)

// By TensorFlow Lite's numbers; the headers do not have all.
wasinn_dtype ToDtype(int type) {
  switch (type) {
    case 1:
      return WASINN_F32;
    case 2:
      return WASINN_I32;
    case 3:
      return WASINN_U8;
    case 4:
      return WASINN_I64;
    case 6:
      return WASINN_BOOL;
    case 7:
      return WASINN_I16;
    case 9:
      return WASINN_I8;
    case 10:
      return WASINN_F16;
    case 11:
      return WASINN_F64;
    case 13:
      return WASINN_U64;
    case 16:
      return WASINN_U32;
    case 17:
      return WASINN_U16;
    case 19:
      return WASINN_BF16;
    default:
      return WASINN_DTYPE_UNKNOWN;
  }
}

void Check(TfLiteStatus status, const char* what) {
  if (status != kTfLiteOk) throw std::runtime_error(what);
}

void Ignore(void*, const char*, va_list) {}

}  // namespace

std::vector<Tensor> RunTfLite(const std::string& model, const std::vector<Tensor>& inputs, bool xnnpack) {
  const std::unique_ptr<TfLiteModel, decltype(&TfLiteModelDelete)> loaded(
      TFLITE(TfLiteModelCreate)(model.data(), model.size()), TFLITE(TfLiteModelDelete));
  if (loaded == nullptr) throw std::runtime_error("model");
  const std::unique_ptr<TfLiteInterpreterOptions, decltype(&TfLiteInterpreterOptionsDelete)> options(
      TFLITE(TfLiteInterpreterOptionsCreate)(), TFLITE(TfLiteInterpreterOptionsDelete));
  TFLITE(TfLiteInterpreterOptionsSetNumThreads)(options.get(), 1);
  TFLITE(TfLiteInterpreterOptionsSetErrorReporter)(options.get(), Ignore, nullptr);
  using DelegatePtr = std::unique_ptr<TfLiteDelegate, void (*)(TfLiteDelegate*)>;
  DelegatePtr delegate(nullptr, Symbol<void (*)(TfLiteDelegate*)>("TfLiteXNNPackDelegateDelete"));
  if (xnnpack) {
    delegate.reset(Symbol<TfLiteDelegate* (*)(const void*)>("TfLiteXNNPackDelegateCreate")(nullptr));
    TFLITE(TfLiteInterpreterOptionsAddDelegate)(options.get(), delegate.get());
  }
  const std::unique_ptr<TfLiteInterpreter, decltype(&TfLiteInterpreterDelete)> owned(
      TFLITE(TfLiteInterpreterCreate)(loaded.get(), options.get()), TFLITE(TfLiteInterpreterDelete));
  TfLiteInterpreter* interpreter = owned.get();
  if (interpreter == nullptr) throw std::runtime_error("interpreter");
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<int> dims(inputs[i].dims.begin(), inputs[i].dims.end());
    Check(TFLITE(TfLiteInterpreterResizeInputTensor)(interpreter, static_cast<int>(i), dims.data(),
                                                     static_cast<int>(dims.size())),
          "resize");
  }
  Check(TFLITE(TfLiteInterpreterAllocateTensors)(interpreter), "allocate");
  for (size_t i = 0; i < inputs.size(); ++i) {
    TfLiteTensor* tensor = TFLITE(TfLiteInterpreterGetInputTensor)(interpreter, static_cast<int>(i));
    if (inputs[i].bytes.empty()) continue;
    Check(TFLITE(TfLiteTensorCopyFromBuffer)(tensor, inputs[i].bytes.data(), inputs[i].bytes.size()), "input");
  }
  Check(TFLITE(TfLiteInterpreterInvoke)(interpreter), "invoke");
  std::vector<Tensor> outputs;
  for (int i = 0; i < TFLITE(TfLiteInterpreterGetOutputTensorCount)(interpreter); ++i) {
    const TfLiteTensor* tensor = TFLITE(TfLiteInterpreterGetOutputTensor)(interpreter, i);
    Tensor& output = outputs.emplace_back();
    output.dtype = ToDtype(TFLITE(TfLiteTensorType)(tensor));
    for (int d = 0; d < TFLITE(TfLiteTensorNumDims)(tensor); ++d) {
      output.dims.push_back(TFLITE(TfLiteTensorDim)(tensor, d));
    }
    const size_t bytes = TFLITE(TfLiteTensorByteSize)(tensor);
    if (bytes > 0) output.bytes.assign(static_cast<const char*>(TFLITE(TfLiteTensorData)(tensor)), bytes);
  }
  return outputs;
}

LoadOptions TfLiteOptions(const std::string& path) {
  LoadOptions options;
  options.encoding = "tensorflowlite";
  options.keeps_bytes = true;
  options.path = path;
  return options;
}

}  // namespace wasinn::test
