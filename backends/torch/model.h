// A loaded model.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <wasinn/backend.h>

#include <span>

#include "torch/graph_check.h"
#include "torch/host.h"
#include "torch/package.h"
#include "torch/signature.h"

namespace wasinn::torch {

// Immutable; contexts of any thread share its weights, unless computing changes them.
class Model : public backend::ModelBase<Host, Signature> {
 public:
  Model(const Host& host, std::span<const wasinn_builder> builders, const wasinn_load_options& options);

  const Effects& effects() const { return effects_; }
  c10::Device device() const { return device_; }
  bool from_guest() const { return from_guest_; }

  // The bytes of the tensors in a context's copy.
  uint64_t copy_bytes() const { return copy_bytes_; }
  // NULL for TorchScript; else there is no module.
  const Package* package() const { return package_.get(); }
  // The model's own module, or a copy if computing changes it.
  ::torch::jit::Module ModuleForContext() const { return effects_.stateful ? module_.deepcopy() : module_; }

 private:
  struct Source;

  // Loads on device_, within the limits of a load.
  void LoadWithin(std::span<const uint8_t> bytes, const wasinn_load_options& options, const ModelConfig& config);
  void Load(const Source& source);
  void LoadPackage(const Source& source, caffe2::serialize::PyTorchStreamReader& archive);

  const bool from_guest_;
  c10::Device device_;
  ::torch::jit::Module module_;
  std::shared_ptr<const Package> package_;
  Effects effects_;
  uint64_t copy_bytes_ = 0;
};

}  // namespace wasinn::torch
