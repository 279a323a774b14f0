// Which of the host's adapters (LoRA) a generation uses.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/config.h"

namespace wasinn::llama {

// The scale of each is its own, or else `scale`.
struct AdapterSettings {
  struct One {
    std::string name;
    std::optional<double> scale;
  };
  std::vector<One> list;
  double scale = 1;

  // What `config` says on top of these. `paths`: the host's adapters by name. Throws WASINN_ERROR_INVALID_ARGUMENT.
  void Apply(const backend::Config& config, const std::map<std::string, std::string>& paths);

  // By name; those of scale 0 are left out, since they change nothing.
  std::map<std::string, float> Scales() const;
};

}  // namespace wasinn::llama
