// A guest without an engine: it calls the functions of wasi-nn on its own memory, like a module, or those of wasi:nn,
// like an engine for a component.
#pragma once

#include <wasinn/wasinn.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/soak/models.h"

namespace wasinn::soak {

// A call that returned an error.
class Failed : public std::runtime_error {
 public:
  explicit Failed(const std::string& message) : std::runtime_error(message) {}
  // The call failed because the model's worker was killed.
  bool is_lost() const;
};

class Inferer {
 public:
  virtual ~Inferer() = default;
  // Releases the model that it had before. `name`: a registered model; otherwise the model's own bytes.
  virtual void Load(const Model& model, const std::optional<std::string>& name) = 0;
  virtual std::vector<uint8_t> Infer(const Question& question) = 0;
  // Releases everything, so that the guest has no objects.
  virtual void Unload() = 0;
};

// `guest` outlives it.
std::unique_ptr<Inferer> AsModule(wasinn_guest* guest);
std::unique_ptr<Inferer> AsComponent(wasinn_guest* guest);

}  // namespace wasinn::soak
