// Packages of AOTInductor (.pt2): a model as native code. The operator trusts it as any library.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace caffe2::serialize {
class PyTorchStreamReader;
}

namespace wasinn::torch {

// Thread-safe.
class Package {
 public:
  // Whether an archive with these entries is one.
  static bool Is(std::span<const std::string> entries);
  // Opens its library. Throws WASINN_ERROR_UNSUPPORTED_OPERATION for one that is not for this processor.
  static std::shared_ptr<const Package> Open(caffe2::serialize::PyTorchStreamReader& archive);

  // For a worker, which opens no file once models may come: opens the package in the file, if it is one. Found returns
  // it for its bytes, or NULL.
  static void OpenAhead(const std::string& path);
  static std::shared_ptr<const Package> Found(std::span<const uint8_t> bytes);

  Package(const Package&) = delete;
  Package& operator=(const Package&) = delete;
  ~Package();

  // As TorchScript's (tensors.h): paths in the arguments and in the result.
  const std::vector<std::string>& inputs() const { return inputs_; }
  const std::vector<std::string>& outputs() const { return outputs_; }
  // Computes at once; more wait.
  static constexpr uint32_t kMaxAtOnce = 16;

  std::vector<at::Tensor> Run(const std::vector<at::Tensor>& inputs) const;

 private:
  class Runner;

  explicit Package(std::unique_ptr<Runner> runner);

  std::unique_ptr<Runner> runner_;
  std::vector<std::string> inputs_, outputs_;
};

}  // namespace wasinn::torch
