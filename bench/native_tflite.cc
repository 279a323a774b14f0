// TensorFlow Lite through its C API. It has the settings of backends/tflite: XNNPACK, and the same number of threads.
// Inputs and outputs are in the interpreter's own memory, and are read and written in place.
#include <dlfcn.h>
#include <fmt/format.h>
#include <tensorflow/lite/c/c_api.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "bench/native.h"

namespace wasinn::bench {
namespace {

// XNNPACK's header is not available here. Its options begin with the number of threads in all versions.
struct XnnpackOptions {
  int32_t threads;
  uint32_t others[63];
};

struct TfLite {
  explicit TfLite(const std::string& path) : handle(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {  // never closed
    if (handle == nullptr) throw std::runtime_error(dlerror());
    Find("TfLiteModelCreateFromFile", &model_create);
    Find("TfLiteModelDelete", &model_delete);
    Find("TfLiteInterpreterOptionsCreate", &options_create);
    Find("TfLiteInterpreterOptionsDelete", &options_delete);
    Find("TfLiteInterpreterOptionsSetNumThreads", &set_threads);
    Find("TfLiteInterpreterOptionsAddDelegate", &add_delegate);
    Find("TfLiteInterpreterOptionsSetErrorReporter", &set_reporter);
    Find("TfLiteInterpreterCreate", &interpreter_create);
    Find("TfLiteInterpreterDelete", &interpreter_delete);
    Find("TfLiteInterpreterGetInputTensorCount", &input_count);
    Find("TfLiteInterpreterGetInputTensor", &input);
    Find("TfLiteInterpreterGetOutputTensorCount", &output_count);
    Find("TfLiteInterpreterGetOutputTensor", &output);
    Find("TfLiteInterpreterResizeInputTensor", &resize);
    Find("TfLiteInterpreterAllocateTensors", &allocate);
    Find("TfLiteInterpreterInvoke", &invoke);
    Find("TfLiteTensorData", &data);
    Find("TfLiteTensorByteSize", &byte_size);
    Find("TfLiteTensorNumDims", &num_dims);
    Find("TfLiteTensorDim", &dim);
    Find("TfLiteXNNPackDelegateOptionsDefault", &xnnpack_options);
    Find("TfLiteXNNPackDelegateCreate", &xnnpack_create);
    Find("TfLiteXNNPackDelegateDelete", &xnnpack_delete);
  }

  template <typename Function>
  void Find(const char* name, Function* function) const {
    *function = reinterpret_cast<Function>(dlsym(handle, name));
    if (*function == nullptr) throw std::runtime_error(fmt::format("TensorFlow Lite has no {}", name));
  }

  void* const handle;
  decltype(&TfLiteModelCreateFromFile) model_create;
  decltype(&TfLiteModelDelete) model_delete;
  decltype(&TfLiteInterpreterOptionsCreate) options_create;
  decltype(&TfLiteInterpreterOptionsDelete) options_delete;
  decltype(&TfLiteInterpreterOptionsSetNumThreads) set_threads;
  decltype(&TfLiteInterpreterOptionsAddDelegate) add_delegate;
  decltype(&TfLiteInterpreterOptionsSetErrorReporter) set_reporter;
  decltype(&TfLiteInterpreterCreate) interpreter_create;
  decltype(&TfLiteInterpreterDelete) interpreter_delete;
  decltype(&TfLiteInterpreterGetInputTensorCount) input_count;
  decltype(&TfLiteInterpreterGetInputTensor) input;
  decltype(&TfLiteInterpreterGetOutputTensorCount) output_count;
  decltype(&TfLiteInterpreterGetOutputTensor) output;
  decltype(&TfLiteInterpreterResizeInputTensor) resize;
  decltype(&TfLiteInterpreterAllocateTensors) allocate;
  decltype(&TfLiteInterpreterInvoke) invoke;
  decltype(&TfLiteTensorData) data;
  decltype(&TfLiteTensorByteSize) byte_size;
  decltype(&TfLiteTensorNumDims) num_dims;
  decltype(&TfLiteTensorDim) dim;
  XnnpackOptions (*xnnpack_options)();
  TfLiteDelegate* (*xnnpack_create)(const XnnpackOptions*);
  void (*xnnpack_delete)(TfLiteDelegate*);
};

// The last message of TensorFlow Lite.
void KeepMessage(void* self, const char* format, va_list args) {
  char line[512] = "";
  std::vsnprintf(line, sizeof(line), format, args);
  *static_cast<std::string*>(self) = line;
}

class TfLiteRunner final : public NativeRunner {
 public:
  TfLiteRunner(const TfLite& api, const TfLiteModel* model, int threads, const std::vector<Tensor>& inputs)
      : api_(api) {
    const std::unique_ptr<TfLiteInterpreterOptions, decltype(&TfLiteInterpreterOptionsDelete)> options(
        api.options_create(), api.options_delete);
    api.set_threads(options.get(), threads);
    api.set_reporter(options.get(), KeepMessage, &error_);
    XnnpackOptions xnnpack = api.xnnpack_options();
    xnnpack.threads = threads;
    delegate_ = {api.xnnpack_create(&xnnpack), api.xnnpack_delete};
    api.add_delegate(options.get(), delegate_.get());
    interpreter_ = {api.interpreter_create(model, options.get()), api.interpreter_delete};
    if (interpreter_ == nullptr) throw std::runtime_error("TensorFlow Lite: " + error_);
    if (api.input_count(interpreter_.get()) != static_cast<int32_t>(inputs.size())) {
      throw std::runtime_error("TensorFlow Lite counts other inputs");
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::vector<int> dims(inputs[i].dims.begin(), inputs[i].dims.end());
      Check(api.resize(interpreter_.get(), static_cast<int32_t>(i), dims.data(), static_cast<int32_t>(dims.size())));
    }
    Check(api.allocate(interpreter_.get()));
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (input(i).size() != inputs[i].data.size()) throw std::runtime_error("TensorFlow Lite: another input");
      std::memcpy(input(i).data(), inputs[i].data.bytes().data(), inputs[i].data.size());
    }
  }

