// A guest without an engine: it calls the functions of wasi-nn on memory of its own, as a module does, or of wasi:nn, as an engine
// does for a component.
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

// A call that ended in an error.
class Failed : public std::runtime_error {
 public:
  explicit Failed(const std::string& message) : std::runtime_error(message) {}
  // With the worker that had the model.
  bool is_lost() const;
};

class Inferer {
 public:
  virtual ~Inferer() = default;
  // What it had before goes. `name`: a registered model; else the model's own bytes.
  virtual void Load(const Model& model, const std::optional<std::string>& name) = 0;
  virtual std::vector<uint8_t> Infer(const Question& question) = 0;
  // What it has goes, so that the guest holds nothing.
  virtual void Unload() = 0;
};

// `guest` outlives it.
std::unique_ptr<Inferer> AsModule(wasinn_guest* guest);
std::unique_ptr<Inferer> AsComponent(wasinn_guest* guest);

}  // namespace wasinn::soak
