// The host's adapters (LoRA) of a generation.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/config.h"

namespace wasinn::llama {

// An adapter without a scale of its own has `scale`.
struct AdapterSettings {
  struct One {
    std::string name;
    std::optional<double> scale;
  };
  std::vector<One> list;
  double scale = 1;

  // Applies `config` over these settings. `paths`: the host's adapters by name. Throws WASINN_ERROR_INVALID_ARGUMENT.
  void Apply(const backend::Config& config, const std::map<std::string, std::string>& paths);

  // By name; without scales of 0, which change nothing.
  std::map<std::string, float> Scales() const;
};

}  // namespace wasinn::llama
