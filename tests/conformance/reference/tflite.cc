#include <dlfcn.h>
#include <tensorflow/lite/c/c_api.h>

#include <cstdarg>
#include <memory>
#include <stdexcept>

#include "reference/reference.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

template <typename Function>
Function Symbol(const char* name) {
  static void* const handle = dlopen(FrameworkFile("tflite").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw std::runtime_error(dlerror());
  void* symbol = dlsym(handle, name);
  if (symbol == nullptr) throw std::runtime_error(name);
  return reinterpret_cast<Function>(symbol);
}
#define TFLITE(function) Symbol<decltype(&(function))>(#function)

void Check(TfLiteStatus status, const char* what) {
  if (status != kTfLiteOk) throw std::runtime_error(what);
}

void Ignore(void*, const char*, va_list) {}

// With XNNPACK. As long as the program, and so is the file.
TfLiteInterpreter* Open(const std::string& path) {
  static const std::string file = test::ReadFile(path);
  TfLiteInterpreterOptions* options = TFLITE(TfLiteInterpreterOptionsCreate)();
  TFLITE(TfLiteInterpreterOptionsSetNumThreads)(options, 1);
  TFLITE(TfLiteInterpreterOptionsSetErrorReporter)(options, Ignore, nullptr);
  TFLITE(TfLiteInterpreterOptionsAddDelegate)
  (options, Symbol<TfLiteDelegate* (*)(const void*)>("TfLiteXNNPackDelegateCreate")(nullptr));
  TfLiteModel* model = TFLITE(TfLiteModelCreate)(file.data(), file.size());
  TfLiteInterpreter* interpreter = model == nullptr ? nullptr : TFLITE(TfLiteInterpreterCreate)(model, options);
  if (interpreter == nullptr) throw std::runtime_error("no interpreter of the model");
  return interpreter;
}

}  // namespace

Infer OpenModel(const std::string& path, const Names&, const Names&) {
  return [interpreter = Open(path)](const std::vector<test::Tensor>& inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::vector<int> dims(inputs[i].dims.begin(), inputs[i].dims.end());
      Check(TFLITE(TfLiteInterpreterResizeInputTensor)(interpreter, static_cast<int>(i), dims.data(),
                                                       static_cast<int>(dims.size())),
            "resize");
    }
    Check(TFLITE(TfLiteInterpreterAllocateTensors)(interpreter), "allocate");
    for (size_t i = 0; i < inputs.size(); ++i) {
      TfLiteTensor* tensor = TFLITE(TfLiteInterpreterGetInputTensor)(interpreter, static_cast<int>(i));
      Check(TFLITE(TfLiteTensorCopyFromBuffer)(tensor, inputs[i].bytes.data(), inputs[i].bytes.size()), "input");
    }
    Check(TFLITE(TfLiteInterpreterInvoke)(interpreter), "invoke");
    std::vector<test::Tensor> outputs;
    for (int i = 0; i < TFLITE(TfLiteInterpreterGetOutputTensorCount)(interpreter); ++i) {
      const TfLiteTensor* tensor = TFLITE(TfLiteInterpreterGetOutputTensor)(interpreter, i);
      outputs.push_back(OfBytes(TFLITE(TfLiteTensorData)(tensor), TFLITE(TfLiteTensorByteSize)(tensor)));
    }
    return outputs;
  };
}

}  // namespace wasinn::testing
