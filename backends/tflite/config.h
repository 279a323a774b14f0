// The backend's configuration keys.
#pragma once

#include <wasinn/backend.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/config.h"

namespace wasinn::tflite {

std::span<const wasinn_key> Keys();

// A library with an external delegate, and its options.
struct DelegateConfig {
  std::string name;
  std::string library;  // an absolute path
  backend::Config::Entries options;
};

struct BackendConfig {
  std::string library;
  int threads = 1;
  bool xnnpack = true;
  size_t idle_interpreters = 0;
  std::vector<DelegateConfig> delegates;  // for targets and models
  std::string gpu_delegate, tpu_delegate;

  // `budget`: the host's threads, which are also the default.
  static BackendConfig Parse(const char* text, uint32_t budget);

  // NULL if there is none of that name.
  const DelegateConfig* FindDelegate(const std::string& name) const;
  // As in wasinn_backend_info.
  std::string Devices() const;
};

struct ModelConfig {
  int threads = 1;
  std::string signature;  // "": the first
  bool xnnpack = true;
  std::vector<std::string> op_libraries;  // libraries of custom operators: absolute paths
  // No value: the target decides.
  std::optional<std::vector<DelegateConfig>> delegates;

  static ModelConfig Parse(const char* host_text, const char* guest_text, const BackendConfig& defaults);
};

}  // namespace wasinn::tflite
