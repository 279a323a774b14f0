// The backend's configuration keys.
#pragma once

#include <wasinn/backend.h>

#include <span>
#include <string>
#include <vector>

#include "common/config.h"

namespace wasinn::tensorflow {

std::span<const wasinn_key> Keys();

struct BackendConfig {
  std::string library;
  int threads = 1;

  // `budget`: the host's threads, which are also the default.
  static BackendConfig Parse(const char* text, uint32_t budget);
};

struct ModelConfig {
  std::string signature;  // "": serving_default, or else the first by name
  std::vector<std::string> tags;
  std::vector<std::string> outputs;  // empty: all
  bool allow_file_ops = false;
  std::vector<std::string> op_libraries;  // libraries of custom operators: absolute paths

  // The host's value overrides the guest's.
  static ModelConfig Parse(const char* host_text, const char* guest_text);
};

}  // namespace wasinn::tensorflow
