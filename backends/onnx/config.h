// The backend's configuration keys.
#pragma once

#include <wasinn/backend.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/config.h"
#include "onnx/ort_library.h"

namespace wasinn::onnx {

std::span<const wasinn_key> Keys();

// Keys of both [backends.onnx] and [models.NAME.config]; the model's value overrides the backend's.
struct SessionConfig {
  std::optional<GraphOptimizationLevel> optimization;
  std::optional<std::vector<backend::Config::Named>> providers;
  backend::Config::Entries entries;      // ONNX Runtime's own session configuration
  std::optional<std::string> cache_dir;  // for optimized models; an absolute path

  GraphOptimizationLevel optimization_or_default() const { return optimization.value_or(ORT_ENABLE_ALL); }
};

struct BackendConfig {
  std::string library;
  int threads = 1;
  bool spinning = false;
  size_t cache_bytes = 0;
  SessionConfig session;

  // `budget`: the host's threads, which are also the default.
  static BackendConfig Parse(const char* text, uint32_t budget);
};

struct ModelConfig {
  SessionConfig session;
  std::vector<std::string> op_libraries;  // libraries of custom operators: absolute paths
  bool use_pool = true;

  static ModelConfig Parse(const char* host_text, const char* guest_text, const BackendConfig& defaults);
};

}  // namespace wasinn::onnx
