// The names of the states that a generation begins with and saves.
#pragma once

#include <string>

#include "common/config.h"

namespace wasinn::llama {

// Empty: none.
struct StateSettings {
  std::string save, restore, erase;

  // Applies `config` over these settings. Throws WASINN_ERROR_INVALID_ARGUMENT.
  void Apply(const backend::Config& config);
};

}  // namespace wasinn::llama
