// Which states a generation begins with and leaves, by the guest's names.
#pragma once

#include <string>

#include "common/config.h"

namespace wasinn::llama {

// Empty: none.
struct StateSettings {
  std::string save, restore, erase;

  // What `config` says on top of these. Throws WASINN_ERROR_INVALID_ARGUMENT.
  void Apply(const backend::Config& config);
};

}  // namespace wasinn::llama
