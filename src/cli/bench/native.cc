#include "cli/bench/native.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace wasinn::cli::bench {
namespace {

class CopyRunner final : public Runner {
 public:
  CopyRunner(std::unique_ptr<NativeRunner> bound, const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs)
      : bound_(std::move(bound)) {
    for (const Tensor& input : inputs) {
      inputs_.emplace_back(input.data.size());
      std::memcpy(inputs_.back().data(), input.data.bytes().data(), input.data.size());
    }
    for (const Tensor& output : outputs) outputs_.emplace_back(output.data.size());
  }

  bool Run() override {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      std::memcpy(bound_->input(i).data(), inputs_[i].data(), inputs_[i].size());
    }
    if (!bound_->Run()) return false;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      std::memcpy(outputs_[i].data(), bound_->output(i).data(), outputs_[i].size());
    }
    return true;
  }

  std::string error() const override { return bound_->error(); }

 private:
  std::unique_ptr<NativeRunner> bound_;
  std::vector<Buffer> inputs_, outputs_;
};

}  // namespace

Result<std::unique_ptr<NativeModel>> LoadNative(Encoding encoding, const NativeOptions& options,
                                                const std::vector<Tensor>& inputs, std::vector<Tensor>* outputs) {
  switch (encoding) {
    case WASINN_AUTODETECT:
    case WASINN_ONNX:
#ifdef WASINN_BENCH_ONNX
      return LoadNativeOnnx(options, inputs, outputs);
#else
      return std::unexpected(
          "this wasinn was built without ONNX Runtime's headers, so bench has nothing to compare with");
#endif
#ifdef WASINN_BENCH_TENSORFLOW
    case WASINN_TENSORFLOW:
      return LoadNativeTensorFlow(options, inputs, outputs);
#endif
#ifdef WASINN_BENCH_TFLITE
    case WASINN_TENSORFLOWLITE:
      return LoadNativeTfLite(options, inputs, outputs);
#endif
#ifdef WASINN_BENCH_OPENVINO
    case WASINN_OPENVINO:
      return LoadNativeOpenVino(options, inputs, outputs);
#endif
#ifdef WASINN_BENCH_TORCH
    case WASINN_PYTORCH:
      return LoadNativeTorch(options, inputs, outputs);
#endif
    default:
      return std::unexpected(
          fmt::format("bench cannot run models of encoding {} natively yet", wasinn_encoding_name(encoding)));
  }
}

std::unique_ptr<Runner> WithCopies(std::unique_ptr<NativeRunner> bound, const std::vector<Tensor>& inputs,
                                   const std::vector<Tensor>& outputs) {
  return std::make_unique<CopyRunner>(std::move(bound), inputs, outputs);
}

}  // namespace wasinn::cli::bench
