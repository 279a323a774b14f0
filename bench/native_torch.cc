// PyTorch through its C++ API, which torch/module.cc calls. It has the settings of backends/torch. Outputs are read in
// the memory in which PyTorch made them.
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "bench/module_path.h"
#include "bench/native.h"
#include "bench/torch/module.h"

namespace wasinn::bench {
namespace {

constexpr char kTorchModule[] = "libwasinn_bench_torch.so";

// The module is opened after the backend has opened libtorch, because the libraries that the module needs are found by
// name.
const TorchFunctions& OpenTorch() {
  const std::string path = PathBesideBackends(kTorchModule);
  if (path.empty()) throw std::runtime_error(fmt::format("{} is missing beside the backends", kTorchModule));
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed
  if (handle == nullptr) throw std::runtime_error(dlerror());
  const auto function = reinterpret_cast<TorchModuleFunction>(dlsym(handle, kTorchModuleSymbol));
  if (function == nullptr || function()->struct_size != sizeof(TorchFunctions)) {
    throw std::runtime_error(fmt::format("{} is of another wasinn", path));
  }
  return *function();
}

// Why the call failed.
using TorchError = std::array<char, 2000>;

class TorchRunner final : public NativeRunner {
 public:
  TorchRunner(const TorchFunctions& api, const TorchModule* model, const std::vector<Tensor>& inputs)
      : api_(api), run_(nullptr, api.free_run) {
    std::vector<TorchTensor> tensors;
    for (const Tensor& input : inputs) {
      buffers_.emplace_back(input.data.size());
      std::memcpy(buffers_.back().data(), input.data.bytes().data(), input.data.size());
      tensors.push_back({.index = input.index,
                         .dtype = static_cast<uint32_t>(input.dtype),
                         .rank = static_cast<uint32_t>(input.dims.size()),
                         .dims = input.dims.data(),
                         .data = buffers_.back().data(),
                         .bytes = input.data.size()});
    }
    run_.reset(api.new_run(model, tensors.data(), tensors.size(), error_.data(), error_.size()));
    if (run_ == nullptr) throw std::runtime_error(error());
    // The first runs determine types and shapes, and compile.
    for (int i = 0; i < 3; ++i) {
      if (!Run()) throw std::runtime_error(error());
    }
  }

  // Sets the number, types, shapes and sizes of the outputs after a run.
  void Describe(std::vector<Tensor>* outputs) const {
    outputs->resize(api_.count_outputs(run_.get()));
    for (size_t i = 0; i < outputs->size(); ++i) {
      const TorchTensor tensor = api_.output(run_.get(), i);
      Tensor& output = (*outputs)[i];
      output.index = static_cast<uint32_t>(i);
      if (output.name.empty()) output.name = std::to_string(i);
      output.dtype = static_cast<Dtype>(tensor.dtype);
      output.dims.assign(tensor.dims, tensor.dims + tensor.rank);
      output.data = Buffer(tensor.bytes);
    }
  }

  bool Run() override { return api_.run(run_.get(), error_.data(), error_.size()); }
  std::string error() const override { return error_.data(); }
  std::span<uint8_t> input(size_t i) override { return buffers_[i].bytes(); }
  std::span<const uint8_t> output(size_t i) const override {
    const TorchTensor tensor = api_.output(run_.get(), i);
    return {static_cast<const uint8_t*>(tensor.data), tensor.bytes};
  }

 private:
  const TorchFunctions& api_;
  TorchError error_ = {};
  std::vector<Buffer> buffers_;
  std::unique_ptr<TorchRun, void (*)(TorchRun*)> run_;
};

class TorchNativeModel final : public NativeModel {
 public:
  TorchNativeModel(const NativeOptions& options, const std::vector<Tensor>& inputs, std::vector<Tensor>* outputs)
      : api_(OpenTorch()), inputs_(inputs), model_(nullptr, api_.unload) {
    TorchError error = {};
    model_.reset(api_.load(options.path.c_str(), options.threads, error.data(), error.size()));
    if (model_ == nullptr) throw std::runtime_error(error.data());
    TorchRunner(api_, model_.get(), inputs_).Describe(outputs);
  }

  Result<std::unique_ptr<NativeRunner>> NewRunner() const override try {
    return std::make_unique<TorchRunner>(api_, model_.get(), inputs_);
  } catch (const std::exception& error) {
    return std::unexpected(error.what());
  }

 private:
  const TorchFunctions& api_;
  const std::vector<Tensor>& inputs_;
  std::unique_ptr<TorchModule, void (*)(TorchModule*)> model_;
};

Result<std::unique_ptr<NativeModel>> LoadNativeTorch(const NativeOptions& options, const std::vector<Tensor>& inputs,
                                                     std::vector<Tensor>* outputs) try {
  return std::make_unique<TorchNativeModel>(options, inputs, outputs);
} catch (const std::exception& error) {
  return std::unexpected(error.what());
}

const NativeFramework kTorch("pytorch", LoadNativeTorch);

}  // namespace
}  // namespace wasinn::bench
