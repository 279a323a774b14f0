// A loaded model.
#pragma once

#include <torch/csrc/jit/api/module.h>
#include <wasinn/backend.h>

#include <memory>
#include <span>
#include <string>

#include "torch/graph_check.h"
#include "torch/host.h"
#include "torch/signature.h"

namespace wasinn::torch {

// Immutable; contexts of any thread share its weights, unless computing changes them.
class Model {
 public:
  Model(const Host& host, std::span<const wasinn_builder> builders, const wasinn_load_options& options);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const Host& host() const { return host_; }
  const Signature& signature() const { return *signature_; }
  const Effects& effects() const { return effects_; }
  c10::Device device() const { return device_; }
  bool from_guest() const { return from_guest_; }
  const wasinn_info* info() const { return signature_->info(); }
  const char* Describe() const { return description_.c_str(); }

  // Of the tensors in a copy for a context.
  uint64_t copy_bytes() const { return copy_bytes_; }
  // The model's own, or a copy where computing changes it.
  ::torch::jit::Module ModuleForContext() const { return effects_.stateful ? module_.deepcopy() : module_; }

 private:
  struct Source;

  // On device_, within the limits of a load.
  void LoadWithin(std::span<const uint8_t> bytes, const wasinn_load_options& options);
  void Load(const Source& source);

  const Host& host_;
  const bool from_guest_;
  c10::Device device_;
  ::torch::jit::Module module_;
  Effects effects_;
  uint64_t copy_bytes_ = 0;
  std::unique_ptr<const Signature> signature_;
  std::string description_;
};

}  // namespace wasinn::torch
