#include "bench/native.h"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <utility>

namespace wasinn::bench {
namespace {

std::map<std::string, LoadNativeFunction>& Functions() {
  static std::map<std::string, LoadNativeFunction> functions;
  return functions;
}

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

NativeFramework::NativeFramework(const std::string& encoding, LoadNativeFunction load) { Functions()[encoding] = load; }

Result<std::unique_ptr<NativeModel>> LoadNative(const std::string& encoding, const NativeOptions& options,
                                                const std::vector<Tensor>& inputs, std::vector<Tensor>* outputs) {
  const auto function = Functions().find(encoding);
  if (function != Functions().end()) return function->second(options, inputs, outputs);
  return std::unexpected(fmt::format(
      "this wasinn-bench has no native side for models of encoding {}: it was built without their framework's "
      "headers, or has none (as for ggml, and for pipelines)",
      encoding));
}

std::unique_ptr<Runner> WithCopies(std::unique_ptr<NativeRunner> bound, const std::vector<Tensor>& inputs,
                                   const std::vector<Tensor>& outputs) {
  return std::make_unique<CopyRunner>(std::move(bound), inputs, outputs);
}

}  // namespace wasinn::bench
