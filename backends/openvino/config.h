// The backend's configuration keys.
#pragma once

#include <wasinn/backend.h>

#include <optional>
#include <span>
#include <string>

#include "common/config.h"

namespace wasinn::openvino {

std::span<const wasinn_key> Keys();

// Keys of both [backends.openvino] and [models.NAME.config]; the model's value overrides the backend's.
struct CompileConfig {
  std::optional<int> streams;              // computes of one model at once
  std::optional<std::string> performance;  // OpenVINO's values, as in all below
  std::optional<std::string> precision;
  std::optional<std::string> device;
  std::optional<std::string> cache_dir;
  backend::Config::Entries properties;
};

struct BackendConfig {
  std::string library;
  int budget = 1;   // threads that all computes together may use in addition to their callers', plus one
  int threads = 1;  // of one compute
  CompileConfig compile;

  static BackendConfig Parse(const char* text, uint32_t budget);
};

struct ModelConfig {
  int threads = 1;
  std::optional<int> streams;  // as configured; else Streams() chooses
  std::string performance;
  std::optional<std::string> precision;
  std::optional<std::string> device;
  std::optional<std::string> cache_dir;
  backend::Config::Entries properties;

  // Computes at once, for a model with open or with fixed shapes (compiled.h).
  int Streams(bool has_open_shapes, int budget) const;

  static ModelConfig Parse(const char* host_text, const char* guest_text, const BackendConfig& defaults);
};

}  // namespace wasinn::openvino
