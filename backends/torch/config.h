// The configuration by a host and a guest.
#pragma once

#include <wasinn/backend.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace wasinn::torch {

std::span<const wasinn_key> Keys();

// [backends.torch].
struct BackendConfig {
  std::string library;
  int threads = 1;
  std::optional<std::string> device;  // instead of the target: "cpu", "cuda", "cuda:1"
  bool guest_models = true;           // whether models that come as bytes are loaded at all

  // `budget`: the host's threads, which are also the default.
  static BackendConfig Parse(const char* text, uint32_t budget);
};

// [models.NAME.config].
struct ModelConfig {
  std::optional<std::string> device;
  std::vector<std::string> op_libraries;  // libraries of custom operators: absolute paths
  size_t list_inputs = 16;                // the most tensors of an input that is a list

  static ModelConfig Parse(const char* host_text, const BackendConfig& defaults);
};

}  // namespace wasinn::torch
