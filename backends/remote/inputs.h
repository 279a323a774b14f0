// The inputs of a context.
#pragma once

#include <wasinn/backend.h>

#include <cstdint>
#include <span>
#include <vector>

#include "remote/signature.h"

namespace wasinn::remote {

// Refers to the host's memory. Used by one thread at a time.
class Inputs {
 public:
  struct Input {
    const Port* port = nullptr;
    const void* data = nullptr;
    uint64_t bytes = 0;
    std::vector<int64_t> dims;  // as sent
  };

  explicit Inputs(const Signature& signature);

  // wasinn_backend::bind_input and unbind_input.
  void Bind(uint32_t index, const wasinn_tensor& tensor);
  void Unbind(uint32_t index) { is_set_[index] = false; }
  // Throws if a required input is missing. Afterwards the set inputs are listed.
  void Choose();
  std::span<const Input* const> set() const { return set_; }

 private:
  const Signature& signature_;
  std::vector<Input> inputs_;
  std::vector<bool> is_set_;
  std::vector<const Input*> set_;
};

}  // namespace wasinn::remote
