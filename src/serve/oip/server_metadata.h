// The server's description of itself.
#pragma once

#include <nlohmann/json.hpp>
#include <wasinn/wasinn.hpp>

namespace wasinn::serve {

inline nlohmann::json ServerMetadata() {
  return {{"name", "wasinn"},
          {"version", wasinn_version()},
          {"extensions", {"binary_tensor_data", "model_repository", "model_configuration", "statistics", "generate"}}};
}

}  // namespace wasinn::serve