  // Runs once and describes the outputs.
  void Discover(std::vector<Tensor>* outputs) {
    Check(api_.invoke(interpreter_.get()));
    if (api_.output_count(interpreter_.get()) != static_cast<int32_t>(outputs->size())) {
      throw std::runtime_error("TensorFlow Lite counts other outputs");
    }
    for (size_t i = 0; i < outputs->size(); ++i) {
      const TfLiteTensor* tensor = api_.output(interpreter_.get(), static_cast<int32_t>(i));
      (*outputs)[i].dims.clear();
      for (int32_t d = 0; d < api_.num_dims(tensor); ++d) (*outputs)[i].dims.push_back(api_.dim(tensor, d));
      (*outputs)[i].data = Buffer(api_.byte_size(tensor));
    }
  }

  bool Run() override { return api_.invoke(interpreter_.get()) == kTfLiteOk; }
  std::string error() const override { return "TensorFlow Lite: " + error_; }
  std::span<uint8_t> input(size_t i) override {
    return BytesOf(api_.input(interpreter_.get(), static_cast<int32_t>(i)));
  }
  std::span<const uint8_t> output(size_t i) const override {
    return BytesOf(api_.output(interpreter_.get(), static_cast<int32_t>(i)));
  }

 private:
  void Check(TfLiteStatus status) const {
    if (status != kTfLiteOk) throw std::runtime_error(error());
  }
  std::span<uint8_t> BytesOf(const TfLiteTensor* tensor) const {
    return {static_cast<uint8_t*>(api_.data(tensor)), api_.byte_size(tensor)};
  }

  const TfLite& api_;
  std::string error_;
  std::unique_ptr<TfLiteDelegate, void (*)(TfLiteDelegate*)> delegate_{nullptr, nullptr};
  std::unique_ptr<TfLiteInterpreter, void (*)(TfLiteInterpreter*)> interpreter_{nullptr, nullptr};
};

class TfLiteNativeModel final : public NativeModel {
 public:
  TfLiteNativeModel(const NativeOptions& options, const std::vector<Tensor>& inputs, std::vector<Tensor>* outputs)
      : api_(options.library),
        threads_(options.threads),
        inputs_(inputs),
        model_(api_.model_create(options.path.c_str()), api_.model_delete) {
    if (model_ == nullptr) throw std::runtime_error("TensorFlow Lite cannot load " + options.path);
    TfLiteRunner(api_, model_.get(), threads_, inputs_).Discover(outputs);
  }

  Result<std::unique_ptr<NativeRunner>> NewRunner() const override try {
    return std::make_unique<TfLiteRunner>(api_, model_.get(), threads_, inputs_);
  } catch (const std::runtime_error& error) {
    return std::unexpected(error.what());
  }

 private:
  const TfLite api_;
  const int threads_;
  const std::vector<Tensor>& inputs_;
  const std::unique_ptr<TfLiteModel, void (*)(TfLiteModel*)> model_;
};

Result<std::unique_ptr<NativeModel>> LoadNativeTfLite(const NativeOptions& options, const std::vector<Tensor>& inputs,
                                                      std::vector<Tensor>* outputs) try {
  return std::make_unique<TfLiteNativeModel>(options, inputs, outputs);
} catch (const std::runtime_error& error) {
  return std::unexpected(error.what());
}

const NativeFramework kTfLite("tensorflowlite", LoadNativeTfLite);

}  // namespace
}  // namespace wasinn::bench
